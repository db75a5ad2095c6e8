"""Standard errors where a statistic is a whole fit: the jackknife that leaves out groups of documents.

Efron and Tibshirani 1993, chapter 11; Shao and Wu 1989. A percentile interval would take a thousand fits, this takes as
many as there are groups.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError

Floats = npt.NDArray[np.float64]

GROUPS = 20
NOTHING: Mapping[str, int] = MappingProxyType({})
"""No name is shared."""


def document_groups(documents: int, groups: int = GROUPS, seed: int = 1) -> npt.NDArray[np.int64]:
    """A group, from 0, for each document, at random and of equal size up to one: [documents].

    Args:
        documents: how many.
        groups: as many, or one a document if there are fewer.
        seed: of `numpy.random.default_rng`.
    """
    return np.random.default_rng(seed).permutation(documents) % max(1, min(groups, documents))


def shared_groups(names: Sequence[Sequence[str | None]], seed: int = 1) -> dict[str, int]:
    """A group, from 0, for each name that two sets at least have, so that it is left out of all sets at once.

    Args:
        names: of the documents of each set, e.g. of the prompts that they answer; None of one that has none.
        seed: of `numpy.random.default_rng`.
    """
    times = Counter(name for some in names for name in {*some} - {None})
    shared = sorted(name for name, sets in times.items() if name is not None and sets > 1)
    return dict(zip(shared, document_groups(len(shared), GROUPS, seed).tolist(), strict=True))


def left_out_with(
    units: npt.ArrayLike, seed: int = 1, names: Sequence[str | None] = (), shared: Mapping[str, int] = NOTHING
) -> npt.NDArray[np.int64]:
    """The group that each document is left out with, in whole units: [documents].

    Args:
        units: [documents], those that belong together have the same number.
        seed: of `numpy.random.default_rng`.
        names: of the documents, where some are in `shared`.
        shared: the group of each name that other sets have too, see `shared_groups`.
    """
    distinct, place = np.unique(np.asarray(units), return_inverse=True)
    of_units = document_groups(len(distinct), GROUPS, seed)
    for unit, name in zip(place, names, strict=False):
        if name is not None and name in shared:
            of_units[unit] = shared[name]
    found: npt.NDArray[np.int64] = of_units[place]
    return found


def jackknife_variance(without: npt.ArrayLike) -> Floats:
    """The variance of statistics from their values without each of G groups: [G, ...] -> [...].

    `(G - 1) / G * sum (value - mean)^2`; NaN of a single group.

    Raises:
        TextcriticError: there is no group.
    """
    values = np.asarray(without, dtype=np.float64)
    if not len(values):
        raise TextcriticError("jackknife: no group; at least one is needed, and two for a variance")
    if len(values) == 1:
        return np.full(values.shape[1:], np.nan)
    groups = len(values)
    squares: Floats = ((values - values.mean(axis=0)) ** 2).sum(axis=0)
    return (groups - 1) / groups * squares


def t_interval(
    estimate: npt.ArrayLike, variance: npt.ArrayLike, groups: float, level: float = 0.95
) -> tuple[Floats, Floats]:
    """The ends of the interval `estimate -+ t * sqrt(variance)`, t of G - 1 degrees of freedom; NaN of one group.

    G is no whole number where the degrees of freedom are Welch's (1947).
    """
    from scipy.special import stdtrit  # takes long to load, and few jobs need it

    width = stdtrit(max(groups - 1, 1), (1 + level) / 2) * np.sqrt(np.asarray(variance, dtype=np.float64))
    middle = np.asarray(estimate, dtype=np.float64)
    return middle - width, middle + width
