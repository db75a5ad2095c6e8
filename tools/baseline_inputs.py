"""What `baseline.py` gives to commands and functions: small files drawn with fixed seeds, and each command's words.

    python tools/baseline_inputs.py FOLDER OUT

calls the Python function of each command on the files in FOLDER, and writes what it gives into OUT. No module of
textcritic is named here but `textcritic` itself, so the same calls work on commits in which modules lie elsewhere.
"""

import ast
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, is_dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

# Each line: a name, a command and its words. Options are those of the Python functions too, see `keywords`.
CASES = """
chains  chains chains-real.jsonl chains-same.jsonl --resamples 500
chains-odd  chains chains-real.jsonl chains-odd.jsonl --smoothing 0.5 --seed 3 --resamples 500
chains-impossible  chains chains-real.jsonl chains-odd.jsonl --smoothing 0
chains-released  chains chains-real.jsonl chains-few.jsonl --as-released
chains-few  chains chains-real.jsonl chains-few.jsonl
chains-groups  chains chains-real-groups.jsonl chains-odd-groups.jsonl --resamples 500
coreference  coreference mentions-real.jsonl mentions-odd.jsonl --resamples 500
coreference-same  coreference mentions-real.jsonl mentions-same.jsonl --held-out 0.4 --order 3 --discount modified
coreference-none  coreference mentions-real.jsonl mentions-few.jsonl --no-gender --discount as_released --seed 2
coreference-groups  coreference mentions-real-groups.jsonl mentions-odd-groups.jsonl --held-out 0.4 --resamples 500
coreference-text  coreference stories.jsonl stories-odd.jsonl --resolver persons --resamples 500
topics  topics texts-real.jsonl texts-odd.jsonl --num-topics 3 --starts 3 --resamples 500
topics-one-start  topics texts-real.jsonl texts-few.jsonl --num-topics 4 --starts 1 --iterations 9 --stop-words english
topics-groups  topics texts-real-groups.jsonl texts-same-groups.jsonl --num-topics 3 --starts 2 --minimum-count 2
topics-counts  topics texts-real.dat texts-odd.dat --num-topics 3 --starts 2 --vocabulary vocabulary.txt
topics-fitted  topics texts-odd.dat --critic fitted --vocabulary vocabulary-fitted.txt
mixing  mixing texts-real.jsonl texts-odd.jsonl --iterations 300 --starts 2 --resamples 500
mixing-paired  mixing texts-same.jsonl texts-odd.jsonl --iterations 300 --starts 2 --paired --held-out 0.5 --lowercase
mixing-groups  mixing texts-real-groups.jsonl texts-same-groups.jsonl --iterations 200 --starts 1 --held-out 0.4
mixing-counts  mixing texts-real.dat texts-odd.dat --iterations 200 --starts 2 --resamples 500
recitation  recitation texts-real.jsonl texts-same.jsonl texts-parrot.jsonl --train texts-train.jsonl
recitation-groups  recitation texts-real-groups.jsonl texts-parrot.jsonl --train texts-train.jsonl --keep-case
tendencies  tendencies texts-real.jsonl texts-same.jsonl texts-odd.jsonl --resamples 500
tendencies-draws  tendencies texts-real.jsonl texts-few.jsonl --draws 3 --tokenizer whitespace --resamples 500
tendencies-groups  tendencies texts-real-groups.jsonl texts-odd-groups.jsonl --stop-words none --resamples 500
importance  importance weights.npy --tokens tokens.txt --as-released 5
importance-shards  importance shard-0.npy shard-1.npy --tokens 600 --seed 2 --resamples 500
importance-one  importance one-draw.npy --tokens tokens.txt
criticise-chains  criticise chains-real.jsonl chains-same.jsonl chains-odd.jsonl chains-few.jsonl --resamples 500
criticise-same  criticise chains-many.jsonl chains-more.jsonl chains-odd.jsonl --held-out 0.5 --resamples 500
criticise-test  criticise chains-many.jsonl chains-odd.jsonl chains-few.jsonl --test chains-clean.jsonl --smoothing 0
criticise-groups  criticise chains-real-groups.jsonl chains-same.jsonl chains-odd-groups.jsonl --held-out 0.4
criticise-released  criticise chains-real.jsonl chains-few.jsonl chains-odd.jsonl --as-released --seed 5
criticise-mentions  criticise mentions-many.jsonl mentions-more.jsonl mentions-odd.jsonl --held-out 0.5
criticise-few  criticise mentions-real-groups.jsonl mentions-few.jsonl mentions-odd-groups.jsonl --order 3 --held-out .4
criticise-texts  criticise texts-real.jsonl texts-same.jsonl texts-odd.jsonl --num-topics 3 --starts 3
criticise-gap  criticise texts-many.jsonl texts-more.jsonl texts-odd.jsonl --num-topics 3 --starts 2 --held-out 0.5
criticise-start  criticise texts-real-groups.jsonl texts-few.jsonl texts-odd-groups.jsonl --starts 1 --held-out 0.4
criticise-articles  criticise recipes.jsonl theirs.jsonl recipes-same.jsonl --cores 2
criticise-untitled  criticise untitled-real.jsonl untitled-same.jsonl untitled-odd.jsonl --cores 2
"""
ORDER = ("introduction", "background", "method", "data", "result", "discussion", "conclusion")
PEOPLE = {"MALE": "he", "FEMALE": "she", "PLURAL": "they"}
LANGUAGES = {name: [f"{name}{n}" for n in range(60)] for name in ("de", "es", "fr")}
COMMON = ("the", "of", ",", ".", "and", "to", "in")
# How documents of each set differ from real ones: a share of their steps, and how many there are.
SETS = {"real": (0.02, 150), "same": (0.02, 60), "odd": (0.6, 60), "few": (0.05, 12), "clean": (0.0, 60)}
SETS |= {"many": (0.02, 500), "more": (0.02, 500)}  # enough for the verdict "same"
Documents = list[dict[str, Any]]


