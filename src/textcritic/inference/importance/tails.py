"""Whether a mean of weights can be trusted: effective sample size, and the shape of the weights' tail, k-hat.

Vehtari, Simpson, Gelman, Yao and Gabry 2024, *Pareto Smoothed Importance Sampling*: a generalised Pareto distribution
is fitted to the largest weights of a text. Its shape k says how many moments the weights have: fewer than 1/k.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from textcritic.inference.importance.estimates import (
    by_rows,
    log_likelihoods,
    log_sum_of_squares,
)
from textcritic.inference.importance.weights import LogWeights
from textcritic.inference.statistics import Array

GOOD, POOR = 0.7, 1.0
"""k-hat below 0.7: the estimate can be relied on; from 1 on the weights may have no mean that draws could show."""
FINITE_VARIANCE = 0.5
LEAST_TAIL = 5
"""A tail of fewer weights is not fitted."""
LEAST_DRAWS = 21
"""So many draws have a tail of 5."""
PRIOR_SHAPE, PRIOR_WEIGHT = 0.5, 10  # the prior counts as so many weights with this shape
SMALLEST = float(np.log(np.finfo(np.float64).tiny))  # weights smaller than this share of the largest are no tail
CHUNK = 4_000_000  # float64 of one step of a fit: 32 MB

Ints = npt.NDArray[np.int64]


def effective_sample_sizes(weights: LogWeights) -> Array:
    """`(sum_k w)^2 / sum_k w^2` of each text, from 1 to K: [N] (Kong 1992).

    Equal draws from a wrong place look effective: a large one is no proof.

    Raises:
        TextcriticError: all weights of a text are -inf.
    """
    sums = log_likelihoods(weights) + np.log(weights.draws)
    return np.exp(2 * sums - log_sum_of_squares(weights))


def pareto_k(weights: LogWeights) -> Array:
    """k-hat of each text: [N]. NaN where fewer than `LEAST_TAIL` weights are in the tail: K is below `LEAST_DRAWS`, or
    many weights are equal.

    The tail is the `min(K / 5, 3 sqrt(K))` largest weights, which must be above the next one. The fit is that of Zhang
    and Stephens 2009, with the prior of Vehtari et al. 2024 (appendix).

    Raises:
        TextcriticError: all weights of a text are -inf.
    """
    log_likelihoods(weights)

    def shapes(some: Array) -> Array:
        k_hats = np.full(len(some), np.nan)
        for rows, _, exceedances in _tails(some):
            k_hats[rows] = _fitted(exceedances)[0]
        return k_hats

    return weights.once("k-hat", lambda: by_rows(shapes, weights.log_weights))


def pareto_smoothed(weights: LogWeights) -> Array:
    """Log weights whose tail is replaced by the quantiles of the distribution fitted to it: [N, K], each in its place.

    None is above the largest weight there was. Rows without a fit stay as they are.

    Raises:
        TextcriticError: all weights of a text are -inf.
    """
    log_likelihoods(weights)
    return by_rows(smoothed_rows, weights.log_weights)


def smoothed_rows(log_weights: Array) -> Array:
    """`pareto_smoothed` of some rows: [R, K] -> [R, K]."""
    smoothed = log_weights.copy()
    for rows, threshold, exceedances in _tails(log_weights):
        shape, scale = _fitted(exceedances)
        size = exceedances.shape[1]
        log_above = np.log1p(-(np.arange(size) + 0.5) / size)
        above = scale[:, None] * np.expm1(-shape[:, None] * log_above) / shape[:, None]
        top = log_weights[rows].max(axis=1, keepdims=True)
        places = np.sort(np.argpartition(log_weights[rows], -size, axis=1)[:, -size:], axis=1)
        order = np.argsort(np.take_along_axis(log_weights[rows], places, axis=1), axis=1, kind="stable")
        places = np.take_along_axis(places, order, axis=1)
        values = np.minimum(np.log(above + np.exp(threshold[:, None])), 0) + top
        smoothed[rows[:, None], places] = values
    return smoothed


def _tails(log_weights: Array) -> Iterator[tuple[Ints, Array, Array]]:
    """Rows with tails of one size, in chunks: the rows, their log threshold [R], and exceedances, ascending [R, size].

    Both are relative to the largest weight of the row.
    """
    draws = log_weights.shape[1]
    most = int(np.ceil(min(draws / 5, 3 * np.sqrt(draws))))
    if draws < LEAST_DRAWS:
        return
    relative = log_weights - log_weights.max(axis=1, keepdims=True)
    largest = np.sort(np.partition(relative, draws - most - 1, axis=1)[:, draws - most - 1 :], axis=1)
    threshold = np.maximum(largest[:, 0], SMALLEST)
    sizes = (largest > threshold[:, None]).sum(axis=1)
    for size in np.unique(sizes[sizes >= LEAST_TAIL]):
        every = np.flatnonzero(sizes == size)
        for rows in np.array_split(every, -(-len(every) * size * _points(size) // CHUNK)):
            tail = np.exp(largest[rows, -size:]) - np.exp(threshold[rows, None])
            yield rows, threshold[rows], tail


def _points(size: int) -> int:
    return 30 + int(np.sqrt(size))


def _fitted(exceedances: Array) -> tuple[Array, Array]:
    """Shape and scale of a generalised Pareto distribution, by the posterior mean of theta = -shape / scale.

    Zhang and Stephens 2009, section 3: the profile likelihood at a grid of theta. Their shape has the other sign.

    Args:
        exceedances: above 0, ascending: [R, size].
    """
    size = exceedances.shape[1]
    points = _points(size)
    quartile = exceedances[:, int(size / 4 + 0.5) - 1]
    grid = 1 - np.sqrt(points / (np.arange(points) + 0.5))
    theta = grid / (3 * quartile[:, None]) + 1 / exceedances[:, -1:]
    shapes = np.log1p(-theta[:, :, None] * exceedances[:, None, :]).mean(axis=2)
    # Where theta is 0 the distribution is the exponential one, whose scale is the mean.
    exponential = theta == 0
    scales = np.where(exponential, exceedances.mean(axis=1, keepdims=True), 1.0)
    np.divide(-shapes, theta, out=scales, where=~exponential)
    profile = size * (-np.log(scales) - shapes - 1)
    likelihood = np.exp(profile - profile.max(axis=1, keepdims=True))
    mean = (theta * likelihood).sum(axis=1) / likelihood.sum(axis=1)
    shape = np.log1p(-mean[:, None] * exceedances).mean(axis=1)
    scale = -shape / mean
    return (size * shape + PRIOR_WEIGHT * PRIOR_SHAPE) / (size + PRIOR_WEIGHT), scale
