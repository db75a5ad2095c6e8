"""The correlated topic model: its parameters and its file."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cho_solve, cholesky

from textcritic.critics.arrays import Arrays
from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, write_arrays

Array = npt.NDArray[np.float64]

# The probability of a word that a topic never emits. Blei's code has exp(-1000), which is 0 as a double; words that any
# topic emits get the same results either way. A count divided by this is still a finite double.
NEVER = 1e-280

PARAMETERS = ("log_topics", "mean", "covariance")
SINGULAR = "covariance: is singular or not positive definite; use fewer topics or more documents"


@dataclass(frozen=True, eq=False)
class CTM(Arrays):
    """A correlated topic model (Blei and Lafferty 2006; model criticism paper, section 6).

    A document draws `eta ~ N(mean, covariance)` over the first K - 1 topics, the last topic's coefficient is 0 (so that
    `softmax` has one preimage, as in Blei's code), and each of its words comes from topic k with probability
    `softmax(eta)_k`. The latent of a document is the vector of K - 1 coefficients; one step of it is one document.

    Attributes:
        log_topics: [K, V], log probability of each word in each topic; at least that of `NEVER`.
        mean: [K - 1].
        covariance: [K - 1, K - 1], symmetric and positive definite.

    Raises:
        TextcriticError: shapes that do not match, numbers that are not finite, topics that are not distributions, or a
            covariance that is not symmetric and positive definite.
    """

    log_topics: Array
    mean: Array
    covariance: Array
    kind: ClassVar[str] = "ctm"
    what: ClassVar[str] = "topic model"

    def __post_init__(self) -> None:
        size = self.num_topics - 1
        if self.log_topics.ndim != 2 or size < 1 or not self.num_words:
            raise TextcriticError(f"topics: an array of shape {self.log_topics.shape}; it must be [2 or more, words]")
        if self.mean.shape != (size,) or self.covariance.shape != (size, size):
            raise TextcriticError(
                f"mean and covariance: of shapes {self.mean.shape} and {self.covariance.shape}; with {size + 1} topics"
                f" they must be ({size},) and ({size}, {size})"
            )
        for name, array in (("topics", self.log_topics), ("mean", self.mean), ("covariance", self.covariance)):
            if not np.isfinite(array).all():
                raise TextcriticError(f"{name}: has infinite or missing values; fit the topics again")
        if not np.allclose(np.exp(self.log_topics).sum(axis=1), 1, atol=1e-6):
            raise TextcriticError("topics: the probabilities of a topic's words do not add up to 1; fit them again")
        if not np.allclose(self.covariance, self.covariance.T, rtol=1e-9, atol=1e-12):
            raise TextcriticError("covariance: is not symmetric; fit the topics again")
        _ = self.factor

    @property
    def num_topics(self) -> int:
        """K, the last topic included."""
        return len(self.log_topics)

    @property
    def num_words(self) -> int:
        """V, the words of the vocabulary."""
        return int(self.log_topics.shape[1])

    @cached_property
    def factor(self) -> Array:
        """Lower Cholesky factor of the covariance, [K - 1, K - 1]."""
        return lower_factor(self.covariance)

    @cached_property
    def precision(self) -> Array:
        """Inverse of the covariance, [K - 1, K - 1]."""
        return inverse_from(self.factor)

    @cached_property
    def log_det_precision(self) -> float:
        """Log determinant of the precision."""
        return log_det_precision_from(self.factor)


def save_critics(path: str | os.PathLike[str], critics: Sequence[CTM]) -> None:
    """Write models, or none, to one file, whole or not at all."""
    parameters = {f"{number}.{key}": getattr(one, key) for number, one in enumerate(critics) for key in PARAMETERS}
    write_arrays(path, {"number": np.array(len(critics)), **parameters})


def load_critics(path: str | os.PathLike[str]) -> list[CTM]:
    """Read what `save_critics` wrote.

    Raises:
        TextcriticError: as `CTM.load`.
    """
    with arrays_of(path, "not a whole file of topic models; delete it and rerun the rule that makes it") as arrays:
        read = [{key: arrays[f"{n}.{key}"] for key in PARAMETERS} for n in range(int(arrays["number"]))]
    try:
        return [CTM(**parameters) for parameters in read]
    except TextcriticError as error:
        raise TextcriticError(f"{path}: {error}") from error


def lower_factor(covariance: Array) -> Array:
    """Lower Cholesky factor of a covariance.

    Raises:
        TextcriticError: it is not positive definite.
    """
    try:
        factor: Array = cholesky(covariance, lower=True)
    except LinAlgError as error:
        raise TextcriticError(SINGULAR) from error
    # The share of each variance that is left once the coefficients before it are known; below the limit it is rounding.
    left = np.diag(factor) ** 2 / np.diag(covariance)
    if left.min() < len(factor) * np.finfo(np.float64).eps:
        raise TextcriticError(SINGULAR)
    return factor


def log_det_precision_from(factor: Array) -> float:
    """Log determinant of the inverse of a covariance, from its lower Cholesky factor."""
    return float(-2 * np.log(np.diag(factor)).sum())


def inverse_from(factor: Array) -> Array:
    """The inverse of a covariance from its lower Cholesky factor, symmetric to the last bit."""
    inverse: Array = cho_solve((factor, True), np.eye(len(factor)))
    return (inverse + inverse.T) / 2
