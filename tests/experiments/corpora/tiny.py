"""Files of a small corpora experiment in the formats of the workflow."""

from pathlib import Path

from experiments.coherence.tiny import build_coherence
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
    files = CorporaFiles(data=tuple(Corpus(corpus=name, statistics=root / name / "statistics.json") for name in names))
    if empty:
        statistics = files.data[0].statistics
        write_json(statistics, {**read_json(statistics), "rejected": {}})
    return files
