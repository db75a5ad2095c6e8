"""Values of many documents as distinct values and their counts, for tests and pictures of one dimension."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.statistics import Array

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many documents have each value. A million documents have a few thousand lengths, so it is small.

    Attributes:
        values: float64 [k], distinct, ascending, finite.
        counts: int64 [k], documents with each value, at least 1.
    """

    values: Array
    counts: Counts

    @classmethod
    def of(cls, values: npt.ArrayLike) -> Self:
        """Of one value for each document: [documents].

        Raises:
            TextcriticError: no documents, another shape, or values that are not finite.
        """
        array = np.asarray(values, dtype=np.float64)
        if array.ndim != 1 or not len(array):
            raise TextcriticError(f"histogram: values of shape {array.shape}; give one value for each document")
        if not np.isfinite(array).all():
            raise TextcriticError("histogram: infinite or missing values; leave out documents that have no value")
        distinct, counts = np.unique(array + 0.0, return_counts=True)  # + 0.0: -0 is 0
        return cls(distinct, counts.astype(np.int64))

    @classmethod
    def of_ratios(cls, numerators: npt.ArrayLike, denominators: npt.ArrayLike) -> Self:
        """Of `numerators / denominators`, integers [documents] each, e.g. stop words and tokens of each document.

        Equal ratios are one value: a quotient of integers is rounded correctly, so 1/2 and 2/4 are the same float64.

        Raises:
            TextcriticError: no documents, shapes that differ, or a denominator of 0: a document without tokens has no
                share of anything, and is to be left out and reported.
        """
        above, below = np.asarray(numerators), np.asarray(denominators)
        if above.shape != below.shape:
            raise TextcriticError(f"histogram: {above.shape} numerators and {below.shape} denominators; give as many")
        if (below == 0).any():
            raise TextcriticError(
                f"histogram: {int((below == 0).sum())} of {below.size} documents have length 0, and no ratio; leave "
                "them out"
            )
        return cls.of(above / below)

    @property
    def total(self) -> int:
        """Number of documents."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """Mean over documents."""
        return float(self.counts @ self.values / self.counts.sum())

    @property
    def variance(self) -> float:
        """Unbiased variance over documents; NaN of one document."""
        if self.total < 2:
            return float("nan")
        return float(self.counts @ (self.values - self.mean) ** 2 / (self.total - 1))


def on_common_values(*histograms: Histogram) -> tuple[Array, Counts]:
    """All values that occur in any of the histograms, float64 [k], and the counts of each, int64 [histograms, k].

    Raises:
        TextcriticError: a histogram is empty.
    """
    if not all(len(one.values) for one in histograms):
        raise TextcriticError("histogram: a set has no documents; every set needs at least one")
    values = np.unique(np.concatenate([one.values for one in histograms]))
    counts = np.zeros((len(histograms), len(values)), np.int64)
    for row, one in zip(counts, histograms, strict=True):
        row[np.searchsorted(values, one.values)] = one.counts
    return values, counts


def quantile(histogram: Histogram, q: npt.ArrayLike) -> Array:
    """Quantiles over documents, interpolated as `numpy.quantile` does by default: of the shape of `q`.

    Raises:
        TextcriticError: a `q` outside [0, 1].
    """
    shares = np.asarray(q, dtype=np.float64)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise TextcriticError(f"quantile: {q!r}; give shares from 0 to 1")
    place = shares * (histogram.total - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, histogram.total - 1)
    # Documents in ascending order: those with value i have the places up to ends[i].
    ends = histogram.counts.cumsum()
    low, high = (histogram.values[np.searchsorted(ends, at, side="right")] for at in (below, above))
    between: Array = low + (high - low) * (place - below)
    return between
