"""What holds for a recipe, by the textbook: Student's interval of logarithms, and Cochran and Cox (1957)."""

import math

import numpy as np
from scipy import stats
from scipy.optimize import brentq


def cochran(difference, variances, degrees):
    """p at which |t| is the mean of both critical values, weighted by the variances (section 4.14)."""
    t = abs(difference) / math.sqrt(sum(variances))

    def beyond(log_p):
        critical = [stats.t.isf(math.exp(log_p) / 2, own) for own in degrees]
        return t - np.average(critical, weights=variances)

    return math.exp(brentq(beyond, math.log(1e-12), 0.0, xtol=1e-12))


def recipe(values, real):
    """The columns of a recipe's perplexities: `real` is (value, low, high) of real text, low None if it has none."""
    columns = dict.fromkeys(("seeds_mean", "seeds_low", "seeds_high", "seeds_sd", "seeds_p"))
    if not values:
        return columns
    columns["seeds_mean"] = float(stats.gmean(values))
    if len(values) == 1:
        return columns
    logs = np.log(values)
    columns["seeds_low"], columns["seeds_high"] = map(float, np.exp(stats.ttest_1samp(logs, 0).confidence_interval()))
    columns["seeds_sd"] = float(np.std(values, ddof=1))
    if real[1] is None:
        return columns
    middle, low, high = np.log(real)
    variances = logs.var(ddof=1) / len(logs), ((high - low) / 2 / stats.norm.ppf(0.975)) ** 2
    return columns | {"seeds_p": cochran(logs.mean() - middle, variances, (len(logs) - 1, math.inf))}
