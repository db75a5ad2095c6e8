"""Which of two models is nearer to real text: the difference of two distances, from the intervals of three numbers.

The distance of a sample is |value - real text's value|, of perplexities |log(value / real text's value)|. Where both
samples lie on the same side of real text, its value cancels and only the samples' errors count. Where they lie on
opposite sides, an error of real text counts twice. Two models that are equally near may therefore differ much, and
exchanging documents between them would be the wrong test.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from textcritic.inference.equivalence import ALPHA, Number, ends_of, p_of_interval
from textcritic.inference.holm import holm
from textcritic.inference.jackknife import jackknife_variance

ROUNDS = 20
"""Of finding a number of documents by the degrees of freedom that it gives itself."""


@dataclass(frozen=True, slots=True)
class Nearness:
    """The distance of one sample from real text minus that of another; of logarithms, if compared by ratio.

    Attributes:
        difference: negative where the first is nearer.
        low, high: its 95% interval.
        p: two-sided, of no difference; below `ALPHA` where the interval excludes 0.
        by_ratio: whether distances are of logarithms.
        narrower: how wide the interval is, as a share of that of independent samples; None where they are taken as so.
    """

    difference: float
    low: float
    high: float
    p: float
    by_ratio: bool = False
    narrower: float | None = None


class _Term(NamedTuple):
    """A number times a factor, with its ends, and what it is without each group of documents."""

    value: float
    low: float
    high: float
    without: npt.NDArray[np.float64]


def nearness(first: Number, second: Number, real: Number, by_ratio: bool = False) -> Nearness | None:
    """How much nearer to real text the first sample is than the second.

    Distances are |a - r| and |b - r|. With the signs as they are seen, their difference is a sum c_a a + c_b b + c_r r,
    whose interval is made of the three intervals (MOVER; Zou and Donner, Statistics in Medicine 27, 2008, section 2).
    It holds for any value that has an interval: over documents (these models), or over trainings (these recipes).

    Numbers that are known without the same groups of documents need not be independent: they may share prompts, or a
    critic. The interval is then Student's, of the same sum without each group (jackknife).

    Args:
        first: of a sample, with its interval.
        second: of another sample, independent of the first or with `Number.without`.
        real: of the real text that both are compared with; one without an interval is exact.
        by_ratio: compare logarithms.

    Returns:
        None where a value is missing or infinite, has no interval, or is to be compared by ratio and is not positive.
    """
    terms = _terms(first, second, real, by_ratio)
    if terms is None:
        return None
    difference = sum(term.value for term in terms)
    low = difference - math.hypot(*(term.value - term.low for term in terms))
    high = difference + math.hypot(*(term.high - term.value for term in terms))
    without = _together(terms)
    if not len(without):
        return Nearness(difference, low, high, p_of_interval(difference, low, high), by_ratio)
    error = math.sqrt(float(jackknife_variance(without)))
    if not error:
        return Nearness(difference, difference, difference, 1.0 if not difference else 0.0, by_ratio, 0.0)
    from scipy.special import stdtr, stdtrit  # takes long to load, and few jobs need it

    freedom = len(without) - 1
    half = float(stdtrit(freedom, 0.975)) * error
    p = 2 * float(stdtr(freedom, -abs(difference) / error))
    narrower = 2 * half / (high - low) if high > low else None
    return Nearness(difference, difference - half, difference + half, p, by_ratio, narrower)


def documents_apart(
    first: Number, second: Number, real: Number, documents: tuple[int, int, int | None], by_ratio: bool = False
) -> float | None:
    """How many documents of each set `nearness` needs to find the difference that is seen in 80% of cases.

    The half-widths of the three intervals say how much a document varies; that of `nearness` is Student's t times the
    standard error. So n documents are enough where the difference is t(.975) + t(.8) standard errors, of n - 1 degrees.

    Args:
        first: as for `nearness`.
        second: likewise.
        real: likewise.
        documents: of each; None of what is exact.
        by_ratio: compare logarithms.

    Returns:
        None where `nearness` has no answer; or where the difference is smaller than its standard error, when even its
        sign is not known and the number would be chance's.
    """
    terms = _terms(first, second, real, by_ratio)
    if terms is None:
        return None
    from scipy.special import stdtrit  # takes long to load, and few jobs need it

    difference = sum(term.value for term in terms)
    if len(without := _together(terms)):
        errors = [(math.sqrt(float(jackknife_variance(without))), min(n for n in documents if n))]
    else:
        halves = [term.value - term.low if difference > 0 else term.high - term.value for term in terms]
        errors = [(half / stdtrit(n - 1, 0.975), n) for half, n in zip(halves, documents, strict=True) if half and n]
    if abs(difference) <= math.hypot(*(error for error, _ in errors)):
        return None
    variance = sum(error**2 * n for error, n in errors)
    needed = 2.0
    for _ in range(ROUNDS):
        freedom = max(1.0, needed - 1)
        needed = variance * ((stdtrit(freedom, 0.975) + stdtrit(freedom, 0.8)) / difference) ** 2
    return float(needed)


def nearest(numbers: Sequence[Number], real: Number, by_ratio: bool = False) -> list[bool]:
    """Which samples are nearest to real text: the one with the least distance, and all that may be as near.

    A sample may be as near where its difference from the nearest is not significant at 5% by Holm's correction for all
    pairs of samples, or where it has no interval.

    Args:
        numbers: of the samples.
        real: of real text.
        by_ratio: compare logarithms.

    Returns:
        One truth value a sample; none is True where no sample has a finite value, or real text has none.
    """
    distances = [distance(number, real, by_ratio) for number in numbers]
    if all(math.isinf(value) for value in distances):
        return [False] * len(numbers)
    best = distances.index(min(distances))
    pairs = list(combinations(range(len(numbers)), 2))
    comparisons = [nearness(numbers[i], numbers[j], real, by_ratio) for i, j in pairs]
    corrected = holm([compared.p for compared in comparisons if compared is not None])
    p_values = iter(corrected)
    farther = {
        i + j - best
        for (i, j), compared in zip(pairs, comparisons, strict=True)
        if compared is not None and next(p_values) < ALPHA and best in (i, j)
    }
    return [place not in farther and math.isfinite(value) for place, value in enumerate(distances)]


def distance(number: Number, real: Number, by_ratio: bool = False) -> float:
    """|value - real text's value|, or of their logarithms; infinite where one is missing, infinite or not positive."""
    ends = [ends_of(Number(each.value), by_ratio) for each in (number, real)]
    return math.inf if ends[0] is None or ends[1] is None else abs(ends[0][0] - ends[1][0])


