"""Real documents judged by critics that have not seen them, and a test that fits the critics anew at each exchange.

Real documents are dealt into K parts, groups kept whole. Those of a part are judged by a critic of the other parts, a
sample by the mean over the K critics, so that no critic has seen what it judges, and none of the real text is lost as a
yardstick. Documents are then not independent, as each is in the critics of the others: a test of their scores rejects
too often. What can be exchanged are the labels real and sample, with all that follows from them: parts and critics.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from textcritic.inference.bootstrap import LEAST_UNITS, NO_SPREAD, TOO_FEW
from textcritic.inference.clusters import Groups, are_grouped, one_of_each, unit_of
from textcritic.inference.jackknife import GROUPS, document_groups, jackknife_variance, t_interval
from textcritic.inference.statistics import Array

Parts = npt.NDArray[np.int64]
SAMPLE, OUT = -1, -2
"""In place of a part: a document of the sample, and one that is left out."""
PARTS, EXCHANGES, REACHED = 5, 999, 20
MOST = 1_000
"""Real documents above which one split is as good, and cheaper."""
THINNINGS = 20
NOT_FINITE = "no interval and no test of an infinite value"
ROUNDING = 1e-12


class Refit(Protocol):
    """Critics that are fitted anew on any documents of a set, real ones and those of a sample put together."""

    def sums(self, parts: Parts) -> tuple[Array, Array]:
        """What critics say of real documents and of the sample.

        Args:
            parts: [documents], the part of each real one, from 0; `SAMPLE` or `OUT` of the others.

        Returns:
            Column sums [2], e.g. (NLL, steps), of the real documents, each under the critic of the other parts, and of
            the sample, the mean over the critics of all parts.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossOptions:
    """How documents are dealt and exchanged.

    Attributes:
        parts: K, at most as many as there are real documents or groups of them.
        exchanges: of labels, at most.
        reached: the test ends when so many exchanges reached the observed difference.
        seed: of `numpy.random.default_rng`.
        rare: whether the ratio is a share of something rare, whose variance grows with it: intervals are then of the
            values that lie within so many standard errors of their own (Wilson 1927, for counts).
    """

    parts: int = PARTS
    exchanges: int = EXCHANGES
    reached: int = REACHED
    seed: int = 1
    rare: bool = False


@dataclass(frozen=True, slots=True)
class CrossValue:
    """A ratio of sums of one side and its 95% interval, None where there is none; `reason` says why."""

    value: float
    low: float | None = None
    high: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CrossFit:
    """What is said of real text and of one sample.

    Attributes:
        real, sample: ratios of sums, with intervals by a jackknife that leaves out groups of documents of both sides.
        p: of the exchange of labels; None where there is no test.
        exchanges: as many were made.
        parts: [documents], the part of each real one, `SAMPLE` of the others.
    """

    real: CrossValue
    sample: CrossValue
    p: float | None
    exchanges: int
    parts: Parts


def cross_fit(refit: Refit, groups: tuple[Groups, Groups], sizes: tuple[int, int], options: CrossOptions) -> CrossFit:
    """Judge real documents and a sample by cross-fitting, and test whether they are drawn from one population.

    p is the share of exchanges of the labels, the observed one counted in, whose absolute difference of the two ratios
    is at least the observed one. The exchanges end when `reached` of them got there: p is then `reached` over their
    number (Besag and Clifford 1991). Whole groups are exchanged. Where one side alone has groups, these are no more
    like single documents: p is then twice the median p over `THINNINGS` drawings of one document of each group
    (Meinshausen, Meier and Buehlmann 2009, of splits). The intervals are Student's over a jackknife that leaves out
    one of 20 groups of documents of both sides, critics fitted anew. docs/results.md has level, power and coverage.

    Args:
        refit: of all documents, the real ones first.
        groups: of the real documents and of the sample.
        sizes: real documents, and those of the sample.
        options: see the class.
    """
    sides, parts = _Sides.of(groups, sizes), observed_parts(groups, sizes, options)
    real, sample = refit.sums(parts)
    values = _ratio(real), _ratio(sample)
    if not all(map(math.isfinite, values)):
        one, two = (CrossValue(v, reason="" if math.isfinite(v) else NOT_FINITE) for v in values)
        return CrossFit(one, two, None, 0, parts)
    intervals = _intervals(refit, parts, values, sides, options)
    if are_grouped(groups[0]) == are_grouped(groups[1]):
        p, number = _exchanged(refit, sides, np.ones(len(parts), np.bool_), options)
        return CrossFit(*intervals, p, number, parts)
    tests = [_exchanged(refit, sides, kept, options) for kept in sides.thinned(options.seed)]
    p = min(1.0, 2 * float(np.median([p for p, _ in tests])))
    return CrossFit(*intervals, p, sum(number for _, number in tests), parts)


