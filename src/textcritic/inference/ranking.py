"""How well scores put positives above negatives: area under the ROC curve and average precision, with intervals.

Both are functions of weights of the items. Items that belong together, such as the sentences of a document or of all
documents of a source, have one weight, and a resample is other weights, so that items are sorted once.
"""

import math

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.bootstrap import LEAST_UNITS, NO_SPREAD, TOO_FEW, Interval, chunk_sizes
from textcritic.inference.jackknife import t_interval
from textcritic.inference.statistics import Array

RANKINGS = ("auc", "average_precision")


def ranking_interval(
    scores: npt.ArrayLike,
    positive: npt.ArrayLike,
    unit: npt.ArrayLike,
    of: str = "auc",
    resamples: int = 1000,
    seed: int = 1,
) -> Interval:
    """A number of a ranking with its 95% interval, whole units drawn with replacement.

    The interval is Student's on the logit scale, with the spread of the resamples there: it stays between 0 and 1.
    Resamples without a positive or a negative item are left out, and so are those that are 0 or 1.

    Args:
        scores: [items], higher is more like a positive.
        positive: [items], whether each is one.
        unit: [items], the number of the unit of each, from 0.
        of: `auc`, the probability that a positive is above a negative, half of it where they are equal (Hanley and
            McNeil 1982); `average_precision`, the mean over positives of the precision at its score, equal scores
            together.
        resamples: of units.
        seed: of `numpy.random.default_rng`.

    Returns:
        Without ends where there are fewer than `LEAST_UNITS` units; the estimate is NaN without a positive or a
        negative item.

    Raises:
        TextcriticError: no items, lengths that differ, a score that is not finite, or no such number.
    """
    values, truth, units = np.asarray(scores, float), np.asarray(positive, bool), np.asarray(unit, np.int64)
    if of not in RANKINGS:
        raise TextcriticError(f"ranking: no number {of!r}; there are {' and '.join(RANKINGS)}")
    if not len(values) or not values.shape == truth.shape == units.shape or not np.isfinite(values).all():
        shapes = ", ".join(map(str, (values.shape, truth.shape, units.shape)))
        raise TextcriticError(f"ranking: items of shapes {shapes}; give a finite score, a truth and a unit for each")
    order = np.argsort(values, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(values[order]) != 0, True))
    truth, units, number = truth[order], units[order], int(units.max()) + 1
    estimate = float(_of_weights(np.ones((1, number)), truth, units, ends, of)[0])
    if math.isnan(estimate):
        return Interval(estimate, None, None, 0.95, resamples, "no interval without both kinds of sentences")
    if number < LEAST_UNITS:
        return Interval(estimate, None, None, 0.95, resamples, TOO_FEW)
    rng, drawn = np.random.default_rng(seed), []
    for size in chunk_sizes(resamples, 4 * len(values)):
        weights = rng.multinomial(number, np.full(number, 1 / number), size).astype(float)
        drawn.append(_of_weights(weights, truth, units, ends, of))
    resampled = np.concatenate(drawn)
    inside = resampled[(resampled > 0) & (resampled < 1)]
    if not 0 < estimate < 1 or len(inside) < 2 or not np.ptp(inside) > 0:
        return Interval(estimate, None, None, 0.95, resamples, NO_SPREAD)
    low, high = t_interval(_logit(estimate), np.var(_logit(inside), ddof=1), number)
    return Interval(estimate, float(_inverse(low)), float(_inverse(high)), 0.95, resamples)


def _of_weights(
    weights: Array, truth: npt.NDArray[np.bool_], units: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], of: str
) -> Array:
    """The number for each weighting: [B]; NaN without a positive or a negative item.

    Args:
        weights: [B, units].
        truth: [items], by ascending score.
        units: [items].
        ends: the last item of each score.
        of: as above.
    """
    each = weights[:, units]
    above = np.where(truth, each, 0.0).cumsum(axis=1)[:, ends]
    both = each.cumsum(axis=1)[:, ends]
    positives, negatives = np.diff(above, prepend=0.0), np.diff(both - above, prepend=0.0)
    total, others = above[:, -1], both[:, -1] - above[:, -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        if of == "auc":
            below = (both - above) - negatives / 2
            score = (positives * below).sum(axis=1) / (total * others)
        else:
            hits, flagged = total[:, None] - above + positives, both[:, -1:] - both + positives + negatives
            precision = np.divide(hits, flagged, out=np.zeros_like(hits), where=flagged > 0)
            score = (positives * precision).sum(axis=1) / total
    return np.where((total > 0) & (others > 0), score, np.nan)


def _logit(share: npt.ArrayLike) -> Array:
    value = np.asarray(share, float)
    return np.asarray(np.log(value) - np.log1p(-value))


def _inverse(value: npt.ArrayLike) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.asarray(value, float))))
