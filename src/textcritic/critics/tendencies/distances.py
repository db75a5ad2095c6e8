"""How far one set of documents is from another, tendency by tendency: plain distances, and the same with tests."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from scipy.sparse import csr_matrix, hstack

from textcritic.critics.tendencies.counts import LENGTH, TYPES, Counts
from textcritic.critics.tendencies.estimates import Options, histogram_of, made_by, pooled
from textcritic.critics.tendencies.scaling import fit_taylor, word_recurrence
from textcritic.critics.tendencies.type_token import ByLength, Documents, type_token_distance, type_token_test
from textcritic.critics.tendencies.zipf_distances import rank_distance
from textcritic.errors import TextcriticError, named
from textcritic.inference import (
    DifferenceTest,
    JackknifeEstimate,
    chi_square,
    difference_test,
    distance_intervals,
    group_permutation,
    half_l1,
    ks_distance,
    ks_interval,
    ks_test,
    max_difference,
    mean_test,
    rank_interval,
    rank_permutation,
)

VALUES = ("length", "stopwords", "symbols")
SCALING = ("taylor", "recurrence")
T = TypeVar("T")
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Distance:
    """A distance of a sample from real text, or a signed difference: sample minus real text.

    Attributes:
        value: the number.
        low, high: its 95% interval; NaN where there is none.
        p: of the test against real text; NaN where there is none.
        p_as_printed: of a difference of means, see `inference.mean_test`.
        by_chance: the mean of the distance where documents of both sets are exchanged at random; NaN where not tested.
        null: the values of the test's permutations, for a picture.
        by_length: of the number of types, the distance at each length.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    p_as_printed: float = math.nan
    by_chance: float = math.nan
    null: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0), repr=False)
    by_length: ByLength | None = None


Made = dict[str, Distance]


def plain_distances(
    real: Counts, other: Counts, options: Options, only: Collection[str] | None = None
) -> dict[str, float]:
    """The distances of a set of documents from real text, without intervals and tests: for second draws, and by size.

    Names as in `distances`, or those of `only`. What cannot be measured is not there.
    """
    if not (real.tokens and other.tokens):
        return {}
    pair = Pair(real, other)
    makers: dict[str, Callable[[], float]] = {
        "rank": lambda: rank_distance(other.unigrams(), real.unigrams(), options.ranks).distance,
        "heaps": lambda: type_token_distance(documents_of(real), documents_of(other), options.least),
        "unigram_max": lambda: float(max_difference(*pair.totals)),
        "unigram_half_l1": lambda: float(half_l1(*pair.totals)),
        "unigram_chi_square": lambda: float(chi_square(*pair.totals)),
    }
    makers |= {f"{name}_ks": partial(_value_distance, pair, name) for name in VALUES}
    makers |= {f"{name}_distance": partial(_scaling_distance, pair, name) for name in SCALING}
    found = {}
    for name in makers if only is None else only:
        try:
            found[name] = makers[name]()
        except TextcriticError:
            continue
    return found


def distances(pair: "Pair", options: Options) -> tuple[Made, dict[str, str]]:
    """The distances of a sample from real text by name, and why others could not be measured.

    `rank` (Kolmogorov-Smirnov over the first ranks, the paper's D_p), `heaps` (the same of the number of types at equal
    length, in the mean over lengths), `unigram_max`, `unigram_half_l1`, `unigram_chi_square`, `length_ks`,
    `stopwords_ks`, `symbols_ks`, `taylor_distance`, `recurrence_distance`; and signed differences, sample minus real
    text: `rank_difference` (of the cumulative shares where they are farthest apart), `types_difference` (relative, mean
    over lengths), `length_difference`, `stopwords_difference`, `symbols_difference`, `taylor_difference`,
    `recurrence_difference`.

    Tests of words exchange groups of documents, those of lengths and shares documents. Those of Taylor's exponent and
    of recurrence, whose standard errors come from leaving out groups of documents, are t-tests.
    """
    recipes: dict[tuple[str, ...], Callable[[], Made]] = {
        ("unigram_max", "unigram_half_l1", "unigram_chi_square"): partial(_words, pair, options),
        ("rank", "rank_difference"): partial(_ranks, pair, options),
        ("heaps", "types_difference"): partial(_heaps, pair, options),
    }
    recipes |= {(f"{name}_ks", f"{name}_difference"): partial(_values, pair, name, options) for name in VALUES}
    recipes |= {(f"{name}_distance", f"{name}_difference"): partial(_scaling, pair, name) for name in SCALING}
    return made_by(recipes, pair.real, pair.sample)


class Pair:
    """Two sets of documents, their words in one vocabulary: that of real text, and what else the sample has."""

    def __init__(self, real: Counts, sample: Counts) -> None:
        self.real, self.sample = real, sample
        places = pc.index_in(sample.words, value_set=real.words)
        new = np.asarray(pc.is_null(places))
        column = np.asarray(pc.fill_null(places, 0)).astype(np.int64)
        column[new] = len(real.words) + np.arange(new.sum())
        width = len(real.words) + int(new.sum())
        counted = sample.matrix
        self.matrices = (
            hstack([real.matrix, csr_matrix((real.groups, width - len(real.words)), dtype=np.int64)], format="csr"),
            csr_matrix((counted.data, column[counted.indices], counted.indptr), shape=(sample.groups, width)),
        )
        self.totals: tuple[Ints, Ints] = (
            np.pad(real.unigrams(), (0, width - len(real.words))),
            np.bincount(column, sample.unigrams(), width).astype(np.int64),
        )

    def sizes(self) -> tuple[Ints, Ints]:
        """Documents in each group of both."""
        return tuple(np.bincount(c.group, minlength=c.groups) for c in (self.real, self.sample))  # type: ignore[return-value]


