"""Files of a small corpora experiment in the formats of the workflow."""

from pathlib import Path

from experiments.coherence.tiny import build_coherence
from textcritic.corpora import read_articles, write_articles
from textcritic.critics.recitation import measure_overlap
from textcritic.experiments.corpora.files import CorporaFiles, Corpus
from textcritic.files import read_json, write_json


def tiny(root: Path, *, documents: int = 30, empty: bool = False) -> CorporaFiles:
    """Statistics of two corpora below `root`.

    Args:
        root: where the files go.
        documents: articles of the validation and the test split each.
        empty: nothing was left out of the first corpus.
    """
    names = ("docstrings", "recipes")
    for name in names:
        build_coherence(root, documents=documents, generators=(), corpus=name)
    files = CorporaFiles(data=tuple(corpus_of(root, name) for name in names))
    if empty:
        statistics = files.data[0].statistics
        write_json(statistics, {**read_json(statistics), "rejected": {}})
    return files


def corpus_of(root: Path, name: str) -> Corpus:
    """A corpus with statistics.json and some articles already there; its splits share some of them."""
    folder = root / name
    articles = read_articles(folder / "train.parquet")
    third = len(articles) // 3
    write_articles(folder / "validation.parquet", articles)
    write_articles(folder / "train.parquet", articles[: 2 * third])
    splits = {"validation": folder / "validation.parquet", "test": folder / "test.parquet"}
    write_articles(splits["test"], articles[third:])
    measure_overlap(folder / "train.parquet", splits, folder / "overlap.json")
    return Corpus(corpus=name, statistics=folder / "statistics.json", overlap=folder / "overlap.json")
