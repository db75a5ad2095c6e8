"""Hostile inputs beside documents: weights, votes, answers, studies, registries, results, measures, words."""

import base64
import json
import pickle
import random
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from hostile_cases import (
    ANY,
    DOCUMENTS,
    QUICK,
    RAN,
    REFUSED,
    SAME,
    WORDS_OF_OPTIONS,
    Case,
    _Evil,
    changed,
    changed_bytes,
    document_case,
    lines_of,
    options_case,
    plain_files,
)

from textcritic.place import workflow_folder

# Log weights.

WEIGHTS = np.random.default_rng(1).normal(-50, 1, (12, 30))
TOKENS = np.arange(20, 32)
HUGE = np.full((12, 30), 1e13)
TRIED = ["importance", "weights.npy", "--tokens", "tokens.npy", "--json", "--repeats", "5", *QUICK]
ARRAYS: dict[str, tuple[Any, str]] = {
    "as they are": (WEIGHTS, SAME),
    "big endian": (WEIGHTS.astype(">f8"), SAME),
    "by columns": (np.asfortranarray(WEIGHTS), SAME),
    "long double": (WEIGHTS.astype(np.longdouble), SAME),
    "single precision": (WEIGHTS.astype(np.float32), ANY),
    "half precision": (WEIGHTS.astype(np.float16), ANY),
    "half precision, infinite": (-np.full((12, 30), np.inf, np.float16), REFUSED),
    "whole numbers": (WEIGHTS.astype(np.int64), ANY),
    "whole numbers of 8 bits": (WEIGHTS.astype(np.int8), ANY),
    "whole numbers without sign": (np.abs(WEIGHTS).astype(np.uint8), REFUSED),
    "positive": (np.abs(WEIGHTS), REFUSED),
    "probabilities": (np.exp(WEIGHTS), REFUSED),
    "truth values": (WEIGHTS > -50, REFUSED),
    "complex": (WEIGHTS.astype(complex), REFUSED),
    "texts": (WEIGHTS.astype("U"), REFUSED),
    "bytes": (WEIGHTS.astype("S"), REFUSED),
    "dates": (WEIGHTS.astype("M8[s]"), REFUSED),
    "spans": (WEIGHTS.astype("m8[s]"), REFUSED),
    "objects": (WEIGHTS.astype(object), REFUSED),
    "code": (np.array([_Evil()]), REFUSED),
    "records": (np.zeros((12, 30), [("a", "f8")]), REFUSED),
    "one number": (np.array(-3.0), REFUSED),
    "one axis": (WEIGHTS[0], REFUSED),
    "three axes": (WEIGHTS[None], REFUSED),
    "no rows": (WEIGHTS[:0], REFUSED),
    "no columns": (WEIGHTS[:, :0], REFUSED),
    "turned": (WEIGHTS.T, REFUSED),
    "a row too many": (np.vstack([WEIGHTS, WEIGHTS[:1]]), REFUSED),
    "NaN": (np.where(WEIGHTS > -48, np.nan, WEIGHTS), REFUSED),
    "+inf": (np.where(WEIGHTS > -48, np.inf, WEIGHTS), REFUSED),
    "-inf": (np.where(WEIGHTS > -50, -np.inf, WEIGHTS), ANY),
    "a row of -inf": (np.where(np.arange(12)[:, None] == 3, -np.inf, WEIGHTS), REFUSED),
    "all -inf": (np.full((12, 30), -np.inf), REFUSED),
    "huge": (HUGE, REFUSED),
    "huge and negative": (-HUGE, REFUSED),
    "tiny": (WEIGHTS * 1e-320, ANY),
    "zeros": (WEIGHTS * 0, ANY),
    "equal": (WEIGHTS * 0 - 50, ANY),
    "one draw": (WEIGHTS[:, :1], ANY),
}
COUNTS: dict[str, tuple[Any, str]] = {
    "truth values as tokens": (TOKENS > 0, REFUSED),
    "tokens with NaN": (TOKENS + np.nan, REFUSED),
    "no tokens": (TOKENS * 0, REFUSED),
    "negative tokens": (-TOKENS, REFUSED),
    "parts of tokens": (TOKENS + 0.5, REFUSED),
    "whole tokens as floats": (TOKENS.astype(float), SAME),
    "tokens as texts": (TOKENS.astype("U"), REFUSED),
    "tokens as a column": (TOKENS[:, None], REFUSED),
    "too few tokens": (TOKENS[:3], REFUSED),
    "more tokens than there are": (TOKENS * 1e16, REFUSED),
    "complex tokens": (TOKENS + 1j, REFUSED),
    "tokens without sign": (TOKENS.astype(np.uint8), SAME),
    "one number of tokens": (np.array(300), REFUSED),
}
LISTS: list[tuple[Any, str]] = [
    (TOKENS.tolist(), SAME),
    (TOKENS.astype(float).tolist(), SAME),
    *((value, REFUSED) for value in ({}, [], None, True, 300, "300", [[20] * 12], ["20"] * 12, [20] * 11 + [None])),
    *((value, REFUSED) for value in ([True] * 12, [20] * 11 + [True], [10**400] * 12, [1e300] * 12, [{}] * 12)),
]
LINES: list[tuple[bytes, str]] = [
    ("\n".join(map(str, TOKENS)).encode(), SAME),
    (b"\xef\xbb\xbf" + "\r\n".join(map(str, TOKENS)).encode(), SAME),
    (b"tokens\n" + "\n".join(map(str, TOKENS)).encode(), SAME),
    (b"id,tokens\n" + "".join(f"{n},{t}\n" for n, t in enumerate(TOKENS)).encode(), REFUSED),
    (b"20,\n" * 12, REFUSED),
    (b"nan\n" * 12, REFUSED),
    (b"inf\n" * 12, REFUSED),
    (b"1_0\n" * 12, REFUSED),
    (b"1e400\n" * 12, REFUSED),
    (b"\xff\n", REFUSED),
    (b"20\0\n" * 12, REFUSED),
    (b"", REFUSED),
]


