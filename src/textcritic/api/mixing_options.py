"""How `textcritic.mixing` fits and judges."""

from dataclasses import dataclass
from typing import TypedDict

from textcritic.api.arguments import share, whole
from textcritic.api.criticise import HELD_OUT


@dataclass(frozen=True, slots=True)
class MixingOptions:
    """How mixing is measured.

    Attributes:
        topics: K; as many as there are languages.
        paired: whether text i of the samples and of the real texts stand for the same thing, such as a sentence that
            they translate: the test then exchanges the two texts of a pair alone.
        held_out: share of the real texts that are the yardstick; the model is fitted on the others.
        iterations: sweeps of the fit over all tokens.
        starts: chains of the fit; the most probable one is kept.
        draws: posterior draws for each text.
        lowercase: whether tokens are lower-cased first.
        workers: CPU cores; None: all. The numbers do not depend on it.
        resamples: of bootstrap and tests.
        seed: of everything that is drawn.

    Raises:
        TextcriticError: a value out of range.
    """

    topics: int = 3
    paired: bool = False
    held_out: float = HELD_OUT
    iterations: int = 1000
    starts: int = 4
    draws: int = 20
    lowercase: bool = False
    workers: int | None = None
    resamples: int = 10_000
    seed: int = 1

    def __post_init__(self) -> None:
        whole(self.topics, "topics", 2)
        for name in ("iterations", "starts", "draws", "resamples"):
            whole(getattr(self, name), name, 1)
        if self.workers is not None:
            whole(self.workers, "workers", 1)
        whole(self.seed, "seed", 0)
        share(self.held_out, "held_out")


class MixingKeywords(TypedDict, total=False):
    """The keys of `MixingOptions`, for type checkers."""

    topics: int
    paired: bool
    held_out: float
    iterations: int
    starts: int
    draws: int
    lowercase: bool
    workers: int | None
    resamples: int
    seed: int
