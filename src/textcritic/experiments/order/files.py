"""The files of an experiment on the order of sentences."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from textcritic.plan.sources import Compared, Drawn
from textcritic.plan.sources import RealText as Real


@dataclass(frozen=True, slots=True, kw_only=True)
class RealText(Real):
    """The test split of one corpus, judged by a critic of the train split.

    Attributes:
        articles: its documents.
        scores: the Parquet table that `critics.order` writes.
    """

    articles: Path
    scores: Path


Documents: TypeAlias = RealText | Drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFiles(Compared[RealText, Drawn]):
    """Real text of each corpus, and samples in the order of the tables."""