def importance_case(draw: random.Random) -> Case:
    """Log weights, exact ones, tokens, and options."""
    way = draw.random()
    if way < 0.4:
        name, (array, right) = draw.choice([*ARRAYS.items()])
        return Case(name, TRIED, partial(_weights, array), right)
    if way < 0.6:
        name, (array, right) = draw.choice([*COUNTS.items()])
        return Case(name, TRIED, partial(_weights, WEIGHTS, array), right)
    if way < 0.75:
        ending = draw.choice(["json", "txt"])
        content, right = draw.choice(LISTS if ending == "json" else LINES)
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        words = [word.replace("tokens.npy", f"tokens.{ending}") for word in TRIED]
        return Case(f"tokens.{ending}: {data[:20]!r}", words, lambda: _weights(WEIGHTS, more={words[3]: data}), right)
    if way < 0.9:
        return _archive_case(draw)
    if way < 0.95:
        name, (array, _) = draw.choice([*ARRAYS.items()])
        return Case(
            f"reverse: {name}",
            [*TRIED, "--reverse", "reverse.npy"],
            lambda: (_weights(WEIGHTS), np.save("reverse.npy", array)),  # type: ignore[arg-type]
        )
    return options_case(draw, TRIED, lambda: _weights(WEIGHTS))


def _weights(array: Any, tokens: Any = TOKENS, more: dict[str, bytes] | None = None) -> None:
    np.save("weights.npy", array, allow_pickle=True)
    np.save("tokens.npy", tokens, allow_pickle=True)
    for name, data in (more or {}).items():
        Path(name).write_bytes(data)


def _archive_case(draw: random.Random) -> Case:
    """An .npz file with one array replaced, one array missing, or damaged bytes."""
    seed = draw.random()

    def make() -> None:
        own = random.Random(seed)
        parts: dict[str, Any] = {"ids": np.array([str(n) for n in range(12)]), "log_weights": WEIGHTS, "tokens": TOKENS}
        parts |= {"log_p": WEIGHTS - 3, "log_q": np.full_like(WEIGHTS, -3)} if own.random() < 0.5 else {}
        key = own.choice([*parts])
        if own.random() < 0.2:
            del parts[key]
        else:
            parts[key] = own.choice([*ARRAYS.values(), *COUNTS.values()])[0]
        np.savez("weights.npz", **parts)
        if own.random() < 0.3:
            path = Path("weights.npz")
            path.write_bytes(changed_bytes(own, path.read_bytes()))

    return Case("an archive", ["importance", "weights.npz", "--json", "--repeats", "5", *QUICK], make)


