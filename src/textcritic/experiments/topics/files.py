"""The files that the topics of a study are made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from textcritic.plan.bundle import Files
from textcritic.plan.sources import Drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted(Files):
    """Real text of one corpus and the correlated topic model that was fitted on it.

    Attributes:
        corpus: its name.
        critic: critic.npz.
        vocabulary: vocabulary.parquet.
        vocabulary_counts: vocabulary.json, what was left out of the vocabulary and why.
        training: training.json of the fit.
        posteriors, scores, articles: of the test split.
        of_starts: posteriors and scores of the test split under the models of the other starts of the fit.
    """

    corpus: str
    critic: Path
    vocabulary: Path
    vocabulary_counts: Path
    training: Path
    posteriors: Path
    scores: Path
    articles: Path
    of_starts: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Drawn):
    """A sample with its posteriors; `baseline` says that its generator learnt from shuffled words."""

    posteriors: Path
    of_starts: Path
    baseline: bool


Documents: TypeAlias = Fitted | Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsFiles(Files):
    """Real text of each corpus, samples in the order of the tables, and how to read them.

    Attributes:
        data: real text, a topic model each.
        samples: what is compared with it.
        decodings: the registry entry of each sample's decoding.
        resamples: of intervals and tests.
    """

    data: tuple[Fitted, ...]
    samples: tuple[Sample, ...]
    decodings: Mapping[str, Mapping[str, Any]]
    resamples: int

    def of(self, fitted: Fitted) -> list[Documents]:
        """The real text of one corpus and the samples beside it, the baseline last."""
        return [fitted, *sorted((s for s in self.samples if s.corpus == fitted.corpus), key=lambda s: s.baseline)]

    def shown(self, fitted: Fitted) -> list[Documents]:
        """The same with the first seed of each sample only."""
        first: dict[tuple[str, ...], Sample] = {}
        for sample in self.samples:
            key = (sample.corpus, sample.setting, sample.generator, sample.decoding)
            if key not in first or sample.seed < first[key].seed:
                first[key] = sample
        return [s for s in self.of(fitted) if isinstance(s, Fitted) or s in first.values()]
