"""Tests of one-dimensional quantities on histograms: Kolmogorov-Smirnov distances and differences of means.

Meister and Cotterell 2021, sections 4.1 and 4.2, appendix B. Documents with equal values are exchanged together: how
many of them fall into each set is drawn, never which. A million documents cost as much as their distinct values.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.bootstrap import Interval, chunk_sizes
from textcritic.inference.histograms import Counts, Histogram, on_common_values
from textcritic.inference.jackknife import t_interval
from textcritic.inference.looks import in_looks
from textcritic.inference.statistics import Array

# numpy draws hypergeometric counts of fewer items than this.
HYPERGEOMETRIC_LIMIT = 1_000_000_000
# Distances of one pair of sets, added up in another order, differ by less.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class KsTest:
    """A Kolmogorov-Smirnov distance and how much of it is chance.

    Attributes:
        distance: largest absolute difference of the two distribution functions, 0 to 1.
        at: the value where it is attained, the first of several; of `ks_fit_test` the index of the category.
        p: `(b + 1) / (B + 1)`, b of B resamples under the null hypothesis being at least as far apart; of fewer where
            it is clearly not small, see `looks`.
        null: float64 [resamples], distances under the null hypothesis.
    """

    distance: float
    at: float
    p: float
    null: Array

    @property
    def resamples(self) -> int:
        """B."""
        return len(self.null)

    @property
    def chance(self) -> float:
        """Mean distance under the null hypothesis."""
        return float(self.null.mean())


@dataclass(frozen=True, eq=False)
class MeanTest:
    """A difference of means, `mean(first) - mean(second)`, its interval and its permutation test.

    Attributes:
        difference: in the units of the values.
        low, high: interval of Student's t with Welch's degrees of freedom; NaN where a set is a single document.
        level: of the interval.
        p: two-sided, `(b + 1) / (B + 1)`; see `looks`.
        p_as_printed: of Algorithm 1 in appendix B as it is printed, see `mean_test`.
        null: float64 [resamples], differences of random splits, for a picture of the permutation distribution.
    """

    difference: float
    low: float
    high: float
    level: float
    p: float
    p_as_printed: float
    null: Array

    @property
    def resamples(self) -> int:
        """Number of random splits."""
        return len(self.null)


def ks_distance(first: Histogram, second: Histogram) -> tuple[float, float]:
    """Largest absolute difference of two distribution functions (Eq. 10), and the first value where it is attained.

    It is `scipy.stats.ks_2samp(...).statistic`. Two equal histograms are 0 apart, at their first value.

    Raises:
        TextcriticError: a histogram is empty.
    """
    values, counts = on_common_values(first, second)
    gaps = _gaps(counts[:1], counts.sum(axis=0))[0]
    at = int(gaps.argmax())
    return float(gaps[at] / (float(first.total) * second.total)), float(values[at])


def ks_test(first: Histogram, second: Histogram, resamples: int = 1000, seed: int = 1) -> KsTest:
    """Two-sample Kolmogorov-Smirnov test by permutation of documents, which holds its level with ties too.

    The distribution is that of R's `ks.test(simulate.p.value = TRUE)`. Differences of distribution functions are
    compared as integers, so that equal distances count as equal.

    Args:
        first: of the samples.
        second: of the data.
        resamples: B, random splits of the documents of both sets, at most (`looks`).
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: a histogram is empty, or no resamples.
    """
    distance, at = ks_distance(first, second)
    counts = on_common_values(first, second)[1]
    pooled, rng = counts.sum(axis=0), np.random.default_rng(seed)
    observed = _gaps(counts[:1], pooled).max()

    def draw(number: int) -> Array:
        chunks = split_counts(pooled, first.total, number, rng)
        return np.concatenate([_gaps(chunk, pooled).max(axis=1) for chunk in chunks])[:, None]

    [(null, p)] = in_looks(draw, lambda values: (values >= observed).sum(axis=0), _checked(resamples, "KS test"))
    return KsTest(distance, at, p, null / (float(first.total) * second.total))


def ks_interval(
    first: Histogram, second: Histogram, resamples: int = 1000, level: float = 0.95, seed: int = 1
) -> Interval:
    """KS distance and its interval: how far two sets are apart at least, and at most (equivalence).

    Documents of each set are drawn with replacement. The interval reaches as far as the difference of the two
    distribution functions moves anywhere, at its largest, in the share `level` of resamples: what moves that little
    everywhere moves its maximum no further. It holds the distance of the two distributions at least as often as
    `level` says, and also where they are equal, as intervals from percentiles of the distance do not: these are never
    below chance.

    Args:
        first: of the samples.
        second: of the data.
        resamples: of the bootstrap.
        level: of confidence.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: a histogram is empty, no resamples, or a level outside (0, 1).
    """
    if not 0 < level < 1:
        raise TextcriticError(f"KS interval: level {level}; give one inside (0, 1)")
    distance, _ = ks_distance(first, second)
    counts = on_common_values(first, second)[1]
    shares = counts / counts.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(seed)
    moved = []
    for size in chunk_sizes(_checked(resamples, "KS interval"), len(shares[0])):
        drawn = [rng.multinomial(one.sum(), p, size) / one.sum() - p for one, p in zip(counts, shares, strict=True)]
        moved.append(np.abs((drawn[0] - drawn[1]).cumsum(axis=1)).max(axis=1))
    reach = float(np.quantile(np.concatenate(moved), level))
    return Interval(distance, max(0.0, distance - reach), min(1.0, distance + reach), level, resamples)


def ks_fit_test(counts: npt.ArrayLike, probabilities: npt.ArrayLike, resamples: int = 1000, seed: int = 1) -> KsTest:
    """One-sample Kolmogorov-Smirnov test of a discrete distribution by Monte Carlo (Wood and Altavela 1978).

    The null hypothesis names the distribution. If its parameters were estimated from the same counts, the distance is
    smaller than that of a distribution named beforehand, and the p-value is too large (Lilliefors 1967): a small one
    still says that the distribution does not fit.

    Args:
        counts: [k], observations in each category, in the order of the distribution function.
        probabilities: [k], of each category under the null hypothesis; they add up to 1. Of a distribution without
            end, the last category is all that follows.
        resamples: B, samples of as many observations, at most (`looks`).
        seed: of `numpy.random.default_rng`.

    Returns:
        The test; `at` is the index of the category at whose end the distance is attained.

    Raises:
        TextcriticError: shapes that differ, no observations, negative counts, probabilities that are negative, not
            finite or do not add up to 1, or no resamples.
    """
    seen, expected = _checked_fit(counts, probabilities)
    total = int(seen.sum())
    distribution = expected.cumsum()
    gaps = np.abs(seen.cumsum() / total - distribution)
    at = int(gaps.argmax())
    distance = float(gaps[at])
    rng = np.random.default_rng(seed)

    def draw(number: int) -> Array:
        samples = (rng.multinomial(total, expected, size) for size in chunk_sizes(number, len(seen)))
        largest = [np.abs(sample.cumsum(axis=1) / total - distribution).max(axis=1) for sample in samples]
        return np.concatenate(largest)[:, None]

    [(null, p)] = in_looks(
        draw, lambda values: (values >= distance - ROUNDING).sum(axis=0), _checked(resamples, "KS test")
    )
    return KsTest(distance, float(at), p, null)


def mean_test(
    first: Histogram, second: Histogram, resamples: int = 1000, level: float = 0.95, seed: int = 1
) -> MeanTest:
    """Difference of means of two sets of documents, with an interval and a permutation test (section 4.1).

    `p` is two-sided. `p_as_printed` follows Algorithm 1 of appendix B to the letter, for comparison only: the share of
    splits whose absolute difference is at least the observed one *with its sign*. It is 1 where the first mean is the
    smaller one; and as the observed split is not counted in, it can be 0. (The mean over all splits, which the
    algorithm subtracts on both sides, is 0 for a difference of means.)

    Args:
        first: of the samples.
        second: of the data.
        resamples: B, random splits, at most (`looks`).
        level: of confidence.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: a histogram is empty, no resamples, or a level outside (0, 1).
    """
    if not 0 < level < 1:
        raise TextcriticError(f"mean test: level {level}; give one inside (0, 1)")
    values, counts = on_common_values(first, second)
    pooled, sizes = counts.sum(axis=0), (first.total, second.total)
    splits = np.random.default_rng(seed)
    # Around a middle value, so that large values with small differences keep their digits.
    centred = values - pooled @ values / pooled.sum()
    difference = float(counts[0] @ centred / sizes[0] - counts[1] @ centred / sizes[1])
    tolerance = ROUNDING * float(np.abs(centred).max())

    def draw(number: int) -> Array:
        sums = np.concatenate([chunk @ centred for chunk in split_counts(pooled, sizes[0], number, splits)])
        return (sums / sizes[0] - (pooled @ centred - sums) / sizes[1])[:, None]

    def extreme(values: Array) -> Array:
        return (np.abs(values) >= abs(difference) - tolerance).sum(axis=0)

    [(null, p)] = in_looks(draw, extreme, _checked(resamples, "mean test"))
    as_printed = float((np.abs(null) >= difference - tolerance).mean())
    errors = [one.variance / one.total for one in (first, second)]
    freedom = sum(errors) ** 2 / max(sum(e**2 / max(n - 1, 1) for e, n in zip(errors, sizes, strict=True)), 1e-300)
    low, high = t_interval(difference, sum(errors), freedom + 1, level)
    return MeanTest(difference, float(low), float(high), level, p, as_printed, null)


def split_counts(counts: Counts, size: int, resamples: int, rng: np.random.Generator) -> Iterator[Counts]:
    """How many documents with each value are among `size` random ones, in chunks: int64 [chunk, k].

    That is the multivariate hypergeometric distribution.
    """
    if counts.sum() < HYPERGEOMETRIC_LIMIT:
        for chunk in chunk_sizes(resamples, len(counts)):
            yield rng.multivariate_hypergeometric(counts, size, chunk, method="marginals")
    else:
        for _ in range(resamples):
            yield _large_split(counts, size, rng)[None]


def _large_split(counts: Counts, size: int, rng: np.random.Generator) -> Counts:
    """As `split_counts`, one resample, of any number of documents.

    Each document is taken with probability size / documents, then random ones are added or dropped until there are
    `size`. All sets of one size are equally likely at each step, so they are in the end.
    """
    taken = rng.binomial(counts, size / counts.sum())
    surplus = int(taken.sum()) - size
    among = taken if surplus > 0 else counts - taken
    ends = among.cumsum()
    places = rng.choice(int(ends[-1]), abs(surplus), replace=False, shuffle=False)
    moved = np.bincount(np.searchsorted(ends, places, side="right"), minlength=len(counts))
    split: Counts = taken - int(np.sign(surplus)) * moved
    return split


def _gaps(first: Counts, pooled: Counts) -> npt.NDArray[np.int64 | np.float64]:
    """`|F1 - F2| n1 n2` after each value, exact integers unless they would overflow: [B, k], [k] -> [B, k].

    With C the cumulative counts of both sets, `F1 - F2 = (C1 N - C n1) / (n1 n2)`.
    """
    size, total = int(first[0].sum()), int(pooled.sum())
    kind = np.int64 if size * total < 2**62 else np.float64
    return np.abs(first.cumsum(axis=1).astype(kind) * total - pooled.cumsum().astype(kind) * size)


def _checked(resamples: int, what: str) -> int:
    if resamples < 1:
        raise TextcriticError(f"{what}: {resamples} resamples; give at least 1")
    return resamples


def _checked_fit(counts: npt.ArrayLike, probabilities: npt.ArrayLike) -> tuple[Counts, Array]:
    seen, expected = np.asarray(counts), np.asarray(probabilities, dtype=np.float64)
    if seen.ndim != 1 or seen.shape != expected.shape or not seen.size:
        raise TextcriticError(f"KS test: {seen.shape} counts and {expected.shape} probabilities; give as many")
    if (seen < 0).any() or not seen.sum() > 0:
        raise TextcriticError("KS test: no observations, or a negative count; give counts, some of them above 0")
    whole = expected.sum()
    if not (expected >= 0).all() or not math.isclose(whole, 1, rel_tol=1e-9):
        raise TextcriticError(
            f"KS test: probabilities that add up to {whole}, or are negative; give all categories, all that follows "
            "the last one included"
        )
    return seen.astype(np.int64), expected / whole