# Votes and answers of people, read by what reads them: no command does it alone.

VOTES = [{"file_id": n, "gold": n % 4 - 1, "annoated": [n % 4 - 1] * 5} for n in range(6)]
SOURCE = {"corpus": "c", "setting": "w-title", "generator": "g", "decoding": "d", "seed": 1, "draw": 1}
HEADER = {"textcritic_annotations": 1, "campaign": "c", "task": "sections", "titles": ["a", "b"], "question": "q"}
ANSWERS = [
    {"campaign": "c", "task": "sections", "annotator": "x", "item": str(n), "document": str(n), "source": SOURCE}
    | {
        "sha256": "0" * 64,
        "order": n + 1,
        "phase": "task",
        "pilot": False,
        "answer": {"titles": ["a"], "coherent": True},
    }
    | {"started": "2026-11-23T10:00:00+00:00", "answered": "2026-11-23T10:01:00+00:00", "consent_version": "1"}
    for n in range(3)
]
CONLL = b"#begin document (x)\n1\tMary\t(1\n2\tLee\t1)\n\n1\tShe\t(1)\n#end document\n"
CONLLU = b"# newdoc id = a\n# global.Entity = eid-etype\n1\tw\t_\tX\t_\t_\t0\t_\t_\tEntity=(e1-p)\n\n"


def reader_case(draw: random.Random, kind: str) -> Case:
    """A file of people's votes or answers, or of mentions, with one change."""
    seed = draw.random()

    def make() -> None:
        own = random.Random(seed)
        values: Any = {"votes": VOTES, "answers": [HEADER, *ANSWERS]}.get(kind, [])
        if values:
            for _ in range(own.choice([1, 1, 3])):
                values = changed(own, values)
            data = lines_of(values if isinstance(values, list) else [values])
        else:
            data = CONLLU if kind == "conllu" else CONLL
        Path(f"hostile.{kind}").write_bytes(data if values and own.random() < 0.7 else changed_bytes(own, data))

    return Case("one change", [f"({kind if kind in ('votes', 'answers') else 'mentions'})", f"hostile.{kind}"], make)


# The configuration.


@cache
def _yaml(folder: str) -> dict[str, Any]:
    return {path.stem: yaml.safe_load(path.read_text()) for path in sorted((workflow_folder() / folder).glob("*.yaml"))}


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{one}: &{one} [{', '.join(['*' + before] * 10)}]\n" for before, one in zip("abcdefgh", "bcdefghi", strict=True)
)
YAMLS = [
    f"studies: !!python/object/apply:os.system ['touch {RAN}']\n",
    f"studies: !!python/object/new:os.system ['touch {RAN}']\n",
    "studies: !!python/name:os.system\n",
    "studies: !!binary aGFsbG8=\n",
    "studies: !x y\n",
    BOMB + "studies: *i\n",
    "studies: &a [*a]\n",
    "studies: &a {b: *a}\n",
    "stage_versions: &a {extract: *a}\n",
    "studies: [a]\nstudies: [b]\n",
    "? [1, 2]\n: 3\n",
    "? {a: b}\n: 3\n",
    "? &a [*a]\n: 3\n",
    "1: 2\n",
    "null: 3\n",
    "studies: [1]\n",
    "studies: [2026-11-23]\n",
    "studies: [.nan]\n",
    "studies: ['../../etc/passwd']\n",
    "studies: ['a\\nb']\n",
    "studies: ['\\0']\n",
    f"studies: ['{'x' * 300}']\n",
    "resamples: .inf\n",
    "resamples: 1e400\n",
    f"resamples: {'9' * 5000}\n",
    f"seeds: [{'9' * 5000}]\n",
    "seeds: [0x_]\n",
    "resamples: 2026-99-99\n",
    "resamples: 190:20:30\n",
    "<<: 3\n",
    "<<: [{a: 1}, 3]\n",
    "study_folders: ['\\0']\n",
    "registry_folders: [/dev/null]\n",
    "registry_folders: [loop]\n",
    "experiment_packages: [os]\n",
    "experiment_packages: ['no.such']\n",
    "experiment_packages: ['..']\n",
    "experiment_packages: ['a\\nb']\n",
    "experiment_packages: [broken]\n",
    "[" * 5000,
    "- " * 3000,
    "{a: " * 3000,
    "\ud835".encode("utf-8", "surrogatepass").decode("latin1"),
    "\0",
    "a: b: c",
    "\t",
    "",
    "---\na: 1\n---\nb: 2\n",
    "%YAML 9.9\n---\na: 1\n",
    "text\n",
    "- a\n",
    "3\n",
    "null\n",
]


