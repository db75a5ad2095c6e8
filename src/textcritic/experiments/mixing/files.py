"""The files of an experiment on mixed languages."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from textcritic.plan.bundle import Files
from textcritic.plan.sources import Compared, Drawn
from textcritic.plan.sources import RealText as Real


@dataclass(frozen=True, slots=True, kw_only=True)
class RealText(Real):
    """Real translations of one corpus and the LDA model that was fitted on them.

    Attributes:
        critic: critic.npz.
        vocabulary: vocabulary.parquet.
        vocabulary_counts: vocabulary.json, what was left out of the vocabulary and why.
        training: training.json of the fit.
        posteriors, scores, articles: of the test split.
    """

    critic: Path
    vocabulary: Path
    vocabulary_counts: Path
    training: Path
    posteriors: Path
    scores: Path
    articles: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Drawn):
    """A sample with its posteriors; `perplexity` and `training` are its generator's, None for samples from a file."""

    posteriors: Path
    perplexity: Path | None
    training: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Known(Files):
    """What was measured on artificial languages: `power`, a table, and `summary`, JSON."""

    corpus: str
    power: Path
    summary: Path


Documents: TypeAlias = RealText | Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class MixingFiles(Compared[RealText, Sample]):
    """Real translations of each corpus, samples in the order of the tables, and how to read them.

    Attributes:
        known: what was measured on artificial languages.
        report_articles: sentences of each source that the report shows.
        words: likeliest words of each topic that tables show.
    """

    known: tuple[Known, ...]
    report_articles: int
    words: int
