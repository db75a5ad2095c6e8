"""The files of an experiment on recitation."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from textcritic.plan.sources import Compared, Drawn
from textcritic.plan.sources import RealText as Real
from textcritic.values import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class RealText(Real):
    """The test split of one corpus, looked up in the train split.

    Attributes:
        articles: its documents.
        scores: the Parquet table that `critics.recitation` writes.
    """

    articles: Path
    scores: Path


Documents: TypeAlias = RealText | Drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class RecitationFiles(Compared[RealText, Drawn]):
    """Real text of each corpus, and samples in the order of the tables.

    Attributes:
        cutting: how the critic cuts documents into words: `tokenizer`, `lower_case`, `straight_quotes`, `words`.
    """

    cutting: JsonObject = field(default_factory=dict)
