"""How far one set of documents is from another, tendency by tendency: plain distances, and the same with tests."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from scipy.sparse import csr_matrix, hstack

from textcritic.critics.tendencies.counts import LENGTH, TYPES, Counts
from textcritic.critics.tendencies.estimates import histogram_of, made_by
from textcritic.critics.tendencies.scaling_differences import Compared, Sums, recurrence_compared, taylor_compared
from textcritic.critics.tendencies.type_token import ByLength, Documents, type_token_distance, type_token_test
from textcritic.errors import TextcriticError
from textcritic.inference import (
    ALPHA,
    DISTANCES,
    LEAST_TESTED,
    LEAST_UNITS,
    GroupTest,
    chi_square,
    group_permutation,
    half_l1,
    ks_distance,
    ks_interval,
    ks_test,
    largest_difference_interval,
    max_difference,
    mean_test,
    rank_interval,
    rank_permutation,
    twice_median,
)
from textcritic.inference.group_sizes import BothGroups, balanced_groups
from textcritic.inference.groups import ROUNDING
from textcritic.plan.entries import Tendencies

VALUES = ("length", "stopwords", "symbols")
SCALING: Mapping[str, Callable[[Sums, Sums], Compared]] = {
    "taylor": taylor_compared,
    "recurrence": recurrence_compared,
}
# A difference of this many times the significant difference is noticed in 80% of cases: (1.96 + 0.84) / 1.96 for a
# normally distributed number, and less for the largest of several.
NOTICED = 1.43
DRAWINGS = 20
"""How often groups of the larger set are drawn where documents belong together."""
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
BySize: TypeAlias = Mapping[str, Floats | float]
"""The effect of the sizes of two sets alone on `rank`, a curve, and on `taylor_distance` and `recurrence_distance`."""


@dataclass(frozen=True, slots=True)
class Distance:
    """A distance of a sample from real text, or a signed difference: sample minus real text.

    Attributes:
        value: the number.
        low, high: the 95% interval of the distance of the two sources, without the effect of chance; NaN if there is no
            interval.
        p: p-value of the test against real text; NaN if there is no test.
        p_as_printed: for a difference of means, see `inference.mean_test`.
        by_chance: the mean distance if documents of both sets are exchanged at random; NaN if there is no test.
        noticed: the distance of two sources that sets of these sizes would notice, p < 0.05, in 80% of cases or more;
            NaN if there is no test.
        null: the values of the test's permutations, for a picture.
        by_length: for the number of types, the distance at each length.
        by_size: see `BySize`; it is subtracted from the value.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    p_as_printed: float = math.nan
    by_chance: float = math.nan
    noticed: float = math.nan
    null: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0), repr=False)
    by_length: ByLength | None = None
    by_size: Floats | float = 0.0


Made = dict[str, Distance]


def plain_distances(real: Counts, other: Counts, options: Tendencies, by_size: BySize) -> dict[str, float]:
    """The distances of a set of documents from real text, without intervals and tests: for second draws.

    Names as in `distances`. Distances that cannot be measured are left out.

    Args:
        real: the real text.
        other: the documents.
        options: how they are measured.
        by_size: the effects to subtract for sets of these sizes; distances that need one and have none are left out.
    """
    if not (real.tokens and other.tokens):
        return {}
    pair = Pair(real, other)
    makers: dict[str, Callable[[], float]] = {
        "heaps": lambda: type_token_distance(documents_of(real), documents_of(other), options.least),
        "unigram_max": lambda: float(max_difference(*pair.totals)),
        "unigram_half_l1": lambda: float(half_l1(*pair.totals)),
        "unigram_chi_square": lambda: float(chi_square(*pair.totals)),
        "bigram_max": lambda: float(max_difference(*(np.asarray(c.pairs.sum(axis=0)).ravel() for c in (real, other)))),
    }
    makers |= {f"{name}_ks": partial(_value_distance, pair, name) for name in VALUES}
    if "rank" in by_size:
        makers["rank"] = lambda: float(np.abs(_signed_ranks(pair, options.ranks, by_size["rank"])).max())
    for name in SCALING:
        if (own := f"{name}_distance") in by_size:
            makers[own] = partial(_plain_scaling, pair, name, float(by_size[own]))
    by_name = {}
    for name, make in makers.items():
        try:
            by_name[name] = make()
        except TextcriticError:
            continue
    return by_name


