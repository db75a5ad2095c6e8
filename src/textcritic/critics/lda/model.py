"""Latent Dirichlet allocation: its parameters and its file."""

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
