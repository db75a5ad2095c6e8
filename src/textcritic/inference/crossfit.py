"""Real documents judged by critics that have not seen them, and a test that refits the critics at each exchange.

Real documents are dealt into K parts, groups kept whole. Those of a part are judged by a critic that is fitted on the
other parts, a sample by the mean over the K critics. So no critic has seen what it judges, and all real text is the
reference. Documents are then not independent, because each is used to fit the critics of others: a test of their scores
rejects too often. What can be exchanged are the labels real and sample, with the parts and critics that follow from
them.

Documents of both sides with one group (a prompt, a book) are a pair: their labels are exchanged with each other, and
those of the sample are judged by the one critic that has not seen their partners.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Protocol

import numpy as np
import numpy.typing as npt

from textcritic.inference.bootstrap import LEAST_UNITS, NO_SPREAD, TOO_FEW
from textcritic.inference.clusters import Groups, are_grouped, one_of_each, unit_of
from textcritic.inference.jackknife import GROUPS, NOTHING, jackknife_variance, left_out_with, t_interval
from textcritic.inference.statistics import Array

Parts = npt.NDArray[np.int64]
SAMPLE, OUT = -1, -2
"""In place of a part: a document of the sample, and one that is left out."""
PARTNER = -3
"""Minus a part: a document of the sample that only the critic of this part may judge."""
EXCHANGES, REACHED = 999, 20
THINNINGS = 7
NOT_FINITE = "no interval and no test of an infinite value"
ROUNDING = 1e-12


class Refit(Protocol):
    """Critics that can be fitted on any documents of a set: the real documents and those of a sample together."""

    def sums(self, parts: Parts) -> tuple[Array, Array]:
        """What critics say of real documents and of the sample.

        Args:
            parts: [documents], the part of each real one, from 0; `SAMPLE`, `PARTNER` minus a part, or `OUT` of the
                others.

        Returns:
            Column sums [2], e.g. (NLL, steps), of the real documents, each under the critic of the other parts, and of
            the sample, weighted by `sample_weights`.
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
        paired: whether documents of both sides with one group are pairs.
        rare: whether the ratio is a share of something rare, whose variance grows with it: intervals are then of the
            values that lie within so many standard errors of their own (Wilson 1927, for counts).
    """

    parts: int
    exchanges: int = EXCHANGES
    reached: int = REACHED
    seed: int = 1
    paired: bool = True
    rare: bool = False


@dataclass(frozen=True, slots=True)
class CrossValue:
    """A ratio of sums of one side and its 95% interval, None where there is none; `reason` says why.

    `without` is the ratio without each of `GROUPS` groups of documents, where other samples share some of them.
    """

    value: float
    low: float | None = None
    high: float | None = None
    reason: str = ""
    without: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class CrossFit:
    """The results for real text and one sample.

    Attributes:
        real, sample: ratios of sums, with intervals by a jackknife that leaves out groups of documents of both sides.
        p: of the exchange of labels; None where there is no test.
        exchanges: as many were made.
        parts: [documents], as `Refit.sums` takes them, of the labels as they are.
        pairs: groups that both sides have.
        narrower: the interval of the difference, as a share of what it would be if the sides were independent; None
            without intervals.
    """

    real: CrossValue
    sample: CrossValue
    p: float | None
    exchanges: int
    parts: Parts
    pairs: int = 0
    narrower: float | None = None


def sample_weights(parts: Parts, part: int, number: int) -> Array:
    """How much each document of the sample counts under the critic of a part, of so many critics: [documents]."""
    weights: Array = (parts == SAMPLE) / number + (parts == PARTNER - part)
    return weights


def cross_fit(
    refit: Refit,
    groups: tuple[Groups, Groups],
    sizes: tuple[int, int],
    options: CrossOptions,
    shared: Mapping[str, int] = NOTHING,
) -> CrossFit:
    """Judge real documents and a sample by cross-fitting, and test whether they are drawn from one population.

    p is the share of exchanges of the labels, the observed one counted in, whose absolute difference of the two ratios
    is at least the observed one. The exchanges end when `reached` of them got there: p is then `reached` over their
    number (Besag and Clifford 1991). Whole groups are exchanged, and those that both sides have with each other. Where
    one side alone has groups, these are no more like single documents: p is then twice the median p over `THINNINGS`
    drawings of one document of each group (Meinshausen, Meier and Buehlmann 2009, of splits). The intervals are
    Student's over a jackknife that leaves out one of 20 groups of documents of both sides and refits the critics.
    docs/results/power.md has level, power and coverage.

    Args:
        refit: of all documents, the real ones first.
        groups: of the real documents and of the sample.
        sizes: real documents, and those of the sample.
        options: see the class.
        shared: by groups of the sample that other samples have too, the group of the jackknife with which it is left
            out, see `shared_groups`.
    """
    sides, parts = _Sides.of(groups, sizes, options.paired), observed_parts(groups, sizes, options)
    pairs = int(sides.shared.sum())
    values = _ratio(refit.sums(parts)[0]), _ratio(refit.sums(parts)[1])
    if not all(map(math.isfinite, values)):
        one, two = (CrossValue(v, reason="" if math.isfinite(v) else NOT_FINITE) for v in values)
        return CrossFit(one, two, None, 0, parts, pairs)
    left_out = _left_out(sides, groups[1] or (), options.seed, shared)
    one, two, narrower = _intervals(refit, parts, values, (sides, left_out), options)
    if not shared:
        one, two = (replace(of, without=()) for of in (one, two))
    if sides.are_alike:
        p, number = _exchanged(refit, sides, np.ones(len(parts), np.bool_), parts, options)
    else:
        tests: list[tuple[float, int]] = []
        for kept in sides.thinned(options.seed):
            tests.append(_exchanged(refit, sides, kept, parts, options))
            if sum(p <= 1 / (options.exchanges + 1) for p, _ in tests) > THINNINGS / 2:
                break  # the median is the least p that there is, whatever the others say
        p, number = min(1.0, 2 * float(np.median([p for p, _ in tests]))), sum(number for _, number in tests)
    return CrossFit(one, two, p, number, parts, pairs, narrower)


def observed_parts(groups: tuple[Groups, Groups], sizes: tuple[int, int], options: CrossOptions) -> Parts:
    """The parts of all documents under the labels as they are, see `Refit.sums`: [documents]."""
    sides = _Sides.of(groups, sizes, options.paired)
    with_real = int(sides.units[sides.real].max(initial=-1)) + 1  # units are numbered from those of real documents on
    order = np.random.default_rng(options.seed).permutation(with_real)
    return deal(sides.units, sides.real, np.append(order, np.arange(with_real, len(sides.shared))), options.parts)


@dataclass(frozen=True, slots=True)
class _Sides:
    """The documents of both sides.

    Attributes:
        units: [documents], those that belong together have the same number, from 0.
        real: [documents], whether it is a real one.
        shared: [units], whether both sides have documents of it.
        are_alike: whether units of one side alone can be exchanged: both sides have groups of those, or none has.
    """

    units: npt.NDArray[np.int64]
    real: npt.NDArray[np.bool_]
    shared: npt.NDArray[np.bool_]
    are_alike: bool

    @classmethod
    def of(cls, groups: tuple[Groups, Groups], sizes: tuple[int, int], paired: bool) -> "_Sides":
        names = [list(of) if of else [None] * size for of, size in zip(groups, sizes, strict=True)]
        both = {*names[0]} & {*names[1]} - {None} if paired else set()
        keys = [f"{'' if name in both else side}{name}" for side, of in enumerate(names) for name in of]
        alone = [None if name is None else key for name, key in zip([*names[0], *names[1]], keys, strict=True)]
        units = unit_of(alone, sum(sizes))
        real = np.arange(sum(sizes)) < sizes[0]
        shared = np.zeros(int(units.max(initial=-1)) + 1, np.bool_)
        shared[np.intersect1d(units[real], units[~real])] = True
        others = [[name for name in of if name not in both] for of in names]
        return cls(units, real, shared, are_grouped(others[0]) == are_grouped(others[1]))

    def thinned(self, seed: int) -> Iterator[npt.NDArray[np.bool_]]:
        """One document of each unit of each side, drawn at random, some times."""
        names = [f"{unit} {side}" for unit, side in zip(self.units.tolist(), self.real.tolist(), strict=True)]
        for drawing in range(THINNINGS):
            kept = np.zeros(len(names), np.bool_)
            kept[one_of_each(names, len(names), seed + drawing)] = True
            yield kept

    def exchanged(self, rng: np.random.Generator, kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Labels at random: as many units of one side alone are real as before, and shared ones are swapped or not."""
        there = np.bincount(self.units[kept], minlength=len(self.shared)) > 0
        single = np.flatnonzero(there & ~self.shared)
        were = np.zeros(len(self.shared), np.bool_)
        were[self.units[self.real]] = True
        chosen = np.zeros(len(self.shared), np.bool_)
        chosen[rng.permutation(single)[: int(were[single].sum())]] = True
        swapped = self.shared & (rng.random(len(self.shared)) < 0.5)
        labels: npt.NDArray[np.bool_] = np.where(
            self.shared[self.units], self.real ^ swapped[self.units], chosen[self.units]
        )
        return labels


