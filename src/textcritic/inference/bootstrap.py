"""Intervals by resampling documents: the studentised bootstrap (bootstrap-t; Efron and Tibshirani 1993, section 12.5).

Percentile intervals of 20 to 100 documents are too narrow, the more so the more skewed the documents are: 82% to 92% of
those of 20 documents cover the truth (docs/results/calibration.md). Each resample is therefore measured in standard
errors of its own, which come from the delta method, so that no second bootstrap is needed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.jackknife import t_interval
from textcritic.inference.statistics import Array, Statistic, checked_columns, exp_ratio_of_sums, ratio_of_sums
from textcritic.runlog import Progress

# Index draws of one chunk: 4 million int64, 32 MB, whatever the number of documents and resamples.
CHUNK_DRAWS = 4_000_000
MANY_DOCUMENTS = 10_000
"""Above, no document weighs enough to skew the distribution: the interval is Student's, without resampling."""
LEAST_UNITS = 20
"""Fewer documents (or groups of documents) have no interval: its coverage could not be relied on."""
TOO_FEW = f"no interval of fewer than {LEAST_UNITS}"
NO_SPREAD = "no interval, as all documents have the same value"
STEP = 1e-6  # of a numeric derivative, as a share of the column's sum
ROUNDING = 1e-7  # standard errors below this share of the statistic are rounding


