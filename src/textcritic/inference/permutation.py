"""Permutation test of the difference of a statistic between two sets of documents (Phipson and Smyth 2010)."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from textcritic.batches import batched
from textcritic.errors import TextcriticError
from textcritic.inference.bootstrap import chunk_sizes
from textcritic.inference.looks import in_looks, p_values
from textcritic.inference.statistics import Array, Statistic, checked_columns, distinct_rows
from textcritic.runlog import Progress

LEAST_TESTED = 4
"""The fewest documents of a set that is tested: two sets of three never differ at 5%, as 2 of 20 splits are 10%."""
# Above this many documents, equal rows are drawn together if a distinct row covers several documents: drawing the
# count of a row costs as much as drawing a few documents.
MANY_DOCUMENTS = 100_000
WORTH_GROUPING = 8
# From so many documents on, sets of nearly equal sizes are drawn by tossing a coin for each document.
MANY_COINS = 10_000
NEARLY = 0.02  # of all documents
# Sums of one chunk of tests: 4 million float64, 32 MB.
CHUNK_SUMS = 4_000_000


@dataclass(frozen=True)
class PermutationTest:
    """`difference` = statistic(first) - statistic(second), its two-sided `p`, and how p was computed.

    `splits` is the number of random splits, or of all of them if `exact`.
    """

    difference: float
    p: float
    splits: int
    exact: bool


def permutation_test(
    first: npt.ArrayLike, second: npt.ArrayLike, statistic: Statistic, resamples: int = 10_000, seed: int = 1
) -> PermutationTest:
    """Two-sided test that two sets of documents are drawn from one distribution.

    p is the share of splits of the pooled documents whose absolute difference is at least the observed one: of all
    splits if they are at most `resamples`, else `(b + 1) / (B + 1)` over B random splits, the observed one counted in,
    so that p is never 0. Differences equal up to rounding count as equal. Memory does not grow with the resamples.

    Args:
        first: [documents of the first set, k], e.g. (NLL, steps); finite.
        second: [documents of the second set, k].
        statistic: column sums [B, k] -> [B]. `ratio_of_sums` of (NLL, steps) tests the log Latent PPL, of
            `with_ones(x)` the mean.
        resamples: B.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: an empty set, values that are not finite, or no resamples.
    """
    one, two = checked_columns(first, "permutation test"), checked_columns(second, "permutation test")
    if resamples < 1:
        raise TextcriticError(f"permutation test: {resamples} resamples; give at least 1")
    pooled = np.concatenate([one, two])
    total = pooled.sum(axis=0)

    def difference(sums: Array) -> Array:
        return statistic(sums) - statistic(total - sums)

    observed = float(difference(one.sum(axis=0, keepdims=True))[0])
    # Sums of the same documents in another order differ in the last bits, of the statistics rather than the difference.
    size = np.abs(statistic(np.stack([one.sum(axis=0), two.sum(axis=0)]))).max()
    threshold = abs(observed) - 1e-12 * float(size)
    exact = few_splits(len(one), len(two), resamples)
    splits, rng = math.comb(len(pooled), len(one)) if exact else resamples, np.random.default_rng(seed)
    progress = Progress("permutation test", splits, "exchanges", brief=True)

    def reached(chunks: Iterable[Array]) -> Array:
        flags = []
        for sums in chunks:
            flags.append(np.abs(difference(sums)) >= threshold)
            progress.advance(len(sums))
        return np.concatenate(flags)

    if exact:
        return PermutationTest(observed, float(reached(_all_splits(pooled, len(one))).mean()), splits, exact)
    [(null, p)] = in_looks(
        lambda number: reached(_random_splits(pooled, len(one), number, rng))[:, None],
        lambda values: values.sum(axis=0),
        resamples,
    )
    return PermutationTest(observed, p, len(null), exact)


def permutation_p_values(
    first: npt.ArrayLike, second: npt.ArrayLike, statistic: Statistic, resamples: int = 999, seed: int = 1
) -> Array:
    """p-values of many tests of equal sizes at once, `(b + 1) / (B + 1)` as in `permutation_test`: [tests].

    All tests have the same random splits of their documents, so that sums over the splits are one matrix product. Each
    p-value is that of a permutation test; what the tests share is the Monte Carlo error alone.

    Args:
        first: [tests, documents of the first set, k].
        second: [tests, documents of the second set, k].
        statistic: as in `permutation_test`.
        resamples: B.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: other shapes, values that are not finite, or no resamples.
    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    alike = one.ndim == two.ndim == 3 and one.shape[::2] == two.shape[::2]
    if not alike or not one.shape[1] or not two.shape[1] or resamples < 1:
        raise TextcriticError(
            f"permutation tests: arrays of shapes {one.shape} and {two.shape}, {resamples} resamples; give [tests, "
            "documents, columns] with the same tests and columns, documents, and at least 1 resample"
        )
    pooled = np.concatenate([one, two], axis=1)
    if not np.isfinite(pooled).all():
        raise TextcriticError("permutation tests: infinite or missing values have no test; smooth the critic")
    documents, size = pooled.shape[1], min(one.shape[1], two.shape[1])
    rng = np.random.default_rng(seed)
    found = np.empty(len(pooled))
    splits = np.zeros((resamples, documents))
    for row in splits:
        row[rng.choice(documents, size, replace=False, shuffle=False)] = 1
    tests_each = max(1, CHUNK_SUMS // (resamples * pooled.shape[2]))
    for start in range(0, len(pooled), tests_each):
        some = slice(start, start + tests_each)
        total = pooled[some].sum(axis=1)
        ends = statistic(one[some].sum(axis=1)), statistic(two[some].sum(axis=1))
        observed = np.abs(ends[0] - ends[1])
        sums = np.stack([splits @ pooled[some, :, k].T for k in range(pooled.shape[2])], axis=-1)
        differences = np.abs(statistic(sums) - statistic(total - sums))
        threshold = observed - 1e-12 * np.maximum(*np.abs(ends))
        found[some] = p_values((differences >= threshold).sum(axis=0), resamples)
    return found


def few_splits(first: int, second: int, resamples: int) -> bool:
    """Whether there are at most `resamples` splits; for large sets the binomial is not computed."""
    log_splits = math.lgamma(first + second + 1) - math.lgamma(first + 1) - math.lgamma(second + 1)
    return log_splits < math.log(resamples) + 1 and math.comb(first + second, first) <= resamples


def _all_splits(pooled: Array, size: int) -> Iterator[Array]:
    """Column sums of every subset of `size` documents, in chunks: [chunk, k]."""
    subsets = combinations(range(len(pooled)), size)
    for chunk in batched(subsets, 10_000):
        yield pooled[np.array(chunk)].sum(axis=1)


def _random_splits(pooled: Array, size: int, resamples: int, rng: np.random.Generator) -> Iterator[Array]:
    """Column sums of random subsets of `size` documents, in chunks: [chunk, k]."""
    by_column = np.ascontiguousarray(pooled.T)
    if len(pooled) > MANY_DOCUMENTS:
        rows, counts = distinct_rows(pooled)
        if WORTH_GROUPING * len(rows) <= len(pooled):
            for chunk in chunk_sizes(resamples, len(rows)):
                yield rng.multivariate_hypergeometric(counts, size, chunk, method="marginals") @ rows
            return
    # The test is two-sided, so either side of a split may be the subset: the smaller one is drawn faster.
    size = min(size, len(pooled) - size)
    if len(pooled) >= MANY_COINS and len(pooled) - 2 * size <= NEARLY * len(pooled):
        for chunk in chunk_sizes(resamples, len(pooled)):
            yield _tossed_splits(pooled, size, chunk, rng)
        return
    for chunk in chunk_sizes(resamples, len(pooled)):
        subsets = np.stack([rng.choice(len(pooled), size, replace=False, shuffle=False) for _ in range(chunk)])
        yield np.stack([column[subsets].sum(axis=1) for column in by_column], axis=1)


def _tossed_splits(pooled: Array, size: int, splits: int, rng: np.random.Generator) -> Array:
    """Column sums of random subsets of `size` documents: [splits, k].

    A coin says of each document whether it is in the subset. Then as many are put in or taken out, at random, as are
    too few or too many: the subsets of the coins are equally likely among those of their size, and stay so.
    """
    coins = np.frombuffer(rng.bytes(splits * -(-len(pooled) // 8)), np.uint8).reshape(splits, -1)
    inside = np.unpackbits(coins, axis=1, count=len(pooled))
    sums: Array = inside @ pooled
    for row, missing in enumerate(size - inside.sum(axis=1, dtype=np.int64)):
        others = np.flatnonzero(inside[row] == (missing < 0))
        changed = rng.choice(others, abs(missing), replace=False, shuffle=False)
        sums[row] += np.sign(missing) * pooled[changed].sum(axis=0)
    return sums
