"""The files of the statistics of corpora."""

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
        audit: audit.json, what the switches of the extraction do; None: the corpus is not made from a dump.
    """

    corpus: str
    statistics: Path
    overlap: Path
    audit: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CorporaFiles(Files):
    """The corpora in the order of the tables."""

    data: tuple[Corpus, ...]
