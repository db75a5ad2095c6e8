"""The files of estimates by importance sampling."""

from dataclasses import dataclass
from pathlib import Path

from textcritic.plan.bundle import Files

MIXED = 0.0
"""In place of a temperature, which is above 0: draws from all temperatures together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed(Files):
    """Log weights of the states that a proposal drew at one temperature, for the test texts of a corpus.

    Attributes:
        corpus, generator, proposal, seed: the keys of the estimate.
        label: the generator's name in tables and figures.
        drawn_by: the proposal's name there.
        temperature: of the proposal; `MIXED` for draws from all temperatures, weighted as draws from their mixture.
        peeks: whether the proposal has seen tokens that the model has still to predict.
        shards: .npz files as `LogWeights.save` writes them, each with other draws of the same texts.
    """

    corpus: str
    generator: str
    proposal: str
    seed: int
    label: str
    drawn_by: str
    temperature: float
    peeks: bool
    shards: tuple[Path, ...]

    @property
    def mixed(self) -> bool:
        """Whether its draws are from several temperatures."""
        return self.temperature == MIXED


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact(Files):
    """Log p of the test texts where it is known: .npz as `LogWeights.save` writes it, with K = 1.

    Attributes:
        latent: whether the model has latent states. If so, its estimates are compared with this exact value of the
            same model; if not, the estimates of other models are compared with this model.
    """

    corpus: str
    generator: str
    seed: int
    label: str
    latent: bool
    weights: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Beam(Files):
    """The likeliest states by a proposal: .npz with `ids` [N], `tokens` [N] and `log_p` [N, states]."""

    corpus: str
    generator: str
    proposal: str
    seed: int
    label: str
    drawn_by: str
    states: int
    joint: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Filtered(Files):
    """Log p-hat of the test texts by a particle filter: .npz as `LogWeights.save` writes it, with K = 1."""

    corpus: str
    generator: str
    proposal: str
    seed: int
    particles: int
    weights: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Own(Files):
    """Log weights of texts that the model drew: of states that the proposal draws, and of those drawn with the texts.

    Attributes:
        corpus, generator, proposal, seed, temperature: the keys of the estimate.
        drawn: .npz as `LogWeights.save` writes it.
        exact: .npz as `ExactWeights.save` writes it, of the same texts.
    """

    corpus: str
    generator: str
    proposal: str
    seed: int
    temperature: float
    drawn: Path
    exact: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts(Files):
    """The test split of a corpus.

    Attributes:
        corpus: its name.
        test: Parquet in `articles.ARTICLE_SCHEMA`, or in `structured.STRUCTURED_SCHEMA`.
        structured: whether it is in the latter.
    """

    corpus: str
    test: Path
    structured: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportanceFiles(Files):
    """The files that tables, figures and the section are made from.

    Attributes:
        weighed: in the order of the tables.
        exact: of models without latent states.
        beams: in the order of the tables.
        filtered: by particle filters; in the tables they are in the row of the estimate at temperature 1.
        own: of texts that the models drew; they are in the row of the estimate with the same proposal and temperature.
        texts: of each corpus.
        repeats: random orders and pairings of the draws.
        group: draws in one of the estimates of the density.
        resamples: of intervals.
    """

    weighed: tuple[Weighed, ...]
    exact: tuple[Exact, ...]
    beams: tuple[Beam, ...]
    filtered: tuple[Filtered, ...]
    own: tuple[Own, ...] = ()
    texts: tuple[Texts, ...]
    repeats: int
    group: int
    resamples: int
