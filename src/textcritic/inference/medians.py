"""The median of values that may form groups: its interval, and the columns that compare two medians."""

import math

import numpy as np
import numpy.typing as npt

from textcritic.inference.bootstrap import LEAST_UNITS, NO_SPREAD, TOO_FEW, Interval
from textcritic.inference.statistics import Array

Units = npt.NDArray[np.int64]
TOO_UNEQUAL = "no interval, as a few groups have most of the values"


def median_interval(values: Array, units: Units, level: float = 0.95) -> Interval:
    """The median and its interval between two order statistics (Woodruff, JASA 47, 1952).

    The share of values below the true median is 1/2; its error over independent units says how far from the middle of
    the sorted values the ends are. Of single values that is the binomial error. Where values belong together it is
    larger by the design effect, and the units count as the effective number of units of equal size.

    Args:
        values: [values], finite.
        units: [values], the number of the unit of each, from 0.
        level: of confidence.
    """
    number = int(units.max()) + 1
    estimate, ordered = float(np.median(values)), np.sort(values)
    if number < LEAST_UNITS:
        return Interval(estimate, None, None, level, 0, TOO_FEW)
    if ordered[0] == ordered[-1]:
        return Interval(estimate, None, None, level, 0, NO_SPREAD)
    from scipy.special import stdtrit  # takes long to load, and few jobs need it

    sizes = np.bincount(units).astype(np.float64)
    effective = len(values) ** 2 / float((sizes**2).sum())
    error = math.sqrt(_design_effect(values, units, sizes) / len(values)) / 2
    half = float(stdtrit(max(effective - 1, 1.0), (1 + level) / 2)) * error
    first = math.floor(len(values) * (0.5 - half) - 0.5)  # a half for the step of an order statistic
    if first < 0:
        return Interval(estimate, None, None, level, 0, TOO_UNEQUAL)
    return Interval(estimate, float(ordered[first]), float(ordered[len(values) - 1 - first]), level, 0)


def above(values: Array, units: Units, cut: float) -> Array:
    """(Values above a cut, all values) of each unit, those at the cut as half: [units, 2].

    With the median of two sets together as the cut, the ratio of sums of one set minus that of the other is 0 where
    both have one median: what a permutation test or `cluster_test` takes.
    """
    halves = (np.sign(values - cut) + 1) / 2
    return np.column_stack([np.bincount(units, halves), np.bincount(units).astype(np.float64)])


def _design_effect(values: Array, units: Units, sizes: Array) -> float:
    """How many times larger the variance of the share above the median is than if all values were alone, at least 1."""
    sums, counts = above(values, units, float(np.median(values))).T
    share, number = sums.sum() / counts.sum(), len(sums)
    residuals = sums - share * counts
    single = float(((np.sign(values - np.median(values)) + 1) / 2 - share).var()) * len(values)
    clustered = float((residuals**2).sum()) * number / (number - 1)
    return max(clustered / single, 1.0) if single > 0 and (sizes > 1).any() else 1.0
