"""The files of an experiment with measures of one's own."""

from dataclasses import dataclass, replace
from pathlib import Path

from textcritic.plan.sources import Compared, Drawn
from textcritic.plan.sources import RealText as Real


@dataclass(frozen=True, slots=True, kw_only=True)
class RealText(Real):
    """The test split of one corpus.

    Attributes:
        articles: its documents.
        scores: their numbers by the first measure, as `critics.own` writes them.
        measured: by each measure.
    """

    articles: Path
    scores: Path
    measured: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured(Drawn):
    """A sample; `scores` is the first of `measured`, its numbers by each measure."""

    measured: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsFiles(Compared[RealText, Measured]):
    """Real text of each corpus, and samples in the order of the tables.

    Attributes:
        metrics: names of the measures, `module:function`.
    """

    metrics: tuple[str, ...]

    def by(self, number: int) -> "MetricsFiles":
        """The same with the scores of one measure."""
        data = tuple(replace(real, scores=real.measured[number]) for real in self.data)
        samples = tuple(replace(sample, scores=sample.measured[number]) for sample in self.samples)
        return replace(self, data=data, samples=samples)