def _words(pair: Pair, options: Options) -> Made:
    """Of groups of documents: the test exchanges them, the interval leaves each out in turn."""
    tests = group_permutation(
        *pair.matrices[::-1], sizes=pair.sizes()[::-1], resamples=options.resamples, seed=options.seed
    )
    intervals = distance_intervals(*pair.matrices[::-1])
    names = {"unigram_max": "max_difference", "unigram_half_l1": "half_l1", "unigram_chi_square": "chi_square"}
    made: Made = {}
    for name, key in names.items():
        test, found = tests[key], intervals[key]
        made[name] = Distance(
            found.estimate, max(0.0, found.low), found.high, test.p, by_chance=test.chance, null=test.null
        )
    return made


def _ranks(pair: Pair, options: Options) -> Made:
    test = rank_permutation(
        *pair.matrices[::-1], options.ranks, pair.sizes()[::-1], resamples=options.resamples, seed=options.seed
    )
    found = rank_interval(*pair.matrices[::-1], options.ranks)
    sample, real = (_cumulative(counts.unigrams(), options.ranks) for counts in (pair.sample, pair.real))
    signed = sample - real
    farthest = float(signed[np.abs(signed).argmax()])
    return {
        "rank": Distance(found.estimate, max(0.0, found.low), found.high, test.p, by_chance=test.chance),
        "rank_difference": Distance(farthest),
    }


def _cumulative(words: Ints, ranks: int) -> Floats:
    """Shares of the tokens of the first ranks up to each of them: [ranks]."""
    summed = np.cumsum(words[:ranks], dtype=np.float64)
    return np.pad(summed, (0, ranks - len(summed)), mode="edge") / summed[-1]


def _heaps(pair: Pair, options: Options) -> Made:
    found = type_token_test(
        documents_of(pair.real), documents_of(pair.sample), options.least, options.resamples, options.seed
    )
    test, gap = found.test, found.difference
    return {
        "heaps": Distance(test.distance, test.low, test.high, test.p, by_chance=test.chance, by_length=found.by_length),
        "types_difference": Distance(gap.difference, gap.low, gap.high),
    }


def _values(pair: Pair, name: str, options: Options) -> Made:
    first, second = histogram_of(pair.sample, name), histogram_of(pair.real, name)
    test = ks_test(first, second, options.resamples, options.seed)
    within = ks_interval(first, second, options.resamples, seed=options.seed)
    means = mean_test(first, second, options.resamples, seed=options.seed)
    return {
        f"{name}_ks": Distance(test.distance, within.low, within.high, test.p, by_chance=test.chance),
        f"{name}_difference": Distance(
            means.difference, means.low, means.high, means.p, means.p_as_printed, null=means.null
        ),
    }


def _value_distance(pair: Pair, name: str) -> float:
    return ks_distance(histogram_of(pair.sample, name), histogram_of(pair.real, name))[0]


def _scaling_distance(pair: Pair, name: str) -> float:
    first, second = _both_scaled((pooled(pair.sample), pooled(pair.real)), name)
    return abs(first.estimate - second.estimate)


def _scaling(pair: Pair, name: str) -> Made:
    test = _scaled(pair, name)
    ends = sorted((abs(test.low), abs(test.high)))
    low, high = (0.0 if test.low <= 0 <= test.high else ends[0]), ends[1]
    return {
        f"{name}_distance": Distance(abs(test.difference), low, high, test.p),
        f"{name}_difference": Distance(test.difference, test.low, test.high, test.p),
    }


def _scaled(pair: Pair, name: str) -> DifferenceTest:
    """Taylor's exponent, or the recurrence at lags that both sets have, of the sample less those of real text."""
    both = (pair.sample, pair.real)
    first, second = _both_scaled(both, name)
    return difference_test(first, second, min(c.groups for c in both))


def _both_scaled(both: tuple[Counts, Counts], name: str) -> list[JackknifeEstimate]:
    if name == "recurrence":
        return _recurrences(both)
    laws = _of_both(both, lambda c: fit_taylor(c.segments, c.segment_sums, c.segment_squares))
    return [JackknifeEstimate(law.alpha, law.standard_error, law.low, law.high) for law in laws]


def _of_both(both: tuple[Counts, Counts], make: Callable[[Counts], T]) -> list[T]:
    """The same of a sample and of real text; a fault of real text is said to be one."""
    sample = make(both[0])
    with named("real text"):
        return [sample, make(both[1])]


def _recurrences(both: tuple[Counts, Counts]) -> list[JackknifeEstimate]:
    used = _of_both(both, lambda c: word_recurrence(c.recurrence, c.lags, c.matrix).used)
    common = np.intersect1d(used[0], used[1])
    if not len(common):
        raise TextcriticError("recurrence: too few tokens stand 8 or more apart in one document; give longer documents")
    found = []
    for counts in both:
        columns = np.isin(counts.lags, common)
        one = word_recurrence(counts.recurrence[:, columns], counts.lags[columns], counts.matrix)
        found.append(JackknifeEstimate(one.excess, one.excess_standard_error, one.excess_low, one.excess_high))
    return found


def documents_of(counts: Counts) -> Documents:
    """Length and types of each document that has a token."""
    return Documents.of(counts.column(LENGTH), counts.column(TYPES))
