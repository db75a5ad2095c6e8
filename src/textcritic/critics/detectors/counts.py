"""How well intruder sentences are found: counts of each document, and the numbers that are computed from their sums.

A document is one trial of accuracy: is it called incoherent exactly if it has an intruder? A sentence that is not the
opening one is one trial of F1 (Shen et al. 2021, section 4.3). To name the wrong sentence of an incoherent document is
right for accuracy, and for F1 it is two faults: one sentence too many and one too few.
"""

from collections.abc import Collection

import numpy as np

from textcritic.inference.statistics import Array


def counts_of(intruder: int | None, flagged: Collection[int]) -> tuple[int, int, int, int, int]:
    """Of one document: judged right, intruders found, other sentences flagged, intruders missed, 1.

    Args:
        intruder: position of the intruder, from 1 on; None: there is none.
        flagged: positions of the sentences that are called intruders.
    """
    hit = int(intruder in flagged)
    return int(bool(flagged) == (intruder is not None)), hit, len(flagged) - hit, int(intruder is not None) - hit, 1


def parts_of(counts: Array, name: str) -> Array:
    """Numerator and denominator of a number, whose ratio of sums it is: float64 [documents, 5] -> [documents, 2].

    Args:
        counts: as `counts_of` gives them.
        name: `accuracy`, documents judged right; `precision`, flagged sentences that are intruders; `recall`, intruders
            that are flagged; or `f1`, `2 hits / (2 hits + false + missed)`, micro over sentences.
    """
    right, hits, false, missed, one = np.asarray(counts, float).reshape(-1, 5).T
    parts = {
        "accuracy": (right, one),
        "f1": (2 * hits, 2 * hits + false + missed),
        "precision": (hits, hits + false),
        "recall": (hits, hits + missed),
    }
    return np.column_stack(parts[name])


NAMES = ("accuracy", "f1", "precision", "recall")


def safe_ratio(sums: Array) -> Array:
    """First column over second, 0 where the second is 0: float64 [..., 2] -> [...].

    A resample of documents in which nothing is flagged has no precision; it counts as 0.
    """
    whole = sums[..., 1]
    return np.divide(sums[..., 0], whole, out=np.zeros_like(whole), where=whole > 0)
