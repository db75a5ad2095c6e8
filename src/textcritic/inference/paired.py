"""Permutation test of the difference of a statistic between two sets of documents that belong together in pairs."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.bootstrap import chunk_sizes
from textcritic.inference.permutation import PermutationTest
from textcritic.inference.statistics import Array, Statistic, checked_columns

# Differences of the same documents, summed in another order, differ by less than this share of the statistics.
ROUNDING = 1e-12


def paired_permutation_test(
    first: npt.ArrayLike, second: npt.ArrayLike, statistic: Statistic, resamples: int = 10_000, seed: int = 1
) -> PermutationTest:
    """Two-sided test that the two documents of each pair can be exchanged (Fisher 1935, section 21).

    Document i of both sets stands for the same thing (translations of one sentence). What the pairs have in common is
    no sign of a difference, and hides none. Each exchange swaps the documents of some pairs. p is the share of the
    exchanges whose absolute difference is at least the observed one: of all exchanges if they are at most `resamples`,
    else `(b + 1) / (B + 1)` over B random ones, as in `permutation_test`. The test is exact.

    Args:
        first: [pairs, k], e.g. (words of another language, words); finite.
        second: [pairs, k], in the same order.
        statistic: column sums [B, k] -> [B], e.g. `ratio_of_sums`.
        resamples: B.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: no pairs, sets that cannot be paired, values that are not finite, or no resamples.
    """
    one, two = checked_columns(first, "paired test"), checked_columns(second, "paired test")
    if one.shape != two.shape:
        raise TextcriticError(
            f"paired test: {len(one)} and {len(two)} documents cannot be paired; give as many of each"
        )
    if resamples < 1:
        raise TextcriticError(f"paired test: {resamples} resamples; give at least 1")
    total, apart = one.sum(axis=0) + two.sum(axis=0), one - two
    ends = statistic(np.stack([one.sum(axis=0), two.sum(axis=0)]))
    observed = float(ends[0] - ends[1])
    # To exchange all pairs only changes the sign: the last one always stays.
    exact = 2 ** min(len(one) - 1, 64) <= resamples
    exchanges = _all_signs(len(one)) if exact else _random_signs(len(one), resamples, np.random.default_rng(seed))
    threshold = abs(observed) - ROUNDING * float(np.abs(ends).max())
    extreme, number = 0, 0
    for signs in exchanges:
        sums = (total + signs @ apart) / 2
        extreme += int((np.abs(statistic(sums) - statistic(total - sums)) >= threshold).sum())
        number += len(signs)
    p = extreme / number if exact else (extreme + 1) / (number + 1)
    return PermutationTest(observed, p, number, exact)


def _all_signs(pairs: int) -> Iterator[Array]:
    """1 where a pair stays and -1 where it is exchanged, every way once, in chunks: [chunk, pairs]."""
    numbers = np.arange(2 ** (pairs - 1))
    start = 0
    for size in chunk_sizes(len(numbers), pairs):
        exchanged = numbers[start : start + size, None] >> np.arange(pairs) & 1
        yield np.where(exchanged, -1.0, 1.0)
        start += size


def _random_signs(pairs: int, resamples: int, rng: np.random.Generator) -> Iterator[Array]:
    for size in chunk_sizes(resamples, pairs):
        yield np.where(rng.integers(0, 2, (size, pairs), dtype=np.int8), -1.0, 1.0)
