"""How `textcritic.topics` and `textcritic.criticise` of texts fit and judge."""

import os
from dataclasses import dataclass
from typing import Any, TypedDict

from textcritic.api.arguments import from_zero, whole
from textcritic.critics.ctm.model import STARTS, FitOptions
from textcritic.latents.bags import VocabularyOptions


@dataclass(frozen=True, slots=True)
class TopicOptions:
    """How topics are criticised.

    Attributes:
        num_topics: K, from 2.
        iterations: of the fit, at most.
        tolerance: a fit ends when the bound rises by less than this share of it an iteration.
        starts: fits from so many starts; that of the highest bound is the critic.
        stop_words: words left out in any case, see `VocabularyOptions`; None: none.
        minimum_count: words rarer in train are left out, see `VocabularyOptions`; None: 5.
        workers: CPU cores; None: all. The numbers do not depend on it.
        resamples: of the bootstrap, and of the permutation tests.
        seed: of fit, bootstrap and tests.

    Raises:
        TextcriticError: a value out of range.
    """

    num_topics: int
    iterations: int = 1000
    tolerance: float = 1e-4
    starts: int = STARTS
    stop_words: str | None = None
    minimum_count: int | None = None
    workers: int | None = None
    resamples: int = 10_000
    seed: int = 1

    def __post_init__(self) -> None:
        whole(self.num_topics, "num_topics", 2)
        for name in ("iterations", "starts", "minimum_count", "workers", "resamples"):
            if getattr(self, name) is not None:
                whole(getattr(self, name), name, 1)
        from_zero(self.tolerance, "tolerance")
        whole(self.seed, "seed", 0)

    @property
    def fit(self) -> FitOptions:
        """What the fit needs of them."""
        return FitOptions(self.num_topics, iterations=self.iterations, tolerance=self.tolerance, seed=self.seed)

    @property
    def cores(self) -> int:
        """CPU cores, in numbers."""
        return self.workers or os.cpu_count() or 1

    @property
    def vocabulary(self) -> VocabularyOptions:
        """What the vocabulary needs of them."""
        given = {"stop_words": self.stop_words, "minimum_count": self.minimum_count}
        chosen: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        return VocabularyOptions(**chosen)


class TopicKeywords(TypedDict, total=False):
    """The keys of `TopicOptions` but the first, for type checkers."""

    iterations: int
    tolerance: float
    starts: int
    stop_words: str | None
    minimum_count: int | None
    workers: int | None
    resamples: int
    seed: int