def configuration_case(draw: random.Random) -> Case:
    """A configuration, a study or a registry; the corpus asked for is unknown, so that nothing is ever built."""
    way, seed = draw.random(), draw.random()
    content = draw.choice(YAMLS)

    def make() -> None:
        own = random.Random(seed)
        Path("loop").symlink_to("loop")
        Path("broken.py").write_text("1/0\n")
        if way < 0.35:
            Path("config.yaml").write_bytes(
                content.encode("latin1") if content.isascii() or len(content) < 9 else content.encode()
            )
            return
        folder = "studies" if way < 0.7 else "registry"
        name, value = own.choice([*_yaml(f"config/{folder}").items()])
        for _ in range(own.choice([1, 1, 2])):
            value = changed(own, value)
        Path(folder).mkdir()
        text = yaml.safe_dump(_whole(value), sort_keys=False)
        text = changed_bytes(own, text.encode()).decode("latin1") if own.random() < 0.15 else text
        text = content if own.random() < 0.1 else text
        Path(folder, f"{name}.yaml").write_text(text, encoding="utf-8", errors="surrogatepass")
        said = {"studies": [name], "study_folders": ["studies"]}
        said = (
            {"registry_folders": ["registry", str(workflow_folder() / "config/registry")]}
            if folder != "studies"
            else said
        )
        Path("config.yaml").write_text(yaml.safe_dump(said))

    command = draw.choice([["corpus", "no-such"], ["annotate", "make", "no-such"]])
    return Case(
        f"YAML {content[:20]!a}" if way < 0.35 else "one change",
        [*command, "--configfile", "config.yaml"],
        make,
        REFUSED,
    )


def _whole(value: Any) -> Any:
    """The same without half characters, which YAML cannot be written with."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_whole(key): _whole(part) for key, part in value.items()}
    return [_whole(part) for part in value] if isinstance(value, list) else value


# Results, measures of one's own, and words of the command line.


def show_case(draw: random.Random, built: Path) -> Case:
    """A study that was built, of whose files one is changed."""
    seed = draw.random()

    def make() -> None:
        import shutil

        own = random.Random(seed)
        shutil.copytree(built, "out")
        files = sorted(path for path in Path("out").rglob("*") if path.is_file() and path.suffix in (".json", ".csv"))
        path = own.choice(files)
        data = path.read_bytes()
        if path.suffix == ".json" and own.random() < 0.7:
            value = changed(own, json.loads(data))
            path.write_text(json.dumps(value))
        elif own.random() < 0.1:
            path.unlink()
            path.mkdir()
        else:
            path.write_bytes(changed_bytes(own, data))

    return Case("one change", ["show", "out"], make)


BODIES: dict[str, str] = {
    "a text": "return 'x'",
    "nothing": "return None",
    "NaN": "return float('nan')",
    "infinity": "return float('inf')",
    "10 to the 400": "return 10 ** 400",
    "a list": "return [1]",
    "a truth value": "return True",
    "a complex number": "return 1j",
    "an array": "import numpy; return numpy.array([1.0])",
    "an error": "raise ValueError('a\\nb')",
    "an error without words": "raise AssertionError",
    "an error of the system": "raise OSError(5, 'x')",
    "an exit": "raise SystemExit(0)",
    "a stopped iteration": "raise StopIteration",
    "endless recursion": "return f(document)",
    "no memory": "raise MemoryError",
    "a changed document": "document.text = ''; return 1.0",
    "an error that cannot be shown": "raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})()",
    "a negative number": "return -1.0",
    "a generator": "yield 1",
}
MODULES: dict[str, str] = {
    "syntax": "def f(:",
    "an error on import": "1 / 0",
    "an exit on import": "raise SystemExit(3)",
    "no function": "g = 3",
    "not callable": "f = 3",
    "a class": "class f:\n    pass",
    "no argument": "def f(): return 1.0",
    "two arguments": "def f(a, b): return 1.0",
    "NUL": "\0",
    "invalid": "é".encode("latin1").decode("latin1"),
}


def own_case(draw: random.Random) -> Case:
    """A measure of one's own, or a function that finds words."""
    flag = draw.choice(["--metric", "--metric", "--words"])
    name, body = draw.choice([*BODIES.items()])
    source = f"def f(document):\n    {body}\n"
    if draw.random() < 0.25:
        name, source = draw.choice([*MODULES.items()])

    def make() -> None:
        plain_files("criticise")
        Path("own_measure.py").write_text(source, encoding="latin1")

    given = draw.choice(["own_measure.py:f", "own_measure:f"]) if flag == "--metric" else "own_measure:f"
    words = ["criticise", "real.jsonl", "model.jsonl", "--output", "out", "--measures", "form", *QUICK, flag, given]
    return Case(f"{flag} {name}", words, make)


