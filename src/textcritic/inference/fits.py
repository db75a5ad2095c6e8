"""Intervals of a number that depends on which documents there are and on where an iterative fit began."""

from collections.abc import Sequence

import numpy as np

Ends = tuple[float | None, float | None]


def with_fits(value: float, ends: Ends, of_fits: Sequence[float], level: float = 0.95) -> Ends:
    """An interval over documents, widened so that it also holds what fits from other starts would have given.

    The interval is about the mean over S fits. Other S fits of the same documents have a mean that differs from it by a
    variance of 2/S times that between fits, which is estimated from few values: Student's t with S - 1 degrees of
    freedom. Fits and documents are independent, so that half-widths add up as squares; each side has its own (Zou and
    Donner 2008). With one fit nothing is known of others, and the interval is that over documents.

    Args:
        value: what the interval over documents is about: the mean over the fits, or the number under one of them.
        ends: that interval; None where there is none, and then there is no interval.
        of_fits: the number under each fit: [S].
        level: of confidence.
    """
    low, high = ends
    number = len(of_fits)
    if number < 2 or low is None or high is None:
        return low, high
    from scipy.special import stdtrit  # takes long to load, and every command loads this package

    mean = float(np.mean(of_fits))
    starts = stdtrit(number - 1, (1 + level) / 2) * np.std(of_fits, ddof=1) * np.sqrt(2 / number)
    return float(mean - np.hypot(value - low, starts)), float(mean + np.hypot(high - value, starts))
