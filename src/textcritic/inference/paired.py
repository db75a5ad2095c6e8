"""Tests of pairs: documents that belong together (permutations), and two ways to judge the same ones (McNemar 1947)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.bootstrap import chunk_sizes
from textcritic.inference.clusters import Groups, are_grouped, unit_sums
from textcritic.inference.looks import p_values
from textcritic.inference.permutation import PermutationTest
from textcritic.inference.statistics import Array, Statistic, checked_columns, ratio_of_sums, with_ones

# Differences of the same documents, summed in another order, differ by less than this share of the statistics.
ROUNDING = 1e-12


def paired_permutation_test(
    first: npt.ArrayLike, second: npt.ArrayLike, statistic: Statistic, resamples: int = 10_000, seed: int = 1
) -> PermutationTest:
    """Two-sided test that the two documents of each pair can be exchanged (Fisher 1935, section 21).

    Document i of both sets belongs to the same item (translations of one sentence). What the pairs have in common is
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
    p = extreme / number if exact else float(p_values(extreme, number))
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


@dataclass(frozen=True)
class McNemarTest:
    """How many documents the first alone and the second alone judged right, and the two-sided p-value."""

    first_alone: int
    second_alone: int
    p: float


def mcnemar_test(
    first: npt.ArrayLike, second: npt.ArrayLike, groups: Groups = None, resamples: int = 10_000, seed: int = 1
) -> McNemarTest:
    """McNemar's exact test of two judges of the same documents, as of accuracy.

    Documents that both or neither judged right say nothing of a difference. Of the others each judge is alone right in
    half under the null hypothesis: p is binomial. It is the test of all exchanges of the two judges' answers to a
    document; where documents belong together, the answers to a whole group are exchanged (`paired_permutation_test`).

    Args:
        first: [documents], whether the first judged each right.
        second: [documents], the same of the second.
        groups: of the documents.
        resamples: exchanges of groups.
        seed: of these.

    Raises:
        TextcriticError: no documents, or another number of them on one side.
    """
    one, two = np.asarray(first, bool), np.asarray(second, bool)
    if one.ndim != 1 or one.shape != two.shape or not len(one):
        raise TextcriticError(f"McNemar's test: {one.shape} and {two.shape} documents; give the same ones twice")
    alone = int((one & ~two).sum()), int((two & ~one).sum())
    if are_grouped(groups):
        sums, other_sums = (unit_sums(with_ones(right), groups) for right in (one, two))
        return McNemarTest(*alone, paired_permutation_test(sums, other_sums, ratio_of_sums, resamples, seed).p)
    return McNemarTest(*alone, _binomial(min(alone), sum(alone)))


def _binomial(fewer: int, trials: int) -> float:
    """Two-sided p of so few heads in fair trials."""
    if not trials:
        return 1.0
    from scipy.special import bdtr  # takes long to load, and few jobs need it

    return min(1.0, 2 * float(bdtr(fewer, trials, 0.5)))
