"""The files that the statistics of corpora are made of."""

from dataclasses import dataclass
from pathlib import Path

from textcritic.plan.bundle import Files


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus(Files):
    """A corpus by its name.

    Attributes:
        corpus: the name.
        statistics: statistics.json.
        overlap: overlap.json, what the validation and the test split share with the train split.
    """

    corpus: str
    statistics: Path
    overlap: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CorporaFiles(Files):
    """The corpora in the order of the tables."""

    data: tuple[Corpus, ...]
