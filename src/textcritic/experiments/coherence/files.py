"""The files that the coherence of a study is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textcritic.plan.bundle import Files
from textcritic.plan.sources import Drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class RealText(Files):
    """Real text of one corpus and the critic that was fitted on it.

    Attributes:
        corpus: its name.
        critic: critic.json.
        accuracy: accuracy.json of the section classifier; None where titles are given and there is none.
        gold: scores of the test split with its own titles.
        inferred: scores of the test split with inferred titles.
        articles: the test split.
        latents: posteriors of the test split.
        validation: the split on which the critic's smoothing was chosen; only the audit reads it.
    """

    corpus: str
    critic: Path
    accuracy: Path | None
    gold: Path
    inferred: Path
    articles: Path
    latents: Path
    validation: Path

    @property
    def titles_given(self) -> bool:
        """Whether sections are known by the titles that they come with: `inferred` then equals `gold`."""
        return self.accuracy is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Drawn):
    """Articles of a generator.

    Attributes:
        latents: the posteriors of the kept ones.
        perplexity, training: perplexity.json and training.json of the generator, if it has them.
    """

    latents: Path
    perplexity: Path | None
    training: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoherenceFiles(Files):
    """Real text of each corpus, samples in the order of the tables, and how to read them.

    Attributes:
        data: real text, a critic each.
        samples: what is compared with it.
        audit_samples: further samples, for the audit alone.
        decodings: the registry entry of each sample's decoding.
        resamples: of intervals and tests.
        report_articles: articles of each source that the report's viewer carries.
    """

    data: tuple[RealText, ...]
    samples: tuple[Sample, ...]
    audit_samples: tuple[Sample, ...]
    decodings: Mapping[str, Mapping[str, Any]]
    resamples: int
    report_articles: int

    @property
    def titles_given(self) -> bool:
        """Whether sections are known by the titles that they come with; an experiment has one critic."""
        return all(real.titles_given for real in self.data)

    def bases(self, audit: Sample) -> list[Sample]:
        """Those samples that differ from an audit sample in the decoding alone."""
        same = ("corpus", "setting", "generator", "seed")
        return [s for s in self.samples if all(getattr(s, key) == getattr(audit, key) for key in same)]
