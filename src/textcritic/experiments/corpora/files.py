"""The files that the statistics of corpora are made of."""

from dataclasses import dataclass
from pathlib import Path

from textcritic.plan.bundle import Files


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus(Files):
    """A corpus by its name, with its statistics.json."""

    corpus: str
    statistics: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CorporaFiles(Files):
    """The corpora in the order of the tables."""

    data: tuple[Corpus, ...]