def observed_parts(groups: tuple[Groups, Groups], sizes: tuple[int, int], options: CrossOptions) -> Parts:
    """The part of each real document under the labels as they are, and `SAMPLE` of the others: [documents]."""
    units = unit_of(groups[0], sizes[0])
    order = np.random.default_rng(options.seed).permutation(units.max(initial=-1) + 1)
    return np.concatenate([deal(units, order, len(order), options.parts), np.full(sizes[1], SAMPLE)])


@dataclass(frozen=True, slots=True)
class _Sides:
    """The documents of both sides: the unit of each, [documents], and how many are real and of the sample."""

    units: npt.NDArray[np.int64]
    real: int
    sample: int

    @classmethod
    def of(cls, groups: tuple[Groups, Groups], sizes: tuple[int, int]) -> "_Sides":
        first, second = (unit_of(names, size) for names, size in zip(groups, sizes, strict=True))
        return cls(np.concatenate([first, second + first.max(initial=-1) + 1]), *sizes)

    def thinned(self, seed: int) -> Iterator[npt.NDArray[np.bool_]]:
        """One document of each unit, drawn at random, some times."""
        for drawing in range(THINNINGS):
            kept = np.zeros(len(self.units), np.bool_)
            kept[one_of_each([str(unit) for unit in self.units], len(self.units), seed + drawing)] = True
            yield kept


def deal(units: npt.NDArray[np.int64], order: npt.NDArray[np.int64], real: int, parts: int) -> Parts:
    """Call the first units of an order real, and deal them into parts of about as many documents: [documents].

    Args:
        units: of the documents, from 0.
        order: of the units.
        real: how many units are real; documents of the others are `SAMPLE`.
        parts: K; as many as there are real units, if these are fewer.
    """
    sizes = np.bincount(units, minlength=len(order))[order][:real]
    middles = np.cumsum(sizes) - sizes / 2
    number = min(parts, real)
    of_units = np.full(len(order), SAMPLE)
    of_units[order[:real]] = np.minimum(middles * number // max(int(sizes.sum()), 1), number - 1)
    dealt: Parts = of_units[units]
    return dealt


def _ratio(sums: Array) -> float:
    return float(sums[0] / sums[1]) if sums[1] else math.nan


def _intervals(
    refit: Refit, parts: Parts, values: tuple[float, float], sides: _Sides, options: CrossOptions
) -> tuple[CrossValue, CrossValue]:
    """Each value with its interval, from the values without each group of documents of both sides."""
    units = sides.units
    first = int(units[: sides.real].max()) + 1
    counts = first, int(units.max()) + 1 - first
    if max(counts) < LEAST_UNITS:
        return CrossValue(values[0], reason=TOO_FEW), CrossValue(values[1], reason=TOO_FEW)
    left_out = np.concatenate([document_groups(count, GROUPS, options.seed) for count in counts])[units]
    without = []
    for group in range(GROUPS):
        without.append([_ratio(sums) for sums in refit.sums(np.where(left_out == group, OUT, parts))])
    found = []
    for value, spread, count in zip(values, jackknife_variance(without), counts, strict=True):
        if count < LEAST_UNITS:
            found.append(CrossValue(value, reason=TOO_FEW))
        elif not spread > ROUNDING * value**2:
            found.append(CrossValue(value, reason=NO_SPREAD))
        else:
            low, high = map(float, t_interval(value, spread, GROUPS))
            found.append(CrossValue(value, *(_of_rare(value, high - value) if options.rare else (low, high))))
    return found[0], found[1]


def _of_rare(value: float, width: float) -> tuple[float, float]:
    """The rates r with (value - r)^2 <= width^2 r / value, where `width` is that of an interval around the value."""
    half = width**2 / value / 2
    apart = math.sqrt(2 * half * value + half**2)
    return value + half - apart, value + half + apart


def _exchanged(refit: Refit, sides: _Sides, kept: npt.NDArray[np.bool_], options: CrossOptions) -> tuple[float, int]:
    """The p-value of the documents that are kept, and how many exchanges were made."""
    documents = np.flatnonzero(kept)
    units = np.unique(sides.units[documents], return_inverse=True)[1]
    real = int(units[documents < sides.real].max()) + 1
    every, rng = int(units.max()) + 1, np.random.default_rng(options.seed)

    def difference(order: npt.NDArray[np.int64]) -> tuple[float, float]:
        parts = np.full(len(kept), OUT)
        parts[documents] = deal(units, order, real, options.parts)
        one, two = map(_ratio, refit.sums(parts))
        return abs(one - two), max(abs(one), abs(two))

    start = np.concatenate([rng.permutation(real), real + np.arange(every - real)])
    observed, size = difference(start)
    reached = 0
    for number in range(1, options.exchanges + 1):
        # An infinite difference of an exchange is larger, and one that cannot be told counts as larger.
        reached += not difference(rng.permutation(every))[0] < observed - ROUNDING * size
        if reached == options.reached:
            return reached / number, number
    return (reached + 1) / (options.exchanges + 1), options.exchanges
