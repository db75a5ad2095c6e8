"""Percentile intervals by resampling documents (Efron and Tibshirani 1993, chapter 13)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.statistics import Array, Statistic, checked_columns, distinct_rows

# Index draws of one chunk: 4 million int64, 32 MB, whatever the number of documents and resamples.
CHUNK_DRAWS = 4_000_000
# Above this many documents, equal rows are drawn together if a distinct row stands for several documents: drawing the
# count of a row costs as much as drawing a few documents.
MANY_DOCUMENTS = 100_000
WORTH_GROUPING = 8


@dataclass(frozen=True)
class Interval:
    """A statistic of a set of documents and its interval."""

    estimate: float
    low: float
    high: float
    level: float
    resamples: int


def bootstrap_interval(
    columns: npt.ArrayLike, statistic: Statistic, resamples: int = 10_000, level: float = 0.95, seed: int = 1
) -> Interval:
    """Percentile interval of a statistic of column sums, documents drawn with replacement.

    The interval is that of `scipy.stats.bootstrap(method="percentile", paired=True)` with the same generator up to
    `MANY_DOCUMENTS` documents. Above, if most rows are equal, as with short chains, the counts of
    distinct rows are drawn from a multinomial: the same distribution, but other random numbers. Memory is bounded by
    `CHUNK_DRAWS`.

    Args:
        columns: [documents, k], e.g. (NLL, steps); finite.
        statistic: column sums [B, k] -> [B], e.g. `exp_ratio_of_sums`.
        resamples: B.
        level: of confidence.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: no documents, values that are not finite, no resamples, or a level outside (0, 1).
    """
    estimate, values = _sampled(columns, statistic, resamples, level, np.random.default_rng(seed))
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(estimate, float(low), float(high), level, resamples)


def bootstrap_difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    statistic: Statistic,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 1,
) -> Interval:
    """Percentile interval of `statistic(first) - statistic(second)`, the documents of each set drawn anew.

    The sets are independent. The interval is that of `scipy.stats.bootstrap(method="percentile", paired=False)`, as
    `bootstrap_interval` says.

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
    rng = np.random.default_rng(seed)
    one, two = (_sampled(columns, statistic, resamples, level, rng) for columns in (first, second))
    tail = (1 - level) / 2
    low, high = np.quantile(one[1] - two[1], [tail, 1 - tail])
    return Interval(one[0] - two[0], float(low), float(high), level, resamples)


def _sampled(
    columns: npt.ArrayLike, statistic: Statistic, resamples: int, level: float, rng: np.random.Generator
) -> tuple[float, Array]:
    """The statistic of a set of documents, and of each resample of it: [B]."""
    array = checked_columns(columns, "bootstrap")
    if resamples < 1 or not 0 < level < 1:
        raise TextcriticError(
            f"bootstrap: {resamples} resamples at level {level}; give at least 1, and a level inside (0, 1)"
        )
    values = np.concatenate([statistic(sums) for sums in _resampled_sums(array, resamples, rng)])
    return float(statistic(array.sum(axis=0, keepdims=True))[0]), values


def _resampled_sums(columns: Array, resamples: int, rng: np.random.Generator) -> Iterator[Array]:
    """Column sums of each resample, in chunks: [chunk, k]."""
    documents = len(columns)
    if documents > MANY_DOCUMENTS:
        rows, counts = distinct_rows(columns)
        if WORTH_GROUPING * len(rows) <= documents:
            for size in chunk_sizes(resamples, len(rows)):
                yield rng.multinomial(documents, counts / documents, size) @ rows
            return
    by_column = np.ascontiguousarray(columns.T)
    for size in chunk_sizes(resamples, documents):
        draws = rng.integers(0, documents, (size, documents))
        yield np.stack([column[draws].sum(axis=1) for column in by_column], axis=1)


def chunk_sizes(resamples: int, draws_each: int) -> Iterator[int]:
    """Numbers of resamples that add up to `resamples`, each of at most `CHUNK_DRAWS` draws (and at least one)."""
    size = max(1, CHUNK_DRAWS // draws_each)
    for start in range(0, resamples, size):
        yield min(size, resamples - start)