@dataclass(frozen=True)
class Interval:
    """A statistic of a set of documents and its interval.

    `low` and `high` are None where there is no interval, and `reason` says why.
    """

    estimate: float
    low: float | None
    high: float | None
    level: float
    resamples: int
    reason: str = ""

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends; NaN where there are none."""
        return (np.nan, np.nan) if self.low is None or self.high is None else (self.low, self.high)

    def times(self, factor: float) -> "Interval":
        """The same in another unit, e.g. `times(100)` of a share in percent."""
        low, high = (None if end is None else factor * end for end in (self.low, self.high))
        return replace(self, estimate=factor * self.estimate, low=low, high=high)

    def of_share(self) -> "Interval":
        """The same of a share: no end is below 0 or above 1."""
        low, high = (None if end is None else min(max(end, 0.0), 1.0) for end in (self.low, self.high))
        return replace(self, low=low, high=high)


def bootstrap_interval(
    columns: npt.ArrayLike, statistic: Statistic, resamples: int = 10_000, level: float = 0.95, seed: int = 1
) -> Interval:
    """Studentised bootstrap interval of a statistic of column sums, documents drawn with replacement.

    The interval of `exp_ratio_of_sums` is that of the exponent, whose ends are exponentiated. Where so many resamples
    have no spread that an end would be infinite (shares of something rare), the interval is Student's, on the log scale
    if the statistic is positive. Ends of a ratio of sums are not negative where no document has a negative value. Above
    `MANY_DOCUMENTS` it is Student's. Memory is bounded by `CHUNK_DRAWS`.

    Args:
        columns: [documents, k], e.g. (NLL, steps); finite. Documents that depend on each other are summed up first.
        statistic: column sums [B, k] -> [B], e.g. `exp_ratio_of_sums`; smooth, and all sums times a number give
            the same value.
        resamples: B.
        level: of confidence.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: no documents, values that are not finite, no resamples, or a level outside (0, 1).
    """
    return _interval([columns], statistic, resamples, level, seed)


def bootstrap_difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    statistic: Statistic,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 1,
) -> Interval:
    """Studentised bootstrap interval of `statistic(first) - statistic(second)`, the documents of both sets resampled.

    The sets are independent. There is no interval where one of them has fewer than `LEAST_UNITS` documents.

    Args:
        first: [documents of the first set, k]; finite.
        second: [documents of the second set, k].
        statistic: column sums [B, k] -> [B].
        resamples: B.
        level: of confidence.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: as `bootstrap_interval`.
    """
    return _interval([first, second], statistic, resamples, level, seed)


def linearised(columns: Array, statistic: Statistic) -> tuple[float, float]:
    """A statistic of column sums and its standard error over documents, by the delta method.

    Args:
        columns: [documents, k], at least two documents.
        statistic: column sums [B, k] -> [B].
    """
    value, error = _studentised(*_sums_and_products(columns), len(columns), statistic)
    return float(value[0]), float(error[0])


def _interval(sets: Sequence[npt.ArrayLike], statistic: Statistic, resamples: int, level: float, seed: int) -> Interval:
    """Of a statistic of one set, or of its difference between two."""
    arrays = [checked_columns(columns, "bootstrap") for columns in sets]
    if resamples < 1 or not 0 < level < 1:
        raise TextcriticError(
            f"bootstrap: {resamples} resamples at level {level}; give at least 1, and a level inside (0, 1)"
        )
    exponential = statistic is exp_ratio_of_sums and len(arrays) == 1
    scale: Statistic = ratio_of_sums if exponential else statistic
    values = [float(statistic(array.sum(axis=0, keepdims=True))[0]) for array in arrays]
    estimate = values[0] - sum(values[1:])
    fewest = min(len(array) for array in arrays)
    if fewest < LEAST_UNITS:
        return Interval(estimate, None, None, level, resamples, TOO_FEW)
    parts = [linearised(array, scale) for array in arrays]
    middle, error = _difference(*([np.array([number]) for number in part] for part in zip(*parts, strict=True)))
    if not error[0] > ROUNDING * max(abs(value) for value, _ in parts):
        return Interval(estimate, None, None, level, resamples, NO_SPREAD)
    low, high = np.nan, np.nan
    if max(len(array) for array in arrays) <= MANY_DOCUMENTS:
        drawn = _resampled(arrays, scale, resamples, seed)
        low, high = _studentised_ends((middle[0], error[0]), _difference(*zip(*drawn, strict=True)), level)
    if not np.isfinite([low, high]).all():
        low, high = _t_ends(middle[0], error[0], fewest, level)
    if len(arrays) == 1 and scale is ratio_of_sums and (arrays[0] >= 0).all():
        low = max(low, 0.0)
    if exponential:
        low, high = np.exp(low), np.exp(high)
    return Interval(estimate, float(low), float(high), level, resamples)


def _difference(values: Sequence[Array], errors: Sequence[Array]) -> tuple[Array, Array]:
    """First minus second, if there is a second, and its standard error."""
    difference = values[0] - values[1] if len(values) > 1 else values[0]
    return difference, np.sqrt(sum(error**2 for error in errors))


def _studentised_ends(found: tuple[float, float], drawn: tuple[Array, Array], level: float) -> tuple[float, float]:
    """`estimate - t error` at both quantiles of t over resamples; infinite where too many resamples have no spread."""
    estimate, error = found
    values, errors = drawn
    spread = errors > ROUNDING * np.maximum(np.abs(values), error)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(spread, (values - estimate) / errors, np.copysign(np.inf, values - estimate))
    tail = (1 - level) / 2
    # Between two infinite values an interpolated quantile is NaN.
    upper, lower = np.quantile(t, [1 - tail, tail], method="inverted_cdf")
    return float(estimate - upper * error), float(estimate - lower * error)


def _t_ends(estimate: float, error: float, units: int, level: float) -> tuple[float, float]:
    """Student's interval; of a positive estimate on the log scale."""
    if estimate <= 0:
        low, high = t_interval(estimate, error**2, units, level)
        return float(low), float(high)
    low, high = t_interval(np.log(estimate), (error / estimate) ** 2, units, level)
    return float(np.exp(low)), float(np.exp(high))


def _resampled(sets: Sequence[Array], statistic: Statistic, resamples: int, seed: int) -> list[tuple[Array, Array]]:
    """The statistic of each resample of each set, and its standard error: [B], [B]."""
    sizes, k = tuple(map(len, sets)), sets[0].shape[1]
    if max(sizes) * resamples <= CHUNK_DRAWS:
        times = [_times_drawn(sizes[: place + 1], resamples, seed) for place in range(len(sizes))]
        sums = [own @ _with_products(columns) for own, columns in zip(times, sets, strict=True)]
    else:
        rng = np.random.default_rng(seed)
        sums = [_drawn_sums(_with_products(columns), resamples, rng) for columns in sets]
    return [_studentised(s[:, :k], s[:, k:], size, statistic) for s, size in zip(sums, sizes, strict=True)]


