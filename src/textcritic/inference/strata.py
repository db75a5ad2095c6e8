"""Kolmogorov-Smirnov distances of one or several strata, such as documents of one length: intervals and tests.

Where documents differ in something that decides the values too, they are compared within strata of it, and the
distances of the strata are averaged. One stratum is the plain two-sample distance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.discrete import split_counts
from textcritic.inference.histograms import Counts, Histogram, on_common_values
from textcritic.inference.jackknife import t_interval
from textcritic.inference.looks import in_looks, p_values
from textcritic.inference.statistics import Array

Stratum: TypeAlias = tuple[Histogram, Histogram]
"""The values of the samples and of the data."""
ROUNDING = 1e-12
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class StrataTest:
    """A weighted mean of Kolmogorov-Smirnov distances, and how much of it is chance.

    Attributes:
        distance: 0 to 1.
        low, high: bootstrap interval, see `strata_test`.
        p: `(b + 1) / (B + 1)`, over random splits of the documents of each stratum; see `looks`.
        chance: mean over these splits.
        null: float64 [resamples], the distance of each split.
        each: distance of each stratum, float64 [strata].
        each_p: of each stratum by itself, over as many splits, float64 [strata].
    """

    distance: float
    low: float
    high: float
    p: float
    chance: float
    null: Array
    each: Array
    each_p: Array


@dataclass(frozen=True)
class StrataDifference:
    """A weighted mean of relative differences of means, and its 95% interval.

    The interval is of Student's t, with the degrees of freedom of Welch (1947).
    """

    difference: float
    low: float
    high: float


def strata_distance(strata: Sequence[Stratum], weights: npt.ArrayLike | None = None) -> float:
    """The weighted mean of the strata's distances; arguments and errors as `strata_test`."""
    shares = _shares(strata, weights)
    return float(shares @ [_largest(counts[:1], counts[1:])[0] for counts in _tables(strata)])


def strata_test(
    strata: Sequence[Stratum],
    weights: npt.ArrayLike | None = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 1,
) -> StrataTest:
    """Weighted mean of the KS distances of strata, with a permutation test and a bootstrap interval.

    The test splits the documents of each stratum at random into sets of the same sizes, independently. For the interval
    the documents of each set of each stratum are drawn with replacement. It reaches as far as the differences of the
    distribution functions move at their largest, in the weighted mean over strata, in the share `level` of resamples:
    as that of `ks_interval`, it holds the distance of the two sources at least as often as `level` says, and also where
    it is 0.

    Args:
        strata: of each the values of the samples and of the data.
        weights: of each stratum, not negative; None: documents of the data. They are made to add up to 1.
        resamples: splits, at most (`looks`), and bootstrap resamples.
        level: of confidence.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: no stratum, an empty one, weights that do not fit, no resamples, or a level outside (0, 1).
    """
    if resamples < 1 or not 0 < level < 1:
        raise TextcriticError(
            f"KS test: {resamples} resamples at level {level}; give at least 1, and a level inside (0, 1)"
        )
    shares, tables = _shares(strata, weights), _tables(strata)
    splits, draws = np.random.default_rng(seed).spawn(2)
    each = np.array([_largest(counts[:1], counts[1:])[0] for counts in tables])
    distance = float(shares @ each)
    by_stratum: list[Array] = []

    def draw(number: int) -> Array:
        by_stratum.append(np.stack([_split(counts, number, splits) for counts in tables], axis=1))
        return (by_stratum[-1] @ shares)[:, None]

    [(null, p)] = in_looks(draw, lambda values: (values >= distance - ROUNDING).sum(axis=0), resamples)
    chance = np.concatenate(by_stratum)
    each_p = p_values((chance >= each - ROUNDING).sum(axis=0), len(chance))
    moved = sum(share * _largest_move(counts, resamples, draws) for share, counts in zip(shares, tables, strict=True))
    reach = float(np.quantile(moved, level))
    low, high = max(0.0, distance - reach), min(1.0, distance + reach)
    return StrataTest(distance, low, high, p, float(null.mean()), null, each, each_p)


def strata_difference(
    strata: Sequence[Stratum], offsets: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> StrataDifference:
    """Weighted mean over strata of `(mean of the samples - mean of the data) / (mean of the data)`.

    Args:
        strata: of each the values of the samples and of the data, less the stratum's offset.
        offsets: [strata], what is added to the values; with it the mean of the data is above 0.
        weights: as in `strata_test`.

    Raises:
        TextcriticError: as `strata_test`.
    """
    shares = _shares(strata, weights)
    base = np.array([data.mean for _, data in strata]) + np.asarray(offsets, dtype=np.float64)
    gaps = np.array([sample.mean - data.mean for sample, data in strata]) / base
    both = np.array([[(one.variance, one.total) for one in pair] for pair in strata])
    variances = np.nan_to_num((shares / base) ** 2 * (both[:, :, 0] / both[:, :, 1]).T)
    freedom = variances.sum() ** 2 / max(float((variances**2 / np.maximum(both[:, :, 1].T - 1, 1)).sum()), TINY)
    difference = float(shares @ gaps)
    low, high = t_interval(difference, variances.sum(), freedom + 1)
    return StrataDifference(difference, float(low), float(high))


def _tables(strata: Sequence[Stratum]) -> list[Counts]:
    """Counts of both sets on the values of either: [2, k] each."""
    return [on_common_values(sample, data)[1] for sample, data in strata]


def _split(counts: Counts, number: int, rng: np.random.Generator) -> Array:
    """Largest differences of the distribution functions of so many random splits of both sets: counts [2, k] -> [n]."""
    pooled, size = counts.sum(axis=0), int(counts[0].sum())
    firsts = np.concatenate(list(split_counts(pooled, size, number, rng)))
    return _largest(firsts, pooled - firsts)


def _largest(first: Counts, second: Counts) -> Array:
    """Largest differences of two distribution functions: [B, k] each -> [B]."""
    one, two = (counts.cumsum(axis=1) / counts.sum(axis=1, keepdims=True) for counts in (first, second))
    gaps: Array = np.abs(one - two).max(axis=1)
    return gaps


def _largest_move(counts: Counts, resamples: int, rng: np.random.Generator) -> Array:
    """How far the difference of two distribution functions moves at its largest: counts [2, k] -> [resamples]."""
    moves = [rng.multinomial(row.sum(), row / row.sum(), resamples) / row.sum() - row / row.sum() for row in counts]
    largest: Array = np.abs((moves[0] - moves[1]).cumsum(axis=1)).max(axis=1)
    return largest


def _shares(strata: Sequence[Stratum], weights: npt.ArrayLike | None) -> Array:
    given = np.array([data.total for _, data in strata], float) if weights is None else np.asarray(weights, float)
    if not len(strata) or given.shape != (len(strata),) or not given.sum() > 0 or (given < 0).any():
        raise TextcriticError(f"KS test: {len(strata)} strata with weights {given}; give one of at least 0 for each")
    return given / given.sum()
