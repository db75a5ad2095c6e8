"""Distances between two categorical distributions, as over words: the paper's "TVD", half the L1 distance, chi-square.

Meister and Cotterell 2021, section 4.2 and appendix C. For sets 1 and 2 with n1 and n2 tokens, n in all, a word that
occurs a times in set 1 and t times in both has the gap `|a - t n1 / n|`: how far it is from its expected count. All
three distances are a maximum or a sum over the gaps of all words, so that a chunk of words at a time is enough.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.statistics import Array


@dataclass(frozen=True)
class WordDistance:
    """A distance of two sets of tokens that is put together from chunks of words.

    Attributes:
        part: gaps [words, B] and counts in both sets [words, B] or [words, 1] -> [B], of one chunk.
        join: puts the parts of two chunks together: `numpy.add` or `numpy.maximum`.
        scale: n1 [B] and n2 [B] -> [B]: what the whole is multiplied by.
    """

    part: Callable[[Array, Array], Array]
    join: np.ufunc
    scale: Callable[[Array, Array], Array]


def max_difference(first: npt.ArrayLike, second: npt.ArrayLike) -> Array:
    """Largest absolute difference of two relative frequencies, `max_w |p1(w) - p2(w)|`: 0 to 1.

    It is what the paper calls total variation distance (Eq. 11). That is a larger number by its usual definition,
    `half_l1`.

    Args:
        first: counts of each word in the first set, [..., words].
        second: in the second set, the same words.

    Returns:
        [...]: of one pair of sets, a number.

    Raises:
        TextcriticError: shapes that differ, counts that are negative or not finite, or a set without tokens.
    """
    return _distance(first, second, MAX_DIFFERENCE)


def half_l1(first: npt.ArrayLike, second: npt.ArrayLike) -> Array:
    """Total variation distance, `1/2 sum_w |p1(w) - p2(w)|`: 0 to 1. Arguments and errors as `max_difference`."""
    return _distance(first, second, HALF_L1)


def chi_square(first: npt.ArrayLike, second: npt.ArrayLike) -> Array:
    """Pearson's statistic of the table of two sets by words; words in neither are left out.

    Grows with the number of tokens (appendix C). Arguments and errors as `max_difference`.
    """
    return _distance(first, second, CHI_SQUARE)


def gaps_of(counts: Array, totals: Array, share: Array) -> Array:
    """`|a - t n1 / n|`: counts in set 1 [words, B], in both sets [words, B or 1] and `n1 / n` [B] -> [words, B]."""
    gaps = totals * share
    np.subtract(counts, gaps, out=gaps)
    return np.abs(gaps, out=gaps)


def _squares_over_totals(gaps: Array, totals: Array) -> Array:
    weights = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
    squares = gaps * gaps
    if weights.shape[1] == 1:
        joined: Array = weights[:, 0] @ squares
        return joined
    return np.einsum("wb,wb->b", weights, squares)


def _times(factor: float, power: int) -> Callable[[Array, Array], Array]:
    return lambda first, second: factor * (first + second) ** power / (first * second)


MAX_DIFFERENCE = WordDistance(lambda gaps, _: gaps.max(axis=0), np.maximum, _times(1, 1))
HALF_L1 = WordDistance(lambda gaps, _: gaps.sum(axis=0), np.add, _times(0.5, 1))
CHI_SQUARE = WordDistance(_squares_over_totals, np.add, _times(1, 2))
DISTANCES: Mapping[str, WordDistance] = MappingProxyType(
    {"max_difference": MAX_DIFFERENCE, "half_l1": HALF_L1, "chi_square": CHI_SQUARE}
)


def _distance(first: npt.ArrayLike, second: npt.ArrayLike, distance: WordDistance) -> Array:
    one, two = (np.moveaxis(counts, -1, 0) for counts in _checked(first, second))
    shape = one.shape[1:]
    one, two = one.reshape(len(one), -1), two.reshape(len(two), -1)
    sizes = one.sum(axis=0), two.sum(axis=0)
    both = one + two
    whole = distance.part(gaps_of(one, both, sizes[0] / (sizes[0] + sizes[1])), both) * distance.scale(*sizes)
    found: Array = whole.reshape(shape)[()]
    return found


def _checked(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[Array, Array]:
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != two.shape or one.ndim == 0:
        raise TextcriticError(f"distance: counts of shapes {one.shape} and {two.shape}; both are of the same words")
    for counts in (one, two):
        if not (counts >= 0).all() or not np.isfinite(counts).all():
            raise TextcriticError("distance: a count is negative or not finite; give how often each word occurs")
        if not (counts.sum(axis=-1) > 0).all():
            raise TextcriticError("distance: a set has no tokens; both need some")
    return one, two
