"""What is estimated on one set of documents: coefficients of laws, vocabulary, means; each with its 95% interval."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import chain
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from textcritic.critics.tendencies.counts import BIGRAMS, LENGTH, NOT_COUNTED, STOPWORDS, SYMBOLS, TYPES, Counts
from textcritic.critics.tendencies.heaps import fit_heaps
from textcritic.critics.tendencies.options import NO_STOP_WORDS
from textcritic.critics.tendencies.scaling import chao1, fit_taylor, word_recurrence
from textcritic.critics.tendencies.zipf import LogRanks, Support, by_rank, zipf_exponents
from textcritic.errors import TextcriticError
from textcritic.inference import (
    LEAST_UNITS,
    Histogram,
    bootstrap_interval,
    group_jackknife,
    jackknife_variance,
    ratio_of_sums,
    t_interval,
)
from textcritic.plan.entries import Tendencies

SUPPORTS: dict[str, Support] = {
    "s": "infinite",
    "s_infinite_of_first": "infinite-of-first",
    "s_observed": "observed",
    "s_first": "first",
}
SHARES = {"stopwords": STOPWORDS, "symbols": SYMBOLS}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its 95% interval, NaN where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan


MOST_LOG = 50.0  # half-width of an interval on the log scale, beyond which exp would overflow
T = TypeVar("T")
Made = dict[str, Estimate]


def estimates(
    counts: Counts, options: Tendencies, intervals: bool = True, only: Collection[str] = ()
) -> tuple[Made, dict[str, str]]:
    """All estimates by name, and why others could not be made.

    `s`, `s_infinite_of_first`, `s_observed`, `s_first` (Zipf's coefficient by the ranks that the law has and that are
    fitted), `heaps_beta`, `heaps_alpha`, `heaps_bigram_beta`, `heaps_bigram_alpha`, `types`, `types_chao1`,
    `length_mean`, `stopwords_mean`, `symbols_mean`, `taylor` (exponent), `recurrence`. Intervals: of means by bootstrap
    over documents, those that belong together as one; of all others by leaving out groups of documents; of fewer than
    `LEAST_UNITS` units there is none. An interval is about the mean of the estimate over sets of this size.

    Args:
        counts: counts of the documents; documents without a token are left out of everything except the mean length.
        options: `ranks`, `resamples` and `seed` of it count here.
        intervals: whether to make them; the values alone are made much faster.
        only: the names of the estimates that are wanted; empty: all.
    """
    if not intervals:
        counts, options = pooled(counts), options.changed(resamples=1)
    recipes = {names: make for names, make in _recipes(counts, options) if not only or set(names) & set(only)}
    by_name, missing = made_by(recipes, counts)
    if counts.units < LEAST_UNITS:
        by_name = {name: Estimate(one.value) for name, one in by_name.items()}
    return by_name, missing


def made_by(
    recipes: Mapping[tuple[str, ...], Callable[[], Mapping[str, T]]], *of: Counts
) -> tuple[dict[str, T], dict[str, str]]:
    """The results of recipes by name, and why others have no result: a set has no token, or there was an error.

    Args:
        recipes: by the names of what each makes.
        of: the sets of documents.
    """
    by_name: dict[str, T] = {}
    missing: dict[str, str] = {}
    for counts in of:
        if not counts.tokens:
            return {}, {name: without_tokens(counts) for names in recipes for name in names}
    for names, make in recipes.items():
        try:
            by_name |= make()
        except TextcriticError as error:
            missing |= dict.fromkeys(names, str(error))
    return by_name, missing


def histogram_of(counts: Counts, name: str) -> Histogram:
    """Lengths, or shares of stop words or symbols, over the documents: those without a token have a length only.

    Raises:
        TextcriticError: stop words were not counted.
    """
    if name == "length":
        return Histogram.of(counts.column(LENGTH))
    return Histogram.of_ratios(*_parts(counts, name))


def _parts(counts: Counts, name: str) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Stop words or symbols of each document that has a token, and its length."""
    number, length = counts.column(SHARES[name]), counts.column(LENGTH)
    if (number == NOT_COUNTED).any():
        raise TextcriticError(f"stop words were not counted: the critic has `stop_words: {NO_STOP_WORDS}`")
    return number[length > 0], length[length > 0]


def without_tokens(counts: Counts) -> str:
    """Why nothing is measured of documents without a token."""
    return f"none of the {len(counts.documents):,} documents has a token; nothing is measured"


def pooled(counts: Counts) -> Counts:
    """The same documents as one group, which no interval can be made of."""
    matrices = {
        name: csr_matrix(getattr(counts, name).sum(axis=0))
        for name in ("matrix", "segment_sums", "segment_squares", "pairs")
    }
    totals = {
        name: getattr(counts, name).sum(axis=0, keepdims=True)
        for name in ("segments", "recurrence", "attached", "upper")
    }
    return replace(counts, group=np.zeros_like(counts.group), **matrices, **totals)