def distances(pair: "Pair", options: Tendencies, only: Collection[str] = ()) -> tuple[Made, dict[str, str]]:
    """The distances of a sample from real text by name, and why others could not be measured.

    `rank` (Kolmogorov-Smirnov over the first ranks, the paper's D_p), `heaps` (the same of the number of types at equal
    length, in the mean over lengths), `unigram_max`, `unigram_half_l1`, `unigram_chi_square`, `bigram_max`,
    `length_ks`, `stopwords_ks`, `symbols_ks`, `taylor_distance`, `recurrence_distance`; and signed differences, sample
    minus real text: `rank_difference` (of the cumulative shares where they are farthest apart), `types_difference`
    (relative, mean over lengths), `length_difference`, `stopwords_difference`, `symbols_difference`,
    `taylor_difference`, `recurrence_difference`.

    Tests of words, ranks, bigrams, Taylor's exponent and recurrence exchange groups of documents, those of lengths and
    shares exchange documents: they are valid for all sizes of the sets. The effect of the sizes alone on a difference
    of ranks, of Taylor's exponent and of recurrence is subtracted. Intervals are about the distance of the two sources,
    which is 0 for two samples of one population. `unigram_half_l1` and `unigram_chi_square`, which grow with every rare
    word, have none; nor has any distance if a set has fewer than `LEAST_UNITS` units (`Counts.unit`). With fewer than
    `LEAST_TESTED` there is no test.

    Documents that belong together stay in one group. If there are such documents, p and `noticed` of words, bigrams and
    ranks are computed from equally many groups on both sides (`_balanced`), and all else from all documents. The tests
    of lengths, shares and types by length take documents as independent: they use one document of each unit, drawn at
    random, and so do their distances.

    Args:
        pair: real text and sample.
        options: how they are measured.
        only: the names of the distances that are wanted; empty: all.
    """
    recipes: dict[tuple[str, ...], Callable[[], Made]] = {
        ("unigram_max", "unigram_half_l1", "unigram_chi_square"): partial(_words, pair, options),
        ("bigram_max",): partial(_bigrams, pair, options),
        ("rank", "rank_difference"): partial(_ranks, pair, options),
        ("heaps", "types_difference"): partial(_heaps, pair, options),
    }
    recipes |= {(f"{name}_ks", f"{name}_difference"): partial(_values, pair, name, options) for name in VALUES}
    recipes |= {(f"{name}_distance", f"{name}_difference"): partial(_scaling, pair, name, options) for name in SCALING}
    chosen = {names: make for names, make in recipes.items() if not only or set(names) & set(only)}
    by_name, missing = made_by(chosen, pair.real, pair.sample)
    none, units = math.nan, min(pair.real.units, pair.sample.units)
    if units < LEAST_UNITS:
        by_name = {name: replace(one, low=none, high=none) for name, one in by_name.items()}
    if units < LEAST_TESTED:
        by_name = {name: replace(one, p=none, p_as_printed=none, noticed=none) for name, one in by_name.items()}
    return by_name, missing


