"""How much order documents have in common: evidence of each by the others of its own set.

It is a ratio of U-statistics: the mean of x_i' A^-1 x_j over pairs of documents of different groups, per sentence of
each. It is 0 for documents in random order, whatever their words. It is not 0 for documents that share an order, even
one that real text does not have. Its interval is Student's, from the jackknife that leaves out each group of documents
in turn, in closed form.
"""

import math

import numpy as np

from textcritic.critics.order.critic import UNIT
from textcritic.critics.order.sentences import Floats, Ints
from textcritic.inference import Groups, unit_of
from textcritic.inference.bootstrap import LEAST_UNITS
from textcritic.inference.jackknife import jackknife_variance, t_interval


def own_evidence(features: Floats, counted: Ints, shape: Floats, groups: Groups = None) -> Floats:
    """The evidence of each document by those of all other groups, nats in `UNIT` of their sentences: [documents].

    Args:
        features: [documents, features].
        counted: sentences of each.
        shape: A of the critic.
        groups: of the documents.

    Returns:
        NaN where there is no other group.
    """
    units = unit_of(groups, len(counted))
    number = int(units.max(initial=-1)) + 1
    sums = np.zeros((number, features.shape[1]))
    np.add.at(sums, units, features)
    others = counted.sum() - np.bincount(units, counted, number)[units]
    solved = np.linalg.solve(shape, (features.sum(axis=0) - sums).T)
    evidence = UNIT * np.einsum("df,fd->d", features, solved[:, units])
    return np.divide(evidence, others, out=np.full(len(others), math.nan), where=others > 0)


def own_order(own: Floats, counted: Ints, groups: Groups = None) -> tuple[float, float | None, float | None]:
    """The order that documents have in common, and its 95% interval: nats in `UNIT` sentences.

    Args:
        own: of `own_evidence`.
        counted: sentences of each document.
        groups: the same.

    Returns:
        NaN with fewer than two groups; no interval with fewer than `LEAST_UNITS`.
    """
    units = unit_of(groups, len(counted))
    number = int(units.max(initial=-1)) + 1
    if number < 2:
        return math.nan, None, None
    size = np.bincount(units, counted, number)
    others = counted.sum() - size
    top, bottom = np.bincount(units, own * others[units], number), size * others
    value = float(top.sum() / bottom.sum())
    if number < LEAST_UNITS:
        return value, None, None
    without = (top.sum() - 2 * top) / (bottom.sum() - 2 * bottom)
    low, high = map(float, t_interval(value, float(jackknife_variance(without)), number))
    return value, low, high
