"""Files of a small experiment on intruder sentences, by the functions that write them in the workflow."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from textcritic.corpora.intruders.documents import Document, write_documents
from textcritic.critics.detectors.predictions import Prediction, write_predictions
from textcritic.experiments.intruders.files import (
    Coherent,
    Corpus,
    Edited,
    Generated,
    IntruderFiles,
    Judge,
    Judged,
    Voted,
)
from textcritic.files import read_table, write_json, write_table

# Words that HTML and LaTeX would take for their own are among them.
NASTY = (r"\alpha_1", "<b>bold</b>", "50%", "&amp;", "{{x}}", "$y$", "#1", "~z^2")
WORDS = (*NASTY, *(f"word{n}" for n in range(300)))
# Detector: label, and how much higher it scores an intruder.
DETECTORS = {"sharp": ("a <sharp> detector", 2.5), "blunt": ("a blunt detector", 0.6), "silent": ("a silent one", 0.0)}
GENERATORS = {"drifter": ("a drifter", 1.2), "writer": ("a writer", 0.0)}
PROBES = ("gender", "negation", "home-made")
REJECTED = 3


def tiny(root: Path, *, documents: int = 60, empty: bool = False) -> IntruderFiles:
    """Every file of a complete experiment below `root`.

    Args:
        root: where the files go.
        documents: of each test split and each sample; real text has 60.
        empty: one sample has no document.
    """
    return build_intruders(root, documents=documents, empty=empty)


def build_intruders(
    root: Path,
    *,
    corpora: Sequence[str] = ("one", "two"),
    seeds: Sequence[int] = (1,),
    documents: int = 60,
    groups: int = 0,
    empty: bool = False,
) -> IntruderFiles:
    """Write every file that the tables, figures and section read below `root`.

    Args:
        root: where the files go.
        corpora: their names; votes are on the documents of the first.
        seeds: of each detector.
        documents: of each test split and each sample.
        groups: documents of one group; 0 for none.
        empty: one sample has no document.
    """
    rng = np.random.default_rng(11)
    held, judged, every = [], [], {}
    for name in corpora:
        folder = root / name
        folder.mkdir(parents=True)
        every[name] = made_up(rng, name, documents, groups=groups)
        write_documents(folder / "test.parquet", every[name], "made up")
        write_json(folder / "statistics.json", statistics(documents))
        edited = write_probes(folder / "probes.parquet", rng, every[name])
        held.append(
            Corpus(
                corpus=name,
                test=folder / "test.parquet",
                statistics=folder / "statistics.json",
                probes=folder / "probes.parquet",
            )
        )
        for detector, (label, shift) in DETECTORS.items():
            for trained in [name, *(other for other in corpora if other != name)]:
                for seed in seeds:
                    place = root / detector / trained / f"seed{seed}" / name
                    place.mkdir(parents=True)
                    strength = shift if trained == name else shift / 2
                    for split, some in (("test", every[name]), ("probes", edited)):
                        write_predictions(place / f"{split}.parquet", predicted(rng, some, strength, detector))
                    judged.append(
                        Judged(
                            corpus=name,
                            trained=trained,
                            detector=detector,
                            seed=seed,
                            label=label,
                            predictions=place / "test.parquet",
                            probes=place / "probes.parquet",
                        )
                    )
    first = every[corpora[0]]
    write_votes(root / "votes.jsonl", rng, first)
    write_votes(root / "edited.jsonl", rng, [one for one in first if one.intruder is not None] or first)
    voted = Voted(
        corpus=corpora[0],
        joined=True,
        votes=root / "votes.jsonl",
        edited=(Edited(probe="gender", votes=root / "edited.jsonl"),),
    )
    return IntruderFiles(
        corpora=tuple(held),
        judged=tuple(judged),
        voted=(voted,),
        judges=tuple(Judge(detector=name, label=DETECTORS[name][0]) for name in ("sharp", "blunt")),
        data=(_real(root, rng),),
        samples=tuple(_sample(root, rng, name, documents, empty and name == "writer") for name in GENERATORS),
        resamples=200,
    )


def statistics(documents: int) -> dict:
    """What `corpora.intruders.build` says of a corpus."""
    mean = {"mean": 5.5, "sd": 1.7}
    split = {"articles": documents, "incoherent": 0.5, "hard": None, "sentences": mean, "tokens": mean}
    return {"splits": dict.fromkeys(("train", "validation", "test"), split), "all": split | {"articles": 3 * documents}}


def made_up(rng, name: str, number: int, attacked: float = 0.5, groups: int = 0) -> list[Document]:
    """Documents of 3 to 8 sentences; about this share has an intruder, the first one in any case."""
    made = []
    for place in range(number):
        sentences = [" ".join(rng.choice(WORDS, 6)) + f" {name}-{place}-{n}." for n in range(rng.integers(3, 9))]
        intruder = int(rng.integers(1, len(sentences))) if rng.random() < attacked or (attacked and not place) else None
        more = {}
        if intruder is not None:
            rank = None if place % 6 == 0 else 1 + place % 5
            more = {"origin": f"{name}-x", "rank": rank, "hard": bool(place % 2), "replaced": "What <i>stood</i> here."}
        group = f"group-{place // groups}" if groups else None
        made.append(Document(f"{name}-{place}", tuple(sentences), intruder, group=group, **more))
    return made


def predicted(rng, documents: Sequence[Document], shift: float, detector: str = "") -> list[Prediction]:
    """Scores that are higher for intruders; the silent detector's are no probabilities and flag nothing."""
    found = []
    for document in documents:
        scores = rng.normal(-2, 1, len(document.sentences) - 1)
        if document.intruder is not None:
            scores[document.intruder - 1] += shift
        likely = 1 / (1 + np.exp(-scores))
        silent = detector == "silent"
        flags = np.zeros(len(scores), bool) if silent else likely > 0.5
        found.append(Prediction(document.id, scores if silent else likely, flags, not silent))
    return found


