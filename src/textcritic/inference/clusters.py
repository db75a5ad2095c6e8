"""Documents that belong together, such as the chapters of a book, are one unit of every interval and test.

The statistics are of column sums, so that resampling groups as one is resampling the sums over each group: a cluster
bootstrap is `bootstrap_interval(unit_sums(columns, groups), statistic)` (Davison and Hinkley 1997, section 3.8).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.bootstrap import LEAST_UNITS
from textcritic.inference.jackknife import jackknife_variance
from textcritic.inference.permutation import PermutationTest, permutation_test
from textcritic.inference.statistics import Array, Statistic, checked_columns

Groups: TypeAlias = Sequence[str | None] | None
"""[documents], the group of each document; None for one that is alone. None: all are alone."""


@dataclass(frozen=True)
class ClusterTest:
    """`difference` = statistic(first) - statistic(second), its two-sided `p`, and why there is none.

    `units` are those of the first and of the second set; `p` is None where `reason` says something.
    """

    difference: float
    p: float | None
    units: tuple[int, int]
    reason: str = ""


def two_sample_test(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    statistic: Statistic,
    groups: tuple[Groups, Groups],
    resamples: int = 10_000,
    seed: int = 1,
) -> PermutationTest | ClusterTest:
    """The permutation test of two sets of documents; where documents of a set belong together, `cluster_test`."""
    if any(map(are_grouped, groups)):
        return cluster_test(first, second, statistic, groups)
    return permutation_test(first, second, statistic, resamples, seed)


def are_grouped(groups: Groups) -> bool:
    """Whether two documents at least are of one group."""
    named = [group for group in groups or () if group is not None]
    return len(set(named)) < len(named)


def cluster_test(
    first: npt.ArrayLike, second: npt.ArrayLike, statistic: Statistic, groups: tuple[Groups, Groups]
) -> ClusterTest:
    """Two-sided t-test of the difference between two sets, where documents that belong together are one unit.

    Groups cannot be exchanged with single documents, so that there is no permutation test. The variance of each
    statistic is that of leaving out each unit in turn (Efron and Tibshirani 1993, chapter 11); the degrees of freedom
    are Welch's, with the effective number of units `(sum n)^2 / sum n^2` of units of n documents (Carter, Schnepel and
    Steigerwald 2017), as large units count more. With 20 to 50 groups of 20 on one side, equal or unequal, with skewed
    values, and 200 or 1,000 single documents on the other, p was below 0.05 in 3.9% to 7.6% under the null hypothesis;
    with 20 to 200 modules of 1 to 490 docstrings, the largest modules unlike the others, in 5% to 10%.

    Args:
        first: [documents of the first set, k]; finite.
        second: [documents of the second set, k].
        statistic: column sums [B, k] -> [B], e.g. `ratio_of_sums`; one on a log scale is nearer to normal.
        groups: of the documents of the first and of the second set.

    Returns:
        Without p where a set has fewer than `LEAST_UNITS` units (with 10 of unequal size p would be below 0.05 in up
        to 9%), or all units of both sets are the same.

    Raises:
        TextcriticError: an empty set, values that are not finite, or another number of groups than of documents.
    """
    one, two = (_spread(*pair, statistic) for pair in zip((first, second), groups, strict=True))
    difference, units = one.estimate - two.estimate, (one.units, two.units)
    variance = one.variance + two.variance
    if min(units) < LEAST_UNITS:
        few = f"no test of fewer than {LEAST_UNITS} independent groups"
        return ClusterTest(difference, None, units, few)
    if not variance > 0:
        return ClusterTest(difference, None, units, "all documents are the same")
    from scipy.special import stdtr  # takes long to load, and few jobs need it

    freedom = variance**2 / sum(side.variance**2 / (side.effective - 1) for side in (one, two) if side.variance)
    return ClusterTest(difference, 2 * float(stdtr(freedom, -abs(difference) / math.sqrt(variance))), units)


def one_of_each(groups: Groups, documents: int, seed: int = 1) -> npt.NDArray[np.int64]:
    """One document of each unit at random, ascending: for tests that are not of sums and take documents as independent.

    Args:
        groups: of the documents.
        documents: their number.
        seed: of `numpy.random.default_rng`.
    """
    order = np.random.default_rng(seed).permutation(documents)
    first = np.unique(unit_of(groups, documents)[order], return_index=True)[1]
    return np.sort(order[first])


@dataclass(frozen=True)
class _Spread:
    """A statistic of one set, its variance, and its units: how many, and as how many of equal size they count."""

    estimate: float
    variance: float
    units: int
    effective: float


def _spread(columns: npt.ArrayLike, groups: Groups, statistic: Statistic) -> _Spread:
    array = checked_columns(columns, "test of groups")
    sums, sizes = unit_sums(array, groups), np.bincount(unit_of(groups, len(array)))
    total = sums.sum(axis=0)
    few = len(sums) < LEAST_UNITS
    variance = math.nan if few else float(jackknife_variance(statistic(total - sums)))
    effective = len(array) ** 2 / float((sizes**2).sum())
    return _Spread(float(statistic(total[None])[0]), variance, len(sums), effective)


def unit_of(groups: Groups, documents: int) -> npt.NDArray[np.int64]:
    """The number of the unit of each document, from 0 in the order of their first documents: [documents].

    A group is a unit, and so is a document without one.

    Raises:
        TextcriticError: another number of groups than of documents.
    """
    if groups is None:
        return np.arange(documents)
    if len(groups) != documents:
        raise TextcriticError(f"groups: {len(groups)} for {documents} documents; give one each, null for none")
    numbers: dict[str | int, int] = {}
    keys = (place if group is None else group for place, group in enumerate(groups))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def unit_sums(columns: npt.ArrayLike, groups: Groups = None) -> Array:
    """Sums of columns over the documents of each unit (`unit_of`): [documents, k] -> float64 [units, k].

    Raises:
        TextcriticError: as `unit_of`.
    """
    array = np.asarray(columns, dtype=np.float64)
    if groups is None:
        return array
    unit = unit_of(groups, len(array))
    sums = np.zeros((int(unit.max(initial=-1)) + 1, *array.shape[1:]))
    np.add.at(sums, unit, array)
    return sums
