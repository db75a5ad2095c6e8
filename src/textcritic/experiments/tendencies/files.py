"""The files of an experiment on statistical tendencies."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from textcritic.plan.bundle import Files
from textcritic.plan.sources import Compared, Drawn
from textcritic.plan.sources import RealText as Real
from textcritic.values import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class RealText(Real):
    """The test split of one corpus.

    Attributes:
        scores: its statistics, JSON, as `critics.tendencies.measure` makes them.
        curves: the curves that figures draw, a Parquet table.
        articles: Parquet file of its documents, for a table that shows some; else None.
    """

    scores: Path
    curves: Path
    articles: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Drawn):
    """A sample; `scores` and `curves` as of real text.

    Attributes:
        vocabulary: entries of its generator's vocabulary of whole words; None if it can write any word, or if the study
            does not say how many there are.
    """

    curves: Path
    vocabulary: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Model(Files):
    """A generator that was trained on a corpus, with the records `perplexity` and `training`, JSON."""

    corpus: str
    setting: str
    generator: str
    seed: int
    label: str
    perplexity: Path
    training: Path


Documents: TypeAlias = RealText | Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class TendenciesFiles(Compared[RealText, Sample]):
    """Real text of each corpus, samples in the order of the tables, and how to read them.

    Attributes:
        options: of the critic: how tokens are counted.
        models: for a table about generators, which needs nothing else.
    """

    options: JsonObject
    models: tuple[Model, ...] = ()