def deal(units: npt.NDArray[np.int64], real: npt.NDArray[np.bool_], order: npt.NDArray[np.int64], parts: int) -> Parts:
    """Deal the units with real documents into parts of about as many of these: [documents], see `Refit.sums`.

    Args:
        units: of the documents, from 0.
        real: [documents].
        order: of the units, at random.
        parts: K; as many as there are units with real documents, if these are fewer.
    """
    sizes = np.bincount(units, real, len(order))[order]
    ordered, sizes = order[sizes > 0], sizes[sizes > 0]
    number = min(parts, len(ordered))
    of_units = np.full(len(order), PARTNER - SAMPLE)  # without a real document: its own are `SAMPLE`
    middles = np.cumsum(sizes) - sizes / 2
    of_units[ordered] = np.minimum(middles * number // max(sizes.sum(), 1), number - 1).astype(np.int64)
    dealt: Parts = np.where(real, of_units[units], PARTNER - of_units[units])
    return dealt


def _ratio(sums: Array) -> float:
    return float(sums[0] / sums[1]) if sums[1] else math.nan


def _left_out(sides: _Sides, groups: Sequence[str | None], seed: int, shared: Mapping[str, int]) -> Parts:
    """The group of the jackknife that each document is left out with: [documents]. Pairs are left out together."""
    units, real = sides.units, sides.real
    alone = ~real & ~sides.shared[units]
    of_units = np.empty(len(sides.shared), np.int64)
    of_units[units[real]] = left_out_with(units[real], seed)
    names = [*compress(groups, alone[~real])]
    of_units[units[alone]] = left_out_with(units[alone], seed, names, shared)
    parts: Parts = of_units[units]
    return parts


def _intervals(
    refit: Refit, parts: Parts, values: tuple[float, float], of: tuple[_Sides, Parts], options: CrossOptions
) -> tuple[CrossValue, CrossValue, float | None]:
    """Each value with its interval, from the values without each group of documents; and `CrossFit.narrower`."""
    (sides, left_out), real = of, of[0].real
    units = sides.units
    counts = [len(np.unique(units[of])) for of in (real, ~real)]
    if max(counts) < LEAST_UNITS:
        return CrossValue(values[0], reason=TOO_FEW), CrossValue(values[1], reason=TOO_FEW), None
    without = np.array(
        [[_ratio(of) for of in refit.sums(np.where(left_out == group, OUT, parts))] for group in range(GROUPS)]
    )
    spreads = jackknife_variance(without)
    results = []
    for value, spread, count, each in zip(values, spreads, counts, without.T.tolist(), strict=True):
        if count < LEAST_UNITS:
            results.append(CrossValue(value, reason=TOO_FEW))
        elif not spread > ROUNDING * value**2:
            results.append(CrossValue(value, reason=NO_SPREAD))
        else:
            low, high = map(float, t_interval(value, spread, GROUPS))
            ends = _of_rare(value, high - value) if options.rare else (low, high)
            results.append(CrossValue(value, *ends, without=tuple(each)))
    apart = float(jackknife_variance(without[:, 0] - without[:, 1]))
    narrower = math.sqrt(apart / spreads.sum()) if spreads.sum() > 0 else None
    return results[0], results[1], narrower


def _of_rare(value: float, width: float) -> tuple[float, float]:
    """The rates r with (value - r)^2 <= width^2 r / value, where `width` is that of an interval around the value."""
    half = width**2 / value / 2
    apart = math.sqrt(2 * half * value + half**2)
    return value + half - apart, value + half + apart


def _exchanged(
    refit: Refit, sides: _Sides, kept: npt.NDArray[np.bool_], parts: Parts, options: CrossOptions
) -> tuple[float, int]:
    """The p-value of the documents that are kept, and how many exchanges were made; `parts` are the observed ones."""
    rng = np.random.default_rng(options.seed)

    def dealt(real: npt.NDArray[np.bool_]) -> Parts:
        parts = np.full(len(kept), OUT)
        order = rng.permutation(len(sides.shared))
        parts[kept] = deal(sides.units[kept], real[kept], order, options.parts)
        return parts

    def difference(parts: Parts) -> tuple[float, float]:
        one, two = map(_ratio, refit.sums(parts))
        return abs(one - two), max(abs(one), abs(two))

    observed, size = difference(parts if kept.all() else dealt(sides.real))
    reached = 0
    for number in range(1, options.exchanges + 1):
        # An infinite difference of an exchange is larger, and an undefined one counts as larger.
        reached += not difference(dealt(sides.exchanged(rng, kept)))[0] < observed - ROUNDING * size
        if reached == options.reached:
            return reached / number, number
    return (reached + 1) / (options.exchanges + 1), options.exchanges
