"""The difference of a statistic between two sets of documents: a test by exchanging groups, an interval, a jackknife.

Some statistics depend on how much text they are made of: of two sets from one source, the larger one has another value.
Exchanging groups keeps the sizes of the sets, so that the mean over exchanges is what their sizes alone make of the
difference. It is taken off, and p is right whatever the sizes are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.inference.group_sizes import Sizes
from textcritic.inference.groups import ROUNDING, exchanges, left_out
from textcritic.inference.jackknife import jackknife_variance, t_interval
from textcritic.inference.looks import CLEAR
from textcritic.inference.statistics import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SumsStatistic: TypeAlias = Callable[["csr_matrix", Array, Array], Array]
"""Sums [columns, groups], and which groups are in the first and in the second set [groups, B] -> differences [B]."""


@dataclass(frozen=True, eq=False)
class DifferenceTest:
    """A difference of two sets of documents, first minus second, less what their sizes alone make of it.

    Attributes:
        difference: see `group_difference`.
        low, high: its interval; NaN where a set is a single group.
        p: two-sided, over exchanges of groups.
        by_size: what was taken off; 0 of sets of one size.
        null: float64, differences of the exchanges, `by_size` taken off too.
    """

    difference: float
    low: float
    high: float
    p: float
    by_size: float
    null: Array


def group_difference(
    first: "csr_matrix",
    second: "csr_matrix",
    statistic: SumsStatistic,
    sizes: Sizes | None = None,
    resamples: int = 1000,
    seed: int = 1,
) -> DifferenceTest:
    """The difference of a statistic of sums over documents, with a permutation test and a 95% interval.

    Groups of documents are exchanged as by `group_permutation`. The interval is of Student's t, with the standard error
    of leaving out each group of each set in turn, and the degrees of freedom of Welch (1947).

    Args:
        first: [groups of the first set, columns], sums over the documents of each group.
        second: [groups of the second set, columns].
        statistic: makes the differences, first minus second, of B pairs of sets of groups.
        sizes: number of documents in each group of the first and of the second set; None: all groups have as many.
        resamples: B, random exchanges at most (`looks`); if there are only B or fewer, all are made.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: as `group_permutation`; the statistic cannot be computed (NaN).
    """
    from scipy.sparse import vstack

    permuted = exchanges(first, second, sizes, resamples, seed)
    sums = vstack([permuted.one.matrix, permuted.two.matrix]).T.tocsr()
    alike = permuted.number[0] == permuted.number[1]

    def test(values: Array) -> tuple[float, float, Array]:
        """The p-value, what the sizes make of the difference, and differences of exchanges without it."""
        null = permuted.at_size(values[1:])
        # Of as many groups on both sides, an exchange and its opposite have differences of opposite signs.
        by_size = 0.0 if alike else float(null.mean())
        null = null - by_size
        return permuted.p(np.abs(null) >= abs(values[0] - by_size) * (1 - ROUNDING)), by_size, null

    values = permuted.in_looks(lambda inside: statistic(sums, inside, 1 - inside), lambda some: test(some)[0] > CLEAR)
    p, by_size, null = test(values)
    whole, variance, freedom = _jackknife(first, second, statistic)
    if not np.isfinite([whole, *null]).all():
        raise TextcriticError("difference: it cannot be computed for some exchange of documents; give more text")
    low, high = t_interval(whole - by_size, variance, freedom + 1)
    return DifferenceTest(whole - by_size, float(low), float(high), p, by_size, null)


def _jackknife(first: "csr_matrix", second: "csr_matrix", statistic: SumsStatistic) -> tuple[float, float, float]:
    """The difference of all groups, its variance, NaN of a single group, and Welch's degrees of freedom."""
    from scipy.sparse import vstack

    number = first.shape[0], second.shape[0]
    inside, outside = left_out(*number)
    columns = np.arange(inside.shape[1]) if min(number) > 1 else [0]
    values = statistic(vstack([first, second]).T.tocsr(), inside[:, columns], outside[:, columns])
    if min(number) == 1:
        return float(values[0]), np.nan, np.nan
    parts = [float(jackknife_variance(part)) for part in np.split(values[1:], [number[0]])]
    spread = sum(part**2 / (groups - 1) for part, groups in zip(parts, number, strict=True))
    return float(values[0]), sum(parts), sum(parts) ** 2 / spread if spread > 0 else min(number) - 1
