"""The files of an experiment on what people say."""

from dataclasses import dataclass
from pathlib import Path

from textcritic.plan.bundle import Files
from textcritic.plan.sources import Compared, Drawn
from textcritic.plan.sources import RealText as Real


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside(Files):
    """Scores of the same documents by another critic.

    Attributes:
        critic: its name.
        scores: Parquet with `id` and `nll`.
    """

    critic: str
    scores: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RealText(Real):
    """Real text of one corpus.

    Attributes:
        critic: critic.json of the critic of section order.
        scores: of the test split with inferred titles.
        articles: the test split.
        latents: titles of its sections as the classifier infers them, and its own.
        mauve: of the test split against another sample of real text; None without MAUVE.
        beside: scores of other critics.
    """

    critic: Path
    scores: Path
    articles: Path
    latents: Path
    mauve: Path | None
    beside: tuple[Beside, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Drawn):
    """Articles of a generator; fields as of `RealText`.

    Attributes:
        perplexity: perplexity.json of the generator; None of samples from a file.
    """

    latents: Path
    perplexity: Path | None
    mauve: Path | None
    beside: tuple[Beside, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleFiles(Compared[RealText, Sample]):
    """Real text of each corpus, samples in the order of the tables, and the answers.

    Attributes:
        annotations: exports of campaigns, see `annotation.answers`.
        embedder: the model whose hidden states MAUVE compares, in words; "" without MAUVE.
    """

    annotations: tuple[Path, ...]
    embedder: str = ""