def _recipes(counts: Counts, options: Tendencies) -> Iterator[tuple[tuple[str, ...], Callable[[], Made]]]:
    """The names of estimates that are made together, and what makes them."""
    for name, support in SUPPORTS.items():
        yield (name,), partial(_zipf, counts, name, support, options)
    for column, prefix in ((TYPES, "heaps"), (BIGRAMS, "heaps_bigram")):
        names = (f"{prefix}_beta", f"{prefix}_alpha")
        yield names, partial(_heaps, counts, column, names)
    yield ("types", "types_chao1"), partial(_vocabulary, counts)
    for name in ("length", "stopwords", "symbols"):
        yield (f"{name}_mean",), partial(_mean, counts, name, options)
    yield ("taylor",), partial(_taylor, counts)
    yield ("recurrence",), partial(_recurrence, counts)


def _zipf(counts: Counts, name: str, support: Support, options: Tendencies) -> Made:
    log_ranks = _log_ranks(counts, options.ranks)
    value = float(zipf_exponents(log_ranks.part(slice(1)), support, options.ranks)[0])
    try:
        without = zipf_exponents(log_ranks.part(slice(1, None)), support, options.ranks)
    except TextcriticError:  # without some group there are fewer than two words
        without = np.empty(0)
    low, high = t_interval(value, jackknife_variance(without), len(without)) if len(without) > 1 else [math.nan] * 2
    return {name: Estimate(value, float(low), float(high))}


@lru_cache(maxsize=1)
def _log_ranks(counts: Counts, ranks: int) -> LogRanks:
    """Of all documents, then of all but each group: sorting the words is most of the work of every coefficient."""
    words = counts.unigrams()
    without = (words - counts.matrix[group].toarray()[0] for group in range(counts.groups if counts.groups > 1 else 0))
    return LogRanks.of((by_rank(some) for some in chain([words], without)), ranks)


def _heaps(counts: Counts, column: int, names: tuple[str, str]) -> Made:
    length = counts.column(LENGTH)
    # A bigram has two tokens.
    some = length > (column == BIGRAMS)
    if not some.any():
        raise TextcriticError("Heaps' law: no document has two tokens, so there are no bigrams")
    types, group = counts.column(column)[some], counts.group[some]
    fit = fit_heaps(length[some], types)
    values = np.array([math.log(fit.alpha), fit.beta])
    try:
        without = [_coefficients(length[some], types, group != left_out) for left_out in range(counts.groups)]
    except TextcriticError:  # without some group all documents have one length
        without = []
    variance = jackknife_variance(without) if len(without) > 1 else np.full(2, math.nan)
    low, high = t_interval(values, variance, counts.groups)
    ends = np.exp(np.clip((low[0], high[0]), -MOST_LOG, MOST_LOG))
    alpha = Estimate(fit.alpha, float(ends[0]), float(ends[1]))
    return {names[0]: Estimate(fit.beta, float(low[1]), float(high[1])), names[1]: alpha}


def _coefficients(
    length: npt.NDArray[np.int32], types: npt.NDArray[np.int32], chosen: npt.NDArray[np.bool_]
) -> tuple[float, float]:
    """Log alpha and beta of some documents."""
    fit = fit_heaps(length[chosen], types[chosen])
    return math.log(fit.alpha), fit.beta


def _vocabulary(counts: Counts) -> Made:
    jackknife = group_jackknife(counts.matrix, lambda words: float((words > 0).sum()))
    types = Estimate(len(counts.words), jackknife.low, jackknife.high)
    return {"types": types, "types_chao1": Estimate(chao1(counts.unigrams()))}


def _mean(counts: Counts, name: str, options: Tendencies) -> Made:
    values, unit = counts.column(LENGTH).astype(np.float64), counts.unit
    if name != "length":
        values, unit = np.divide(*_parts(counts, name)), unit[counts.column(LENGTH) > 0]
    place = np.unique(unit, return_inverse=True)[1]
    columns = np.column_stack([np.bincount(place, values), np.bincount(place)])
    interval = bootstrap_interval(columns, ratio_of_sums, resamples=options.resamples, seed=options.seed)
    return {f"{name}_mean": Estimate(interval.estimate, *interval.ends)}


def _taylor(counts: Counts) -> Made:
    law = fit_taylor(counts.segments, counts.segment_sums, counts.segment_squares)
    return {"taylor": Estimate(law.alpha, law.low, law.high)}


def _recurrence(counts: Counts) -> Made:
    measured = word_recurrence(counts.recurrence, counts.lags, counts.matrix)
    if math.isnan(measured.excess):
        raise TextcriticError("recurrence: too few tokens are 8 or more apart in one document; give longer documents")
    ratio = 1 + measured.excess
    if not ratio > 0:  # no word recurs at these distances
        return {"recurrence": Estimate(measured.excess)}
    # A ratio of probabilities, less 1: it varies on the log scale, and its interval is longer above than below.
    half = (
        min((measured.excess_high - measured.excess) / ratio, MOST_LOG)
        if measured.excess_high > measured.excess
        else math.nan
    )
    return {"recurrence": Estimate(measured.excess, ratio * math.exp(-half) - 1, ratio * math.exp(half) - 1)}


def as_json(by_name: Made) -> dict[str, dict[str, float | None]]:
    """Estimates as JSON has them: None in place of NaN."""
    return {
        name: {key: None if math.isnan(number) else float(number) for key, number in asdict(estimate).items()}
        for name, estimate in by_name.items()
    }