@lru_cache(maxsize=4)
def _times_drawn(sizes: tuple[int, ...], resamples: int, seed: int) -> Array:
    """How often each document of the last of sets of these sizes is drawn in each resample: [B, documents].

    A table has hundreds of intervals over the same documents, which are drawn alike for all.
    """
    rng = np.random.default_rng(seed)
    for before in sizes[:-1]:
        rng.integers(0, before, (resamples, before))
    return times_drawn(sizes[-1], resamples, rng)


def times_drawn(documents: int, resamples: int, rng: np.random.Generator) -> Array:
    """How often each document is drawn, with replacement, in each resample: [B, documents]."""
    draws = rng.integers(0, documents, (resamples, documents))
    draws += documents * np.arange(resamples)[:, None]
    times = np.bincount(draws.ravel(), minlength=documents * resamples)
    return times.reshape(resamples, documents).astype(np.float64)


def _drawn_sums(columns: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Sums of columns [documents, m] over the documents of each resample: [B, m]."""
    documents, by_column, parts = len(columns), np.ascontiguousarray(columns.T), []
    progress = Progress("bootstrap", resamples, "resamples", brief=True)
    for size in chunk_sizes(resamples, documents):
        draws = rng.integers(0, documents, (size, documents))
        parts.append(np.stack([column[draws].sum(axis=1) for column in by_column], axis=1))
        progress.advance(size)
    return np.concatenate(parts)


def _studentised(sums: Array, products: Array, documents: int, statistic: Statistic) -> tuple[Array, Array]:
    """A statistic and its standard error by the delta method, of many sets of so many documents.

    Args:
        sums: of the columns: [B, k].
        products: sums of the products of each two columns, as `_with_products` orders them: [B, k (k + 1) / 2].
        documents: in each set.
        statistic: [B, k] -> [B].
    """
    k = sums.shape[1]
    gradient = np.stack([_derivative(statistic, sums, column) for column in range(k)], axis=1)
    variance = np.zeros(len(sums))
    for place, (i, j) in enumerate(combinations_with_replacement(range(k), 2)):
        covariance = products[:, place] - sums[:, i] * sums[:, j] / documents
        variance += (1 if i == j else 2) * gradient[:, i] * gradient[:, j] * covariance
    return statistic(sums), np.sqrt(np.maximum(variance, 0) * documents / (documents - 1))


def _derivative(statistic: Callable[[Array], Array], sums: Array, column: int) -> Array:
    """Of the statistic by one of the sums: [B]."""
    step = STEP * np.maximum(np.abs(sums[:, column]), np.abs(sums).max(axis=1) * STEP)
    step[step == 0] = STEP
    ends = []
    for sign in (1, -1):
        moved = sums.copy()
        moved[:, column] += sign * step
        ends.append(statistic(moved))
    derivative: Array = (ends[0] - ends[1]) / (2 * step)
    return derivative


def _with_products(columns: Array) -> Array:
    """The columns, then the products of each two of them: [documents, k + k (k + 1) / 2]."""
    pairs = combinations_with_replacement(range(columns.shape[1]), 2)
    return np.column_stack([columns, *(columns[:, i] * columns[:, j] for i, j in pairs)])


def _sums_and_products(columns: Array) -> tuple[Array, Array]:
    sums = _with_products(columns).sum(axis=0, keepdims=True)
    return sums[:, : columns.shape[1]], sums[:, columns.shape[1] :]


def chunk_sizes(resamples: int, draws_each: int) -> Iterator[int]:
    """Numbers of resamples that add up to `resamples`, each of at most `CHUNK_DRAWS` draws (and at least one)."""
    size = max(1, CHUNK_DRAWS // draws_each)
    for start in range(0, resamples, size):
        yield min(size, resamples - start)
