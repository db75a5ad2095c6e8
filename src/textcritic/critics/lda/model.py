"""Latent Dirichlet allocation: its parameters, its file, and the options of its fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from textcritic.critics.arrays import Arrays
from textcritic.errors import TextcriticError

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LDA(Arrays):
    """Latent Dirichlet allocation (Blei, Ng and Jordan 2003; model criticism paper, appendix C).

    A document draws `theta ~ Dirichlet(alpha)` over K topics; each of its words draws a topic from `theta` and then
    itself from that topic's row of `phi`. The latent of a document is `theta`; one step of it is one document.

    Attributes:
        phi: [K, V], probability of each word in each topic, above 0.
        alpha: [K], of the Dirichlet prior, above 0.

    Raises:
        TextcriticError: shapes that do not match, or numbers that are not those of such a model.
    """

    phi: Array
    alpha: Array
    kind: ClassVar[str] = "lda"
    what: ClassVar[str] = "LDA model"

    def __post_init__(self) -> None:
        if self.phi.ndim != 2 or len(self.phi) < 2 or not self.phi.shape[1]:
            raise TextcriticError(f"phi: an array of shape {self.phi.shape}; it must be [2 or more topics, words]")
        if self.alpha.shape != (len(self.phi),):
            raise TextcriticError(f"alpha: of shape {self.alpha.shape}; with {len(self.phi)} topics it has one each")
        for name, array in (("phi", self.phi), ("alpha", self.alpha)):
            if not (np.isfinite(array).all() and (array > 0).all()):
                raise TextcriticError(f"{name}: has values that are not finite and above 0; fit the topics again")
        if not np.allclose(self.phi.sum(axis=1), 1, atol=1e-6):
            raise TextcriticError("phi: the probabilities of a topic's words do not add up to 1; fit them again")

    @property
    def num_topics(self) -> int:
        """K."""
        return len(self.phi)

    @property
    def num_words(self) -> int:
        """V, the words of the vocabulary."""
        return int(self.phi.shape[1])

    def top_words(self, words: Sequence[str], n: int = 20) -> list[list[str]]:
        """The n most probable words of each of the K topics, the most probable first (ties: the lower id); Table 10.

        Args:
            words: [V], the vocabulary's.
            n: words a topic.

        Raises:
            TextcriticError: another number of words than the critic's.
        """
        if len(words) != self.num_words:
            raise TextcriticError(f"top words: {len(words)} words for a critic of {self.num_words}; give its own")
        order = np.argsort(-self.phi, axis=1, kind="stable")[:, :n]
        return [[words[word] for word in topic] for topic in order]


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How a model is fitted; the defaults are the paper's, or else those of MALLET 2.0.8, which the paper used.

    Attributes:
        num_topics: K, from 2; 3 languages are the paper's.
        beta: of the symmetric Dirichlet prior of the words of each topic; fixed.
        alpha: of each topic, of the prior of theta, at first; None: 1/K.
        optimise_every: iterations between two optimisations of alpha, which give each topic its own value; 0: alpha
            stays as it is.
        burn_in: iterations before the first of these; MALLET's `--optimize-burn-in`.
        iterations: sweeps over all tokens, at most: a fit ends once its chains have come to rest.
        starts: chains, of the seeds `seed`, `seed` + 1, ...; the one whose last state is the most probable is kept.
        seed: of the sampler.
    """

    num_topics: int = 3
    beta: float = 0.01
    alpha: float | None = None
    optimise_every: int = 100
    burn_in: int = 200
    iterations: int = 5000
    starts: int = 1
    seed: int = 1

    def __post_init__(self) -> None:
        if not 2 <= self.num_topics <= 32_767:
            raise TextcriticError(f"topics: {self.num_topics}; give from 2 to 32,767")
        for name in ("beta", "first_alpha"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise TextcriticError(f"{name.removeprefix('first_')}: {getattr(self, name)}; give a number above 0")
        if min(self.iterations, self.starts) < 1 or min(self.optimise_every, self.burn_in, self.seed) < 0:
            raise TextcriticError(
                "iterations and starts must be 1 or more; optimise_every, burn_in and seed must be 0 or more"
            )

    @property
    def first_alpha(self) -> float:
        """Alpha of each topic at first."""
        return 1 / self.num_topics if self.alpha is None else self.alpha
