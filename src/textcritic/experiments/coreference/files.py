"""The files of the coreference of a study."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from textcritic.plan.bundle import Files
from textcritic.plan.sources import Compared, Drawn
from textcritic.plan.sources import RealText as Real
from textcritic.values import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class RealText(Real):
    """Real text of one corpus and the critic of mentions that was fitted on it.

    Attributes:
        critic: critic.npz.
        training: training.json of the fit.
        mentions, scores, articles: of the test split.
        variants: Latent NLL of the test split under every variant of the critic; None if they are not configured.
        power: how often the test notices exchanged pronouns; None if it is not configured.
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
    """The measurements on text in which people have marked coreference.

    Attributes:
        name: of the annotated text.
        quality: scores of the resolver.
        baseline: scores of the resolver `nearest`; None if that is the critic's resolver.
        error: Latent PPL of gold chains and of resolved ones, under critics fitted on either.
    """

    name: str
    quality: Path
    baseline: Path | None
    error: Path


Documents: TypeAlias = RealText | Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreferenceFiles(Compared[RealText, Sample]):
    """Real text of each corpus, samples in the order of the tables, and how to read them.

    Attributes:
        annotated: the measurements of the resolver.
        measured: CSV of earlier measurements of resolvers, used if `annotated` is empty.
        resolver: name and entry of the resolver.
        critic: name and entry of the critic.
        report_articles: articles of each source in the report's reader.
    """

    annotated: tuple[Annotated, ...]
    measured: Path | None
    resolver: JsonObject
    critic: JsonObject
    report_articles: int
