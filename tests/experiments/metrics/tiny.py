"""Files of a small experiment with measures of one's own, by the functions that write them in the workflow."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from textcritic.corpora import Article, Section, write_articles
from textcritic.critics.own import score_own
from textcritic.experiments.metrics.files import Measured, MetricsFiles, RealText
from textcritic.files import write_json, write_table
from textcritic.measures.own import load_metric

FOLDER = Path(__file__).parents[2] / "micro"
METRICS = tuple(f"own_measures:{name}" for name in ("distinct_2", "section_words", "word_length", "sections"))
# Words that HTML and LaTeX would take for their own are among them.
NASTY = (r"\alpha_1", "<b>bold</b>", "50%", "&amp;", "{{x}}", "$y$", "#1", "~z^2")
WORDS = (*NASTY, *(f"word{n}" for n in range(60)))
# Generator: label, and how many words it knows.
GENERATORS: Mapping[str, tuple[str, int]] = {"rich": ("a rich model", 68), "poor": ("a poor model", 12)}
BRIEF = "brief"  # a generator of which no document can be measured by the first measure
UNREAD = 3


def tiny(root: Path, *, documents: int = 30, empty: bool = False, metrics: Sequence[str] = METRICS) -> MetricsFiles:
    """Every file of a complete experiment below `root`.

    Args:
        root: where the files go.
        documents: of each sample; real text has 30.
        empty: of one sample no document is long enough.
        metrics: names of measures.
    """
    rng = np.random.default_rng(7)
    loaded = [load_metric(name, [FOLDER]) for name in metrics]
    write_articles(root / "test.parquet", articles(rng, "test", 30, 60))
    real = tuple(root / f"real.{metric.function.__name__}.parquet" for metric in loaded)
    for metric, path in zip(loaded, real, strict=True):
        score_own(metric, root / "test.parquet", path)
    data = RealText(corpus="docstrings", articles=root / "test.parquet", scores=real[0], measured=real)
    samples = []
    for name in (*GENERATORS, *[BRIEF] * empty):
        label, known = GENERATORS.get(name, ("a brief model", 0))
        place = root / name
        place.mkdir()
        drawn = articles(rng, name, documents, known)
        write_articles(place / "articles.parquet", drawn)
        rejected = [{"id": f"{name}-x{n}", "text": "?", "why": "malformed"} for n in range(UNREAD)]
        write_table(place / "rejected.parquet", pa.Table.from_pylist(rejected))
        write_json(place / "counts.json", {"drawn": documents + UNREAD, "kept": documents})
        measured = tuple(place / f"{metric.function.__name__}.parquet" for metric in loaded)
        for metric, path in zip(loaded, measured, strict=True):
            score_own(metric, place / "articles.parquet", path, place / "rejected.parquet")
        keys = {"corpus": "docstrings", "setting": "wo-title", "generator": name, "decoding": "demo", "seed": 1}
        files = {"articles": place / "articles.parquet", "counts": place / "counts.json", "scores": measured[0]}
        samples.append(Measured(**keys, **files, label=label, from_file=False, measured=measured))
    return MetricsFiles(data=(data,), samples=tuple(samples), resamples=200, metrics=tuple(metrics))


def articles(rng: np.random.Generator, name: str, documents: int, known: int) -> list[Article]:
    """Documents of one to four sections; with no known words, of two words."""
    made = []
    for number in range(documents):
        lengths = rng.integers(5, 30, rng.integers(1, 5)) if known else [2]
        texts = [" ".join(rng.choice(WORDS[: known or 8], length)) for length in lengths]
        sections = tuple(Section(f"section {n}", text) for n, text in enumerate(texts))
        made.append(Article(f"{name}-{number}", None, sections, "made up", None))
    return made
