"""Intervals of perplexities over texts, which long texts may decide."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from textcritic.inference import Groups, Interval, bootstrap_interval, exp_ratio_of_sums, unit_sums
from textcritic.inference.importance import why_none

Array = npt.NDArray[np.float64]


def over_texts(nats: Array, tokens: Array, groups: Groups, resamples: int) -> Interval:
    """Of `exp(sum of nats / sum of tokens)`, groups of texts as one; none where too few long ones decide."""
    columns = unit_sums(np.column_stack([nats, tokens]), groups)
    interval = bootstrap_interval(columns, exp_ratio_of_sums, resamples)
    reason = why_none(columns[:, 1])
    return replace(interval, low=None, high=None, reason=reason) if reason else interval
