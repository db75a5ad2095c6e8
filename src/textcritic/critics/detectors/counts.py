"""How well intruder sentences are found: counts of each document, and the numbers that are made of their sums.

A document is one trial of accuracy: was it said to have an intruder exactly if it has one? A sentence that is not the
opening one is one trial of F1 (Shen et al. 2021, section 4.3). To name the wrong sentence of an incoherent document is
right for accuracy, and for F1 it is two faults: one sentence too many and one too few.
"""

from collections.abc import Collection

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.inference import Statistic
from textcritic.inference.statistics import Array

RIGHT, HITS, FALSE, MISSED, ONE = range(5)
"""Columns of counts: the document was judged right; intruders found; other sentences flagged; intruders missed; 1."""


def counts_of(intruder: int | None, flagged: Collection[int]) -> tuple[int, int, int, int, int]:
    """The columns of one document.

    Args:
        intruder: position of the intruder, from 1 on; None: there is none.
        flagged: positions of the sentences that are called intruders.
    """
    hit = int(intruder in flagged)
    return int(bool(flagged) == (intruder is not None)), hit, len(flagged) - hit, int(intruder is not None) - hit, 1


def accuracy(sums: Array) -> Array:
    """Share of documents judged right: [..., 5] -> [...]."""
    return np.asarray(sums[..., RIGHT] / sums[..., ONE])


def precision(sums: Array) -> Array:
    """Share of the flagged sentences that are intruders; 0 where none is flagged: [..., 5] -> [...]."""
    return _share(sums[..., HITS], sums[..., HITS] + sums[..., FALSE])


def recall(sums: Array) -> Array:
    """Share of the intruders that are flagged; 0 where there are none: [..., 5] -> [...]."""
    return _share(sums[..., HITS], sums[..., HITS] + sums[..., MISSED])


def f1(sums: Array) -> Array:
    """`2 hits / (2 hits + false + missed)`, micro over sentences; 0 where nothing is found: [..., 5] -> [...]."""
    twice = 2 * sums[..., HITS]
    return _share(twice, twice + sums[..., FALSE] + sums[..., MISSED])


STATISTICS: dict[str, Statistic] = {"accuracy": accuracy, "f1": f1, "precision": precision, "recall": recall}


def shares_of(columns: Array) -> dict[str, float]:
    """All four of some documents: [documents, 5] -> by name, 0 to 1.

    Raises:
        TextcriticError: there are no documents.
    """
    if not len(columns):
        raise TextcriticError("accuracy and F1: there are no documents; give at least one")
    sums = np.asarray(columns, float).sum(axis=0)
    return {name: float(statistic(sums)) for name, statistic in STATISTICS.items()}


def _share(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=np.asarray(whole) > 0)