DATABASE = base64.b64decode("U1FMaXRlIGZvcm1hdCAzAA==") + b"\0" * 200


def campaign_case(draw: random.Random) -> Case:
    """Words of `annotate` in a folder with a damaged database, or without one."""
    content = draw.choice([None, b"", DATABASE, b"x" * 4096, pickle.dumps(_Evil())])
    hostile = draw.choice(WORDS_OF_OPTIONS)
    name = draw.choice(["c", "c", "c", hostile, "a/b", "../c", "-c"])
    what = draw.choice(["invite", "revoke", "export", "backup", "serve"])
    words = ["annotate", what, name, *(["x"] if what == "revoke" else [])]
    flags = {"invite": ["--number", "--days", "--address"], "export": ["--out"], "serve": ["--port", "--limit"]}
    if what in flags and draw.random() < 0.7 and (what != "export" or hostile not in ("/", ".", "../..")):
        words += [draw.choice(flags[what]), hostile]

    def make() -> None:
        folder = Path("results/annotations/c")
        folder.mkdir(parents=True)
        if content is not None:
            (folder / "campaign.sqlite").write_bytes(content)

    return Case(f"{what} {name:.9}", words, make)


def words_case(draw: random.Random) -> Case:
    """Commands that take a name or a folder, and numbers of `plan-annotation`."""
    hostile = draw.choice(WORDS_OF_OPTIONS)
    if draw.random() < 0.6:
        words = ["plan-annotation", *(["--against", "0.9"] if draw.random() < 0.5 else [])]
        return options_case(draw, words, lambda: None)
    command = draw.choice(["install", "demo", "corpus", "show", "workflow", "no-such", ""])
    if command == "workflow" and hostile in ("/", ".", "../.."):
        command = "show"

    def make() -> None:
        Path("results").write_text("x") if draw.random() < 0.5 else Path("results").mkdir(mode=0o500)

    return Case(f"{command} {hostile:.20}", [command, hostile], make, nobody=True)


def families(built: Path) -> dict[str, tuple[float, Callable[[random.Random], Case]]]:
    """By name, the share of all cases that a family has, and what draws one.

    Args:
        built: a folder that `criticise --output` filled, for `show`.
    """
    documents = {name: (0.05, partial(_of, document_case, name)) for name in DOCUMENTS}
    readers = {kind: (0.03, partial(_of, reader_case, kind)) for kind in ("votes", "answers", "conll", "conllu")}
    return {
        **documents,
        "importance": (0.14, importance_case),
        **readers,
        "configuration": (0.11, configuration_case),
        "show": (0.05, lambda draw: show_case(draw, built)),
        "own-measures": (0.04, own_case),
        "annotate": (0.02, campaign_case),
        "words": (0.02, words_case),
    }


def _of(make: Callable[[random.Random, str], Case], name: str, draw: random.Random) -> Case:
    return make(draw, name)
