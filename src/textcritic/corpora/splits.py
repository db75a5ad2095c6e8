"""Random splits of documents, where those that belong together stay together."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from textcritic.inference import Groups, unit_of

Places = npt.NDArray[np.int64]


def random_parts(documents: int, sizes: Sequence[int], seed: int, groups: Groups = None) -> list[Places]:
    """Draw parts of a set of documents at random: the places of each part, ascending; the last part is the rest.

    Whole groups are drawn, in random order: a part takes each that still fits, and in the end the smallest of the
    others if it comes nearer to its size by that. Its size is wrong by half of that group at most. Without groups sizes
    are exact.

    Args:
        documents: their number, D.
        sizes: documents of each part but the last.
        seed: of `numpy.random.default_rng`.
        groups: [documents], None for one that is alone; None: all are alone.

    Returns:
        `len(sizes) + 1` arrays, which may be empty.
    """
    unit = unit_of(groups, documents)
    weights = np.bincount(unit, minlength=1)
    left = np.random.default_rng(seed).permutation(len(weights) if documents else 0)
    part_of = np.full(len(weights), len(sizes))
    for number, size in enumerate(sizes):
        taken = _taken(weights[left], size)
        part_of[left[taken]] = number
        left = left[~taken]
    return [np.flatnonzero(part_of[unit] == number) for number in range(len(sizes) + 1)]


def _taken(weights: Places, size: int) -> npt.NDArray[np.bool_]:
    """Which of the groups, in order, go into a part of `size` documents."""
    taken = np.zeros(len(weights), dtype=bool)
    missing = size
    for place, weight in enumerate(weights.tolist()):
        if missing <= 0:
            break
        if weight <= missing:
            taken[place] = True
            missing -= weight
    rest = np.flatnonzero(~taken)
    if len(rest) and weights[rest].min() < 2 * missing:
        taken[rest[weights[rest].argmin()]] = True
    return taken