def write_probes(path: Path, rng, documents: Sequence[Document]) -> list[Document]:
    """Edited documents: intruders, and of coherent ones a sentence of their own as a control."""
    edited, more = [], []
    for number, document in enumerate(documents):
        for probe in PROBES:
            own = document.intruder is None
            if own and number % 3:
                continue
            position = 1 if own else document.intruder
            before = document.sentences[position]
            after = f"{before.removesuffix('.')} not <u>so</u>."
            sentences = (*document.sentences[:position], after, *document.sentences[position + 1 :])
            said = {"intruder": document.intruder, "group": document.group, "replaced": document.replaced}
            edited.append(Document(f"{document.id}#{probe}", sentences, **said))
            row = {"document": document.id, "probe": probe, "where": "own" if own else "intruder"}
            more.append(row | {"position": position, "before": before, "after": after})
    write_documents(path, edited, "made up")
    table = read_table(path)
    for name in more[0]:
        kind = pa.int16() if name == "position" else pa.string()
        table = table.append_column(name, pa.array([row[name] for row in more], kind))
    write_table(path, table)
    return edited


def write_votes(path: Path, rng, documents: Sequence[Document]) -> None:
    """Five votes on each document, right in 60%."""
    lines = []
    for document in documents:
        gold = document.intruder or -1
        last = len(document.sentences)
        votes = [gold if rng.random() < 0.6 else int(rng.integers(1, last)) for _ in range(5)]
        lines.append(json.dumps({"file_id": document.id, "gold": str(gold), "annoated": [str(one) for one in votes]}))
    path.write_text("\n".join(lines) + "\n")


def _real(root: Path, rng) -> Coherent:
    documents = made_up(rng, "real", 60, attacked=0)
    folder = root / "real"
    folder.mkdir()
    write_documents(folder / "documents.parquet", documents, "made up")
    paths = tuple(folder / f"{judge}.parquet" for judge in ("sharp", "blunt"))
    for path in paths:
        write_predictions(path, predicted(rng, documents, 0))
    return Coherent(corpus="base", documents=folder / "documents.parquet", predictions=paths)


def _sample(root: Path, rng, generator: str, number: int, empty: bool) -> Generated:
    label, drift = GENERATORS[generator]
    documents = [] if empty else made_up(rng, generator, number, attacked=0)
    folder = root / generator
    folder.mkdir()
    write_documents(folder / "documents.parquet", documents, "made up")
    paths = tuple(folder / f"{judge}.parquet" for judge in ("sharp", "blunt"))
    for path in paths:
        said = predicted(rng, documents, 0)
        moved = [
            Prediction(one.id, np.minimum(one.scores * (1 + drift), 1), one.scores * (1 + drift) > 0.5) for one in said
        ]
        write_predictions(path, moved)
    write_json(folder / "perplexity.json", {part: {"ppl": 20.0, "ci95": [19.0, 21.0]} for part in ("all", "body")})
    write_json(folder / "cut.json", {"documents": len(documents), "left_out": {"too few sentences": 2}})
    write_json(folder / "counts.json", {"drawn": len(documents) + REJECTED, "kept": len(documents)})
    return Generated(
        corpus="base",
        setting="wo-title",
        generator=generator,
        decoding="demo",
        seed=1,
        label=label,
        from_file=False,
        articles=folder / "documents.parquet",
        counts=folder / "counts.json",
        scores=paths[0],
        documents=folder / "documents.parquet",
        cut=folder / "cut.json",
        predictions=paths,
        perplexity=folder / "perplexity.json",
    )