def cases() -> Iterator[tuple[str, str, list[str]]]:
    """Name, command and its other words."""
    for line in CASES.strip().splitlines():
        name, command, *words = line.split()
        yield name, command, words


def keywords(words: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """The files of a command, and its options as the Python function takes them."""
    files, options, rest = [], {}, list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            files.append(word)
            continue
        name = word[2:].replace("-", "_")
        if name in ("no_gender", "keep_case"):
            options["gender" if name == "no_gender" else "lower_case"] = False
        elif name in ("as_released", "paired", "lowercase") and (not rest or rest[0].startswith("--")):
            options[name] = True
        else:
            options[name] = _value(rest.pop(0))
    return files, options


def write_inputs(folder: Path) -> None:
    """Write all files that the cases name, but for those of `tests/micro/recipes.py`, which lie there already."""
    makers: dict[str, Callable[[random.Random, float], dict[str, Any]]] = {
        "chains": _chain, "mentions": _mentions, "texts": _text, "untitled": _untitled,
    }  # fmt: skip
    made = {}
    for place, (kind, make) in enumerate(makers.items()):
        for number, (name, (spoilt, count)) in enumerate(SETS.items()):
            rng = random.Random(10 * place + number)
            made[f"{kind}-{name}"] = [make(rng, spoilt) for _ in range(count)]
    made["chains-few"] += [{"chain": ["introduction", "appendix"]}, {"chain": []}]
    made["mentions-few"] += [{"mentions": []}, {"mentions": [".", "."]}]
    made["texts-few"] += [{"text": "no known word"}, {"text": ""}]
    rng = random.Random(99)
    made["texts-train"] = [_text(rng, 0.02) for _ in range(100)]
    made["texts-parrot"] = [_parrot(rng, made["texts-train"]) for _ in range(40)]
    lines = {name: (folder / f"{name}.jsonl").read_text("utf-8").splitlines() for name in ("recipes", "stories")}
    made["recipes-same"] = [json.loads(line) for line in lines["recipes"][::4]]
    made["stories-odd"] = [json.loads(line.replace(" She ", " Ann ")) for line in lines["stories"][::2]]
    for name, documents in made.items():
        _write(folder / f"{name}.jsonl", documents)
        grouped = [{**document, "group": f"book {place // 2}"} for place, document in enumerate(documents)]
        _write(folder / f"{name}-groups.jsonl", grouped)
    _write_counts(folder, made["texts-real"], made["texts-odd"])
    _write_weights(folder)


def main(folder: Path, out: Path) -> None:
    """Call each function; of its result write the table, what is printed, and what only Python gives."""
    import textcritic

    for name, command, words in cases():
        files, options = keywords(words)
        paths = [folder / file for file in files]
        options |= {key: folder / options[key] for key in ("train", "test", "critic", "vocabulary") if key in options}
        if "tokens.txt" in words:
            options["tokens"] = folder / "tokens.txt"
        function = getattr(textcritic, "compare_tendencies" if command == "tendencies" else command)
        if command == "criticise":
            options["output"] = folder / name
        several = command in ("criticise", "recitation", "tendencies")
        given = [paths] if command == "importance" else [paths[0], paths[1:]] if several else paths
        result = function(*([None, *given] if "critic" in options else given), **options)
        result.table.to_csv(out / f"{name}.csv", index=False, lineterminator="\n")
        (out / f"{name}.txt").write_text(f"{result!r}\n", encoding="utf-8")
        if hasattr(result, "scores"):
            (out / f"{name}.json").write_text(json.dumps(_beside(result), default=_plain, indent=1), encoding="utf-8")


def _beside(result: Any) -> dict[str, Any]:
    """What a result says beside its table."""
    sources, measures = (list(result.table[column].unique()) for column in ("source", "measure"))
    pairs = {f"{one} - {two}": result.compare(one, two) for one, two in combinations(sources, 2)}
    nearest = {measure: result.nearest(measure) for measure in measures}
    return {"nearest": nearest, "compare": pairs, "facts": result.facts, "warnings": result.warnings}


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def _value(word: str) -> Any:
    try:
        return ast.literal_eval(word)
    except (SyntaxError, ValueError):
        return word


def _chain(rng: random.Random, spoilt: float) -> dict[str, Any]:
    titles = [title for title in ORDER for _ in range(rng.choices((0, 1, 2), (2, 10, 1))[0])] or ["result"]
    if rng.random() < spoilt:
        rng.shuffle(titles)
    return {"chain": titles}


def _mentions(rng: random.Random, spoilt: float) -> dict[str, Any]:
    people = [(number, rng.choice(list(PEOPLE))) for number in range(4)]
    tokens, seen, last = [], set(), people[0]
    for _ in range(rng.randint(3, 9)):
        tokens.append(".")
        for _ in range(rng.randint(0, 3)):
            last = rng.choice(people) if rng.random() < max(0.2, spoilt) else last
            pronoun = last in seen and rng.random() < 0.7
            tokens.append(f"{PEOPLE[last[1]] if pronoun else last[1]}:{last[0]}")
            seen.add(last)
    return {"mentions": tokens}


def _words(rng: random.Random, spoilt: float) -> tuple[str, list[str]]:
    main = rng.choice(list(LANGUAGES))
    words = []
    for _ in range(round(rng.gauss(60, 12) * (1 + spoilt / 2))):
        language = rng.choice(list(LANGUAGES)) if rng.random() < spoilt else main
        own = LANGUAGES[language]
        words.append(rng.choice(COMMON) if rng.random() < 0.3 else own[int(60 * rng.random() ** 2.5)])
    return main, words


def _text(rng: random.Random, spoilt: float) -> dict[str, Any]:
    language, words = _words(rng, spoilt)
    return {"text": " ".join(words), "language": language}


def _untitled(rng: random.Random, spoilt: float) -> dict[str, Any]:
    words = [_words(rng, spoilt)[1] for _ in range(2)]
    return {"sections": [{"title": None, "text": " ".join(some)} for some in words]}


def _parrot(rng: random.Random, train: Documents) -> dict[str, Any]:
    text = _text(rng, 0.02)
    copied = " ".join(rng.choice(train)["text"].split()[:30])
    return text | {"text": f"{text['text']} {copied}" if rng.random() < 0.5 else text["text"]}


def _write(path: Path, documents: Documents) -> None:
    lines = ({"id": f"{path.stem}-{place}", **document} for place, document in enumerate(documents))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _write_counts(folder: Path, *sets: Documents) -> None:
    """Two sets in the format LDA-C, the words, and a topic model of one topic a language, as Blei's ctm-c writes it."""
    words = [*COMMON, *(word for own in LANGUAGES.values() for word in own)]
    places = {word: place for place, word in enumerate(words)}
    for name, documents in zip(("real", "odd"), sets, strict=True):
        counts = [Counter(places[word] for word in document["text"].split()) for document in documents]
        rows = (" ".join([str(len(row)), *(f"{place}:{n}" for place, n in sorted(row.items()))]) for row in counts)
        (folder / f"texts-{name}.dat").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    for name in ("vocabulary", "vocabulary-fitted"):
        (folder / f"{name}.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    import numpy as np

    weights = np.array([[1 + 50 * (word in COMMON or word in own) for word in words] for own in LANGUAGES.values()])
    (folder / "fitted").mkdir(exist_ok=True)
    logs = np.log(weights / weights.sum(axis=1, keepdims=True))
    numbers = {"mu": [0.2, -0.1], "cov": [1.5, -0.4, -0.4, 0.9], "log-beta": logs.ravel()}
    for name, value in numbers.items():
        np.savetxt(folder / f"fitted/final-{name}.dat", value, fmt="%.6f")


def _write_weights(folder: Path) -> None:
    import numpy as np

    rows = np.random.default_rng(1).normal(-60, 2, (30, 40))
    tokens = np.random.default_rng(2).integers(10, 30, 30)
    np.save(folder / "weights.npy", rows)
    np.save(folder / "one-draw.npy", rows[:, :1])
    for shard, half in enumerate(np.split(rows, 2, axis=1)):
        np.save(folder / f"shard-{shard}.npy", half)
    (folder / "tokens.txt").write_text("".join(f"{n}\n" for n in tokens), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
