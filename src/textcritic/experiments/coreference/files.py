"""The files that the coreference of a study is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from textcritic.plan.bundle import Files
from textcritic.plan.sources import Compared, Drawn
from textcritic.plan.sources import RealText as Real


@dataclass(frozen=True, slots=True, kw_only=True)
class RealText(Real):
    """Real text of one corpus and the critic of mentions that was fitted on it.

    Attributes:
        critic: critic.npz.
        training: training.json of the fit.
        mentions, scores, articles: of the test split.
        variants: Latent NLL of the test split under every variant of the critic; None where they are not asked for.
        power: how often the test notices exchanged pronouns; None likewise.
    """

    critic: Path
    training: Path
    mentions: Path
    scores: Path
    articles: Path
    variants: Path | None
    power: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Drawn):
    """A sample with its mentions, and its Latent NLL under every variant of the critic."""

    mentions: Path
    variants: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated(Files):
    """What was measured on text in which people have marked coreference.

    Attributes:
        name: of the annotated text.
        quality: scores of the resolver.
        baseline: those of the resolver `nearest`; None where that is the critic's.
        error: Latent PPL of gold chains and of resolved ones, under critics fitted on either.
    """

    name: str
    quality: Path
    baseline: Path | None
    error: Path


Documents: TypeAlias = RealText | Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreferenceFiles(Compared):
    """Real text of each corpus, samples in the order of the tables, and how to read them.

    Attributes:
        annotated: what is known of the resolver.
        measured: CSV of what was measured of resolvers earlier, which stands where `annotated` is empty.
        resolver: name and entry of the resolver.
        critic: name and entry of the critic.
        report_articles: articles of each source that the report's reader has.
    """

    data: tuple[RealText, ...]
    samples: tuple[Sample, ...]
    annotated: tuple[Annotated, ...]
    measured: Path | None
    resolver: Mapping[str, Any]
    critic: Mapping[str, Any]
    report_articles: int