class Pair:
    """Two sets of documents with one vocabulary: the words of real text, then the other words of the sample."""

    def __init__(self, real: Counts, sample: Counts) -> None:
        self.real, self.sample = real, sample
        places = pc.index_in(sample.words, value_set=real.words)
        new = np.asarray(pc.is_null(places))
        self.column = np.asarray(pc.fill_null(places, 0)).astype(np.int64)
        self.column[new] = len(real.words) + np.arange(new.sum())
        self.width = len(real.words) + int(new.sum())
        self.matrices = self._aligned("matrix")
        self.totals: tuple[Ints, Ints] = (
            np.pad(real.unigrams(), (0, self.width - len(real.words))),
            np.bincount(self.column, sample.unigrams(), self.width).astype(np.int64),
        )

    def _aligned(self, name: str) -> tuple[csr_matrix, csr_matrix]:
        """A matrix of words by group, of real text and of the sample, in the common vocabulary."""
        own, other = getattr(self.real, name), getattr(self.sample, name)
        wider = csr_matrix((self.real.groups, self.width - own.shape[1]), dtype=np.int64)
        moved = (other.data, self.column[other.indices], other.indptr)
        return hstack([own, wider], format="csr"), csr_matrix(moved, shape=(self.sample.groups, self.width))

    def sizes(self) -> tuple[Ints, Ints]:
        """Documents in each group of both."""
        return tuple(np.bincount(c.group, minlength=c.groups) for c in (self.real, self.sample))  # type: ignore[return-value]

    @property
    def is_grouped(self) -> bool:
        """Whether documents of one of both belong together."""
        return any(counts.units < len(counts.unit) for counts in (self.real, self.sample))

    def balanced(self, both: tuple[csr_matrix, csr_matrix], seed: int) -> list[BothGroups]:
        """See `balanced_groups`, of the sample and of real text; nothing where no documents belong together."""
        return balanced_groups(*both, self.sizes()[::-1], DRAWINGS, seed) if self.is_grouped else []

    def sums(self) -> tuple[Sums, Sums]:
        """What Taylor's exponent and recurrence are made of: of the sample, and of real text."""
        parts = zip(self._aligned("segment_sums"), self._aligned("segment_squares"), self.matrices, strict=True)
        both = [
            Sums(sizes, counts.segments, sums, squares, counts.recurrence, counts.lags, matrix)
            for counts, sizes, (sums, squares, matrix) in zip(
                (self.real, self.sample), self.sizes(), parts, strict=True
            )
        ]
        return both[1], both[0]


def _tested(value: float, ends: tuple[float, float], p: float, null: Floats, most: float = 1.0) -> Distance:
    """A distance with its test and its interval.

    The interval is symmetric, and reaches at least as far as 95% of the distances of exchanged documents: it holds 0
    unless p is below 0.05. Resampled intervals alone reach less far where few documents are resampled.

    Args:
        value: the distance.
        ends: of its interval, resampled.
        p: of its test.
        null: distances of exchanged documents.
        most: the distance that there can be.
    """
    significant = float(np.quantile(null, 0.95, method="higher"))
    reach = max(value - ends[0], ends[1] - value, significant)
    low = 0.0 if value <= significant * (1 + ROUNDING) else max(0.0, value - reach)
    chance, noticed = float(null.mean()), min(NOTICED * significant, most)
    return Distance(value, low, min(value + reach, most), p, by_chance=chance, noticed=noticed, null=null)


def _balanced(one: Distance, tests: Sequence[GroupTest]) -> Distance:
    """A distance of all documents with the p-value of tests of as many groups on both sides, `twice_median` of theirs.

    Without such tests it stays as it is. Groups of documents that belong together differ more than others do. If all of
    them were exchanged with more groups of single documents, p would be below 0.05 in up to 21% under the null.
    """
    if not tests:
        return one
    p = twice_median([test.p for test in tests])
    # Twice the median is below 0.05 where half of the tests are below half of it.
    significant = float(np.median([np.quantile(test.null, 1 - ALPHA / 2, method="higher") for test in tests]))
    if math.isnan(one.noticed):  # without an interval
        return replace(one, p=p)
    return replace(one, p=p, low=one.low if p < ALPHA else 0.0, noticed=min(NOTICED * significant, 1.0))


def _words(pair: Pair, options: Tendencies) -> Made:
    """Test and interval by groups of documents: the test exchanges them, the interval draws them with replacement."""
    both, test_of = pair.matrices[::-1], partial(group_permutation, resamples=options.resamples, seed=options.seed)
    tests = test_of(*both, pair.sizes()[::-1])
    by_name: Made = {}
    for name, key, distance in (
        ("unigram_half_l1", "half_l1", half_l1),
        ("unigram_chi_square", "chi_square", chi_square),
    ):
        test = tests[key]
        by_name[name] = Distance(float(distance(*pair.totals)), p=test.p, by_chance=test.chance, null=test.null)
    by_name["unigram_max"] = _largest(both, tests["max_difference"], options)
    others = [test_of(*groups) for groups in pair.balanced(both, options.seed)]
    keys = {"unigram_half_l1": "half_l1", "unigram_chi_square": "chi_square", "unigram_max": "max_difference"}
    return {name: _balanced(one, [other[keys[name]] for other in others]) for name, one in by_name.items()}