def beyond(numbers: Sequence[Number], above: bool) -> Number:
    """An exact number above (or below) all of these and their intervals: the nearest to it is the highest (lowest)."""
    ends = [end for number in numbers for end in (number.value, number.low, number.high)]
    finite = [end for end in ends if end is not None and math.isfinite(end)]
    return Number(max(finite, default=0.0) + 1 if above else min(finite, default=0.0) - 1)


def _together(terms: Sequence[_Term]) -> npt.NDArray[np.float64]:
    """The sum of the terms without each group of documents; empty where one of them that varies is not known so."""
    varies = [term for term in terms if term.high > term.low]
    if not varies or any(not len(term.without) for term in varies):
        return np.empty(0)
    total: npt.NDArray[np.float64] = np.sum([term.without for term in varies], axis=0)
    return total


def _terms(first: Number, second: Number, real: Number, by_ratio: bool) -> list[_Term] | None:
    """The terms whose sum is the difference of both distances, each with its ends; None as `nearness`."""
    if first.low is None or second.low is None:
        return None
    ends = [ends_of(number, by_ratio) for number in (first, second, real)]
    if ends[0] is None or ends[1] is None or ends[2] is None:
        return None
    a, b, r = ends[0], ends[1], ends[2]
    sides = [1.0 if value[0] >= r[0] else -1.0 for value in (a, b)]
    factors = sides[0], -sides[1], sides[1] - sides[0]
    return [
        _times(factor, of, number.without)
        for factor, of, number in zip(factors, (a, b, r), (first, second, real), strict=True)
    ]


def _times(factor: float, ends: tuple[float, float, float], without: Sequence[float]) -> _Term:
    value, low, high = (factor * end for end in ends)
    return _Term(value, min(low, high), max(low, high), factor * np.asarray(without))
