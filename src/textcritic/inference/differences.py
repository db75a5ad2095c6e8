"""The difference of two estimates whose standard errors are those of a jackknife over groups of documents."""

from dataclasses import dataclass

import numpy as np

from textcritic.inference.groups import JackknifeEstimate
from textcritic.inference.jackknife import t_interval


@dataclass(frozen=True)
class DifferenceTest:
    """A difference of two independent estimates, its interval of Student's t, and its two-sided p-value.

    Interval and p are NaN where an estimate has no standard error.
    """

    difference: float
    low: float
    high: float
    p: float


def difference_test(
    first: JackknifeEstimate, second: JackknifeEstimate, groups: int, level: float = 0.95
) -> DifferenceTest:
    """`first - second` of two independent sets; the standard errors add up in squares.

    Args:
        first: of the samples.
        second: of the data.
        groups: the smaller number of groups that the standard errors come from; the degrees of freedom are one less.
        level: of confidence.
    """
    from scipy.special import stdtr  # takes long to load, and every command loads this package

    difference, error = first.estimate - second.estimate, float(np.hypot(first.se, second.se))
    low, high = t_interval(difference, error**2, groups, level)
    p = 2 * float(stdtr(max(groups - 1, 1), -abs(difference) / error)) if error > 0 else float("nan")
    return DifferenceTest(difference, float(low), float(high), p)
