"""The studentised bootstrap of a ratio of sums, by its formulas (Efron and Tibshirani 1993, section 12.5)."""

import math

import numpy as np
from scipy import stats


def ratio_and_error(columns):
    """The ratio of sums and its standard error, from the residuals `y - R x` of the documents."""
    y, x = np.asarray(columns, float).T
    ratio = y.sum() / x.sum()
    residuals = y - ratio * x
    return ratio, math.sqrt(len(y) / (len(y) - 1) * (residuals**2).sum()) / x.sum()


def studentised(*sets, resamples=10_000, seed=1, level=0.95, exponent=False):
    """The interval of one set's ratio, or of the first one's less the second one's; the generator is ours.

    None where all documents have the same value.
    """
    arrays = [np.asarray(columns, float) for columns in sets]
    rng = np.random.default_rng(seed)
    drawn = [rng.integers(0, len(array), (resamples, len(array))) for array in arrays]

    def together(parts):
        values, errors = zip(*parts, strict=True)
        return values[0] - sum(values[1:]), math.hypot(*errors)

    value, error = together([ratio_and_error(array) for array in arrays])
    if error < 1e-12:
        return None, None
    t = []
    for b in range(resamples):
        other, own = together([ratio_and_error(array[draws[b]]) for array, draws in zip(arrays, drawn, strict=True)])
        t.append((other - value) / own if own > 1e-9 * error else math.copysign(math.inf, other - value))
    tail = (1 - level) / 2
    low, high = (value - np.quantile(t, share, method="inverted_cdf") * error for share in (1 - tail, tail))
    if not np.isfinite([low, high]).all():  # Student's interval, on the log scale
        width = stats.t.ppf(1 - tail, min(map(len, arrays)) - 1) * error / value
        low, high = value * math.exp(-width), value * math.exp(width)
    return (math.exp(low), math.exp(high)) if exponent else (low, high)
