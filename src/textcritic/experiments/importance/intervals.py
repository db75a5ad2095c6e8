"""Intervals of perplexities over texts; there is none if a few long texts dominate."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from textcritic.inference import Groups, Interval, bootstrap_interval, exp_ratio_of_sums, unit_sums
from textcritic.inference.importance import why_none

Array = npt.NDArray[np.float64]


def over_texts(nats: Array, tokens: Array, groups: Groups, resamples: int) -> Interval:
    """Interval of `exp(sum of nats / sum of tokens)`, a group of texts as one; none if too few long ones dominate."""
    columns = unit_sums(np.column_stack([nats, tokens]), groups)
    interval = bootstrap_interval(columns, exp_ratio_of_sums, resamples)
    reason = why_none(columns[:, 1])
    return replace(interval, low=None, high=None, reason=reason) if reason else interval