def _bigrams(pair: Pair, options: Tendencies) -> Made:
    both, chosen = (pair.sample.pairs, pair.real.pairs), {"largest": DISTANCES["max_difference"]}
    test_of = partial(group_permutation, distances=chosen, resamples=options.resamples, seed=options.seed)
    largest = _largest(both, test_of(*both, pair.sizes()[::-1])["largest"], options)
    return {
        "bigram_max": _balanced(largest, [test_of(*groups)["largest"] for groups in pair.balanced(both, options.seed)])
    }


def _largest(both: tuple[csr_matrix, csr_matrix], test: GroupTest, options: Tendencies) -> Distance:
    interval = largest_difference_interval(*both, options.resamples, seed=options.seed)
    return _tested(interval.estimate, interval.ends, test.p, test.null)


def _ranks(pair: Pair, options: Tendencies) -> Made:
    both = pair.matrices[::-1]
    test_of = partial(rank_permutation, ranks=options.ranks, resamples=options.resamples, seed=options.seed)
    test = test_of(*both, sizes=pair.sizes()[::-1])
    interval = rank_interval(*both, options.ranks, test.by_size, options.resamples, options.seed)
    signed = _signed_ranks(pair, options.ranks, test.by_size)
    own = _tested(interval.estimate, interval.ends, test.p, test.null)
    own = _balanced(own, [test_of(one, two, sizes=sizes) for one, two, sizes in pair.balanced(both, options.seed)])
    return {
        "rank": replace(own, by_size=test.by_size),
        "rank_difference": Distance(float(signed[np.abs(signed).argmax()])),
    }


def _signed_ranks(pair: Pair, ranks: int, by_size: Floats | float) -> Floats:
    """Cumulative shares of the sample minus those of real text, minus the effect of their sizes: [ranks]."""
    gap = _cumulative(pair.sample.unigrams(), ranks) - _cumulative(pair.real.unigrams(), ranks)
    curve = np.zeros(ranks)
    curve[: np.size(by_size)] = by_size
    return gap - curve


def _cumulative(words: Ints, ranks: int) -> Floats:
    """Shares of the tokens of the first ranks up to each of them: [ranks]."""
    summed = np.cumsum(words[:ranks], dtype=np.float64)
    return np.pad(summed, (0, ranks - len(summed)), mode="edge") / summed[-1]


def _heaps(pair: Pair, options: Tendencies) -> Made:
    result = type_token_test(
        documents_of(pair.real), documents_of(pair.sample), options.least, options.resamples, options.seed
    )
    test, gap = result.test, result.difference
    own = _tested(test.distance, (test.low, test.high), test.p, test.null)
    return {
        "heaps": replace(own, by_length=result.by_length),
        "types_difference": Distance(gap.difference, gap.low, gap.high),
    }


def _values(pair: Pair, name: str, options: Tendencies) -> Made:
    first, second = (histogram_of(counts.one_of_each(), name) for counts in (pair.sample, pair.real))
    test = ks_test(first, second, options.resamples, options.seed)
    within = ks_interval(first, second, options.resamples, seed=options.seed)
    means = mean_test(first, second, options.resamples, seed=options.seed)
    return {
        f"{name}_ks": _tested(test.distance, within.ends, test.p, test.null),
        f"{name}_difference": Distance(
            means.difference, means.low, means.high, means.p, means.p_as_printed, null=means.null
        ),
    }


def _value_distance(pair: Pair, name: str) -> float:
    return ks_distance(*(histogram_of(counts.one_of_each(), name) for counts in (pair.sample, pair.real)))[0]


def _scaling(pair: Pair, name: str, options: Tendencies) -> Made:
    test = SCALING[name](*pair.sums()).test(options.resamples, options.seed)
    value, half = abs(test.difference), (test.high - test.low) / 2
    own = _tested(value, (value - half, value + half), test.p, np.abs(test.null), math.inf)
    reach = own.high - value
    ends = test.difference - reach, test.difference + reach
    return {
        f"{name}_distance": replace(own, by_size=test.by_size),
        f"{name}_difference": Distance(test.difference, *ends, test.p),
    }


def _plain_scaling(pair: Pair, name: str, by_size: float) -> float:
    return abs(SCALING[name](*pair.sums()).difference() - by_size)


def documents_of(counts: Counts) -> Documents:
    """Length and types of each document that has a token; only one of the documents that belong together."""
    alone = counts.one_of_each()
    return Documents.of(alone.column(LENGTH), alone.column(TYPES))
