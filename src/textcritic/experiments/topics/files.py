"""The files of the topics of a study."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from textcritic.plan.sources import Compared, Drawn, RealText


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted(RealText):
    """Real text of one corpus and the correlated topic model that was fitted on it.

    Attributes:
        critic: critic.npz.
        vocabulary: vocabulary.parquet.
        vocabulary_counts: vocabulary.json, what was left out of the vocabulary and why.
        training: training.json of the fit.
        posteriors, scores, articles: of the test split.
        of_starts: posteriors and scores of the test split under the models of the other starts of the fit.
        power: how often the test notices words of another topic; None if it is not configured.
    """

    critic: Path
    vocabulary: Path
    vocabulary_counts: Path
    training: Path
    posteriors: Path
    scores: Path
    articles: Path
    of_starts: Path
    power: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Drawn):
    """A sample with its posteriors; `baseline` says that its generator learnt from shuffled words."""

    posteriors: Path
    of_starts: Path
    baseline: bool


Documents: TypeAlias = Fitted | Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsFiles(Compared[Fitted, Sample]):
    """Real text of each corpus, samples in the order of the tables."""

    def samples_of(self, real: Fitted) -> list[Sample]:
        """The samples beside the real text of one corpus, the baseline last."""
        return sorted(super(TopicsFiles, self).samples_of(real), key=lambda sample: sample.baseline)
