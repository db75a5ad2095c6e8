"""Files of a small process experiment in the formats of the workflow, by the functions that write them there."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from textcritic.corpora.synthetic.process import DELIMITER, Process
from textcritic.corpora.synthetic.process_corpus import write_process_corpus
from textcritic.critics.known_process import score_sequences
from textcritic.experiments.process.files import KnownData, ProcessFiles, Sequences
from textcritic.files import write_json
from textcritic.generators.perplexity import summarise
from textcritic.generators.shards import CUT, ENDED, Draw, write_shard
from textcritic.latents.lookup import parse_sequences
from textcritic.plan.entries.extraction import ProcessOptions

RECIPE = ProcessOptions(states=12, steps=9, subsequences=90, shortest=3, longest=6, letters=20)
STOPS = {"sequences": {"stop": "learnt", "articles": 300}, "sequences-given": {"stop": "given", "articles": 300}}
# Label, decoding, seed, how much of the transitions is mixed with chance, how many of a hundred texts are spoilt.
SAMPLES = (
    ("transformer-released", "transformer", "sequences", 1, 0.5, 12),
    ("hsmm-800-adam", "HSMM", "sequences", 1, 0.02, 3),
    ("hsmm-800-adam", "HSMM", "sequences-given", 1, 0.02, 0),
)


NOTHING = ("transformer-untrained", "untrained transformer", "sequences", 1, 0.5, 100)
"""A sample of which nothing could be read."""


def tiny(root: Path, *, documents: int = 120, empty: bool = False) -> ProcessFiles:
    """Every file of a complete experiment below `root`.

    Args:
        root: where the files go.
        documents: sequences of each source.
        empty: of one sample no sequence could be read.
    """
    samples = (*SAMPLES, NOTHING) if empty else SAMPLES
    return build_process(root, samples=samples, sequences=documents, resamples=20)


def build_process(
    root: Path,
    *,
    samples: tuple[tuple[str, str, str, int, float, int], ...] = SAMPLES,
    corpus: str = "process",
    recipe: ProcessOptions = RECIPE,
    sequences: int = 300,
    resamples: int = 200,
) -> ProcessFiles:
    """Write every file that the tables, figures and section read below `root`."""
    folder = root / corpus
    paths = {name: folder / f"{name}.parquet" for name in ("train", "validation", "test")}
    paths |= {"process": folder / "process.npz", "statistics": folder / "statistics.json"}
    write_process_corpus(recipe.changed(train=2 * sequences, validation=10, test=sequences), paths)
    process = Process.load(paths["process"])
    score_sequences(paths["process"], paths["test"], folder / "scores.parquet")
    data = KnownData(
        corpus=corpus,
        process=paths["process"],
        statistics=paths["statistics"],
        scores=folder / "scores.parquet",
        articles=paths["test"],
    )
    sources = [_sample(folder, process, number, sequences, *row) for number, row in enumerate(samples, start=2)]
    return ProcessFiles(data=(data,), samples=tuple(sources), decodings=STOPS, resamples=resamples)


def _sample(
    folder: Path,
    process: Process,
    number: int,
    count: int,
    generator: str,
    label: str,
    decoding: str,
    seed: int,
    chance: float,
    spoilt: int,
) -> Sequences:
    place = folder / generator / decoding / f"seed{seed}"
    texts = _texts(process, count, chance, number)
    draws = [_draw(index, text, spoilt, process) for index, text in enumerate(texts)]
    write_shard(place / "shard0.parquet", draws)
    names = ("articles.parquet", "articles.rejected.parquet", "articles.json")
    kept, rejected, counts = (place / name for name in names)
    parse_sequences([place / "shard0.parquet"], folder / "process.npz", 400, generator, kept, rejected, counts)
    score_sequences(folder / "process.npz", kept, place / "scores.parquet", rejected)
    write_json(place / "perplexity.json", _perplexity(process, count, chance))
    curve = [
        {"step": s, "train_loss": 1 + 2 * 0.99**s, "validation_loss": 1.1 + 2 * 0.99**s} for s in range(0, 400, 50)
    ]
    write_json(place / "training.json", {"curve": curve})
    return Sequences(
        corpus=folder.name,
        setting="wo-title",
        generator=generator,
        decoding=decoding,
        seed=seed,
        label=label,
        from_file=False,
        articles=kept,
        counts=counts,
        scores=place / "scores.parquet",
        rejected=rejected,
        perplexity=place / "perplexity.json",
        training=place / "training.json",
    )


def _texts(process: Process, count: int, chance: float, seed: int) -> list[str]:
    """Sequences of the process with other transitions: these, mixed with chance."""
    mixed = (1 - chance) * process.transition + chance / len(process.transition)
    _, emitted = replace(process, transition=mixed).sample(count, seed)
    return ["".join(process.subsequences[piece] + DELIMITER for piece in row) for row in emitted]


def _draw(index: int, text: str, spoilt: int, process: Process) -> Draw:
    """A draw; of a hundred, the first `spoilt` have a fault, each in turn another."""
    faults = (
        text[: text.index(DELIMITER) + 1],
        text + text[: text.index(DELIMITER) + 1],
        "zz" + text,
        text.rstrip(DELIMITER),
    )
    place = index % 100
    if place < spoilt:
        cut = place % 6 == 5
        return Draw(index, text if cut else faults[place % len(faults)], len(text), CUT if cut else ENDED)
    return Draw(index, text, len(text) + 1, ENDED)


def _perplexity(process: Process, count: int, chance: float) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    length = int(process.steps * process.lengths.mean())
    nll = rng.gamma(2, np.log(process.word_ppl()) * (1 + 0.4 * chance) / 2, (count, length + 1))
    kinds = np.tile(np.append(np.full(length, 2), 0), count)
    return summarise(nll.ravel(), kinds, np.repeat(np.arange(count), length + 1), "whole sequences")
