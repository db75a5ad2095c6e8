"""Heaps' law: the number of distinct words of a document against its length (Meister and Cotterell 2021, section 3.1).

A document of length l has a Poisson number of types (of words, or of bigrams) with mean `alpha l^beta`. This is a
Poisson regression with log link on the log length, so that documents of one length enter as their number and the sum of
their types: a million documents cost no more than their lengths.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STEPS, PRECISION = 100, 1e-12
# Pairs of a length and a number of types that are counted in a table.
DENSE = 20_000_000
# If this table has more cells than this for each document, sorting is faster.
CROWDED = 5
# The linear predictor moves by at most this much in one step: Newton's method overshoots if it begins too low.
LONGEST_STEP = 3.0


@dataclass(frozen=True)
class HeapsFit:
    """Heaps' law, fitted to documents.

    Attributes:
        alpha: the expected number of types of a document of length 1 (K of the paper: Eq. 20 to 22 have both names).
        beta: the exponent.
        covariance: covariance of (log alpha, beta) if the numbers of types are Poisson: [2, 2].
        robust_covariance: the same for any variance of these numbers, for independent documents (White 1980, HC0): they
            vary less than Poisson numbers, so `covariance` is too large.
        documents: how many documents were fitted.
    """

    alpha: float
    beta: float
    covariance: Floats
    robust_covariance: Floats
    documents: int


@dataclass(frozen=True, eq=False)
class TypesByLength:
    """Documents by length and number of types: the distinct pairs, and how many documents have each.

    Attributes:
        lengths: tokens, ascending: [pairs].
        types: ascending within a length: [pairs].
        counts: documents: [pairs].
    """

    lengths: Ints
    types: Ints
    counts: Ints

    @classmethod
    def of(cls, lengths: npt.ArrayLike, types: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> "TypesByLength":
        """Of documents, [documents] each, or of `counts` documents with each length and number of types.

        Raises:
            TextcriticError: arrays of different lengths or not of whole numbers, no document, a length below 1, or
                negative types or counts.
        """
        columns = [
            np.asarray(column) for column in (lengths, types, np.ones_like(lengths) if counts is None else counts)
        ]
        if any(c.ndim != 1 or c.shape != columns[0].shape or not np.issubdtype(c.dtype, np.integer) for c in columns):
            shapes = ", ".join(str(column.shape) for column in columns)
            raise TextcriticError(
                f"Heaps' law: lengths, types and counts are {shapes}; give whole numbers, one of each"
            )
        length, number, times = (column.astype(np.int64) for column in columns)
        if not times.sum() > 0 or (times < 0).any():
            raise TextcriticError("Heaps' law: no document, or negative counts; give at least two documents")
        if length.min() < 1 or number.min() < 0:
            raise TextcriticError("Heaps' law: a length below 1, or negative types; leave out documents without tokens")
        width = int(number.max()) + 1
        pairs = length * width + number
        # Counting is many times faster than sorting, where a table of all pairs is small, and not nearly empty.
        if pairs.max() < min(DENSE, CROWDED * len(pairs)):
            summed = np.bincount(pairs, times).astype(np.int64)
            keys = np.flatnonzero(summed)
            return cls(keys // width, keys % width, summed[keys])
        keys, place = np.unique(pairs, return_inverse=True)
        summed = np.bincount(place, times).astype(np.int64)
        kept = summed > 0
        return cls(keys[kept] // width, keys[kept] % width, summed[kept])

    def by_length(self) -> tuple[Ints, Ints, Ints, Floats]:
        """Distinct lengths, and of each: documents, sum of their types, sum of squares about the mean; [lengths]."""
        lengths, place = np.unique(self.lengths, return_inverse=True)
        documents, sums = np.zeros((2, len(lengths)), dtype=np.int64)
        np.add.at(documents, place, self.counts)
        np.add.at(sums, place, self.counts * self.types)
        centred = (self.types - (sums / documents)[place]) ** 2
        squares: Floats = np.bincount(place, self.counts * centred).astype(np.float64)
        return lengths, documents, sums, squares


def fit_heaps(lengths: npt.ArrayLike, types: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> HeapsFit:
    """The maximum-likelihood parameters of Heaps' law (Eq. 20 to 22).

    Args:
        lengths: tokens of each document, at least 1: [documents].
        types: its distinct words, or distinct bigrams: [documents].
        counts: how many documents each row represents; None means one.

    Raises:
        TextcriticError: as `TypesByLength.of`; all documents of one length, which do not tell beta; no types at all.
    """
    length, documents, sums, squares = TypesByLength.of(lengths, types, counts).by_length()
    many = fit_heaps_many(length, documents[None], sums[None])
    alpha, beta = float(many.alpha[0]), float(many.beta[0])
    means = alpha * length.astype(np.float64) ** beta
    design = np.column_stack([np.ones(len(length)), np.log(length)])
    inverse: Floats = np.linalg.inv(design.T @ (design * (documents * means)[:, None])).astype(np.float64)
    # Squared residuals of all documents of a length: those about their own mean, and of this mean.
    residuals = squares + documents * (sums / documents - means) ** 2
    score = design.T @ (design * residuals[:, None])
    return HeapsFit(
        alpha=alpha,
        beta=beta,
        covariance=inverse,
        robust_covariance=inverse @ score @ inverse,
        documents=int(documents.sum()),
    )


class HeapsMany(NamedTuple):
    """Parameters of many samples: [B] each."""

    alpha: Floats
    beta: Floats


def fit_heaps_many(lengths: npt.ArrayLike, documents: npt.ArrayLike, type_sums: npt.ArrayLike) -> HeapsMany:
    """Heaps' law of many samples at once, such as those of a jackknife, by Newton's method.

    Args:
        lengths: distinct lengths, at least 1: [L].
        documents: how many documents of each length a sample has, 0 or more; they need not be whole: [B, L].
        type_sums: sum of the types of these documents: [B, L].

    Raises:
        TextcriticError: a sample with documents of one length only, or without types; no convergence.
    """
    length = np.asarray(lengths, dtype=np.float64)
    weights, sums = np.asarray(documents, dtype=np.float64), np.asarray(type_sums, dtype=np.float64)
    _check(length, weights, sums)
    logs = np.log(length)
    middle = (weights @ logs) / weights.sum(axis=1)
    centred = logs - middle[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        start = np.where(sums > 0, np.log(sums / weights), 0.0)
    # A least-squares line through the log means begins close to the maximum.
    own = np.where(sums > 0, weights, 0.0)
    slope = (own * centred * start).sum(axis=1) / np.maximum((own * centred**2).sum(axis=1), 1e-300)
    level = np.log(sums.sum(axis=1) / (weights * np.exp(slope[:, None] * centred)).sum(axis=1))
    reach = np.abs(np.where(weights > 0, centred, 0.0)).max(axis=1)
    for _ in range(STEPS):
        means = weights * np.exp(level[:, None] + slope[:, None] * centred)
        rest = sums - means
        zero, one, two = means.sum(axis=1), (means * centred).sum(axis=1), (means * centred**2).sum(axis=1)
        first, second = rest.sum(axis=1), (rest * centred).sum(axis=1)
        determinant = zero * two - one**2
        steps = np.stack([two * first - one * second, zero * second - one * first]) / determinant
        size = np.abs(steps[0]) + np.abs(steps[1]) * reach
        steps *= np.minimum(1, LONGEST_STEP / np.maximum(size, 1e-300))
        level, slope = level + steps[0], slope + steps[1]
        if (size <= PRECISION * (1 + np.abs(level) + np.abs(slope) * reach)).all():
            return HeapsMany(np.exp(level - slope * middle), slope)
    raise TextcriticError(f"Heaps' law: no maximum found after {STEPS} steps; are the types of the documents right?")


def _check(lengths: Floats, documents: Floats, sums: Floats) -> None:
    if documents.ndim != 2 or documents.shape != sums.shape or documents.shape[1:] != lengths.shape:
        raise TextcriticError(
            f"Heaps' law: shapes {lengths.shape}, {documents.shape}, {sums.shape}; they are [L], [B, L] and [B, L]"
        )
    if (
        not (lengths >= 1).all()
        or not (documents >= 0).all()
        or not (sums >= 0).all()
        or (sums[documents == 0] > 0).any()
    ):
        raise TextcriticError("Heaps' law: a length below 1, or negative numbers; leave out documents without tokens")
    if ((documents > 0).sum(axis=1) < 2).any():
        raise TextcriticError("Heaps' law: all documents have one length, so beta is unknown; give two lengths")
    if not (((sums > 0).sum(axis=1)) > 1).all():
        raise TextcriticError("Heaps' law: documents have types at one length only, or none; the law has no maximum")
