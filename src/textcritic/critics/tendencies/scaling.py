"""How words cluster in text: Taylor's law, and how often a word recurs at a distance; and how many words are unseen.

Both are statistics of sums over groups of documents, so their intervals are a jackknife over groups.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from textcritic.errors import TextcriticError
from textcritic.inference import jackknife_variance, t_interval

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FAR = 8
"""Shortest lag of the excess recurrence: at shorter ones syntax decides, which seldom repeats a word at once."""


@dataclass(frozen=True, eq=False)
class Taylor:
    """Taylor's law of the words of a text: `sd = c mean^alpha` over segments.

    Attributes:
        alpha: the exponent: 0.5 of independent tokens, 1 where a segment has all words twice as often or not at all.
        standard_error, low, high: of alpha, by the jackknife over groups at `level`; NaN of a single group.
        words: whose mean is above the floor.
    """

    alpha: float
    standard_error: float
    low: float
    high: float
    words: int


def fit_taylor(
    segments: npt.ArrayLike, sums: csr_matrix, squares: csr_matrix, floor: float = 0.0, level: float = 0.95
) -> Taylor:
    """Taylor's law over the words of a text (Kobayashi and Tanaka-Ishii 2018, section 3).

    A text is cut into segments of equal length. Each word has a mean and a (population) standard deviation of its
    count over segments; alpha is the slope of the least-squares line of log sd on log mean, each word counting once.
    The paper takes all words of one long text and segments of 5,620 tokens; written text has 0.58 there. Segments
    within short documents are short too, and give smaller exponents: compare those of one length. Words that occur
    a few times have close to 0.5 however they cluster; a floor leaves them out. Clustering that is the same for rare
    and frequent words, such as a Dirichlet distribution over words for each segment, changes c and not alpha.

    Args:
        segments: number of segments of each group of documents: [G].
        sums: sum of each word's counts over the segments of each group: CSR [G, words].
        squares: sum of the squares of these counts: CSR [G, words].
        floor: words with a mean count a segment above this are fitted; 0 takes all.
        level: of confidence.

    Raises:
        TextcriticError: shapes that differ, fewer than two segments, or fewer than two means above the floor.
    """
    numbers = np.asarray(segments, dtype=np.float64)
    if numbers.ndim != 1 or sums.shape != squares.shape or sums.shape[0] != len(numbers):
        raise TextcriticError(
            f"Taylor's law: {numbers.shape} segments, sums {sums.shape}, squares {squares.shape}; they are of one "
            "number of groups and of words"
        )
    if numbers.sum() < 2:
        raise TextcriticError(
            f"Taylor's law: {numbers.sum():.0f} segments; give at least two: longer documents, or shorter segments"
        )
    every = np.asarray(sums.sum(axis=0)).ravel()
    chosen = np.flatnonzero(every / numbers.sum() > floor)
    first, second = sums[:, chosen], squares[:, chosen]
    sum1, sum2 = (np.asarray(matrix.sum(axis=0), dtype=np.float64).ravel() for matrix in (first, second))
    alpha, used = _line(numbers.sum(), sum1, sum2)
    if np.isnan(alpha):
        raise TextcriticError(
            f"Taylor's law: of {len(chosen)} words with a mean above {floor:g} in a segment, no two vary and have "
            "different means; give more text"
        )
    error, low, high = np.nan, np.nan, np.nan
    if len(numbers) > 1:
        without = [
            _line(numbers.sum() - numbers[group], sum1 - first[group].toarray()[0], sum2 - second[group].toarray()[0])
            for group in range(len(numbers))
        ]
        variance = jackknife_variance([slope for slope, _ in without])
        error = float(np.sqrt(variance))
        low, high = (float(end) for end in t_interval(alpha, variance, len(numbers), level))
    return Taylor(alpha, error, low, high, used)


def _line(segments: float, sums: Floats, squares: Floats) -> tuple[float, int]:
    """Slope of log sd on log mean, NaN of fewer than two means, and the number of words used."""
    # Counts are whole: Q * squares - sums^2 is exactly 0 where a word has the same count in all segments.
    variances = np.maximum(segments * squares - sums**2, 0.0)
    used = (sums > 0) & (variances > 0)
    x, y = np.log(sums[used] / segments), np.log(np.sqrt(variances[used]) / segments)
    if len(x) < 2 or not np.ptp(x) > 0:
        return np.nan, len(x)
    centred = x - x.mean()
    return float(centred @ y / (centred @ centred)), len(x)


@dataclass(frozen=True, eq=False)
class Recurrence:
    """How often two tokens at a distance are the same word, beyond chance.

    Attributes:
        lags: distances in tokens: [lags].
        pairs: of tokens at each lag: [lags].
        correlation: C(d), the share of pairs that are one word less `chance`; NaN where there are no pairs: [lags].
        low, high: jackknife intervals: [lags].
        chance: the share of pairs of any two tokens of the text that are one word.
        excess: mean over `used` of C(d) / chance: 0.1 means that a word recurs 10% more often than by chance.
        excess_standard_error, excess_low, excess_high: by the jackknife over groups, and its interval.
        used: the lags of `excess`.
    """

    lags: Ints
    pairs: Ints
    correlation: Floats
    low: Floats
    high: Floats
    chance: float
    excess: float
    excess_standard_error: float
    excess_low: float
    excess_high: float
    used: Ints


def word_recurrence(
    recurrence: npt.ArrayLike, lags: npt.ArrayLike, matrix: csr_matrix, least: int = 1000, level: float = 0.95
) -> Recurrence:
    """The autocorrelation of words by lag (Altmann, Cristadoro and Degli Esposti 2012, Eq. 1, summed over words).

    `C(d) = P(tokens i and i + d of one document are the same word) - sum_w p_w^2`. The sum is taken over pairs of
    different tokens, `c (c - 1) / (n (n - 1))`, so that C is 0 on average where tokens are independent, however small
    the text is. Models that forget go to 0 as d grows; text stays above, as it keeps to a topic.

    The summary `excess` is a mean over lags, each counting once, of those from 8 on: at shorter ones the grammar
    decides. It is in units of chance, so that it does not depend on how many function words a text has, and lags with
    few pairs are left out, so that it does not rest on the longest documents. Lags are powers of two, so that each
    octave counts once. To compare two sets, compare lags that both use.

    Args:
        recurrence: of each group and lag, pairs of tokens, and how many are the same word: int64 [G, lags, 2].
        lags: in tokens: [lags].
        matrix: tokens of each word in each group: CSR int64 [G, words].
        least: lags with fewer pairs are not used for `excess`.
        level: of confidence.

    Raises:
        TextcriticError: shapes that differ, or no word that occurs twice.
    """
    table, distances = np.asarray(recurrence, dtype=np.int64), np.asarray(lags, dtype=np.int64)
    if table.ndim != 3 or table.shape[1:] != (len(distances), 2) or table.shape[0] != matrix.shape[0]:
        raise TextcriticError(
            f"recurrence: {table.shape} pairs, {len(distances)} lags, {matrix.shape[0]} groups of words; pairs are "
            "[groups, lags, 2]"
        )
    words = np.asarray(matrix.sum(axis=0), dtype=np.float64).ravel()
    if words.max(initial=0) < 2:
        raise TextcriticError("recurrence: no word occurs twice; give more text")
    pairs = table[:, :, 0].sum(axis=0)
    used = (distances >= FAR) & (pairs >= least)
    whole = _curve(table.sum(axis=0), _chance(words))
    rows = [_curve(table.sum(axis=0) - table[g], _chance(words - matrix[g].toarray()[0])) for g in range(len(table))]
    chance = _chance(words)
    # One statistic a lag, and the summary as the last one.
    values = np.stack([np.append(row, row[used].mean() if used.any() else np.nan) for row in (whole, *rows)])
    scale = np.append(np.full(len(distances), chance), 1.0)
    variance = jackknife_variance(values[1:])
    low, high = t_interval(values[0], variance, len(table), level)
    return Recurrence(
        lags=distances,
        pairs=pairs,
        correlation=values[0, :-1] * chance,
        low=(low * scale)[:-1],
        high=(high * scale)[:-1],
        chance=chance,
        excess=float(values[0, -1]),
        excess_standard_error=float(np.sqrt(variance[-1])),
        excess_low=float(low[-1]),
        excess_high=float(high[-1]),
        used=distances[used],
    )


def _chance(words: Floats) -> float:
    """The chance that two tokens are the same word; NaN if no word repeats: there are no multiples of 0."""
    tokens, pairs = words.sum(), (words * (words - 1)).sum()
    return float(pairs / (tokens * (tokens - 1))) if pairs > 0 else math.nan


def _curve(table: Ints, chance: float) -> Floats:
    """C(d) / chance: [lags, 2] -> [lags]; NaN without pairs."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share: Floats = table[:, 1] / table[:, 0]
    return share / chance - 1


def chao1(counts: npt.ArrayLike) -> float:
    """A lower bound of the number of words that a text's source has, seen or not (Chao 1984).

    `types + f1^2 / (2 f2)` with f1 words seen once and f2 seen twice; without words seen twice the form that exists
    anyway, `types + f1 (f1 - 1) / 2`. Of Zipf's law over all ranks, whose words have no end, it is far below the truth;
    it tells how much of a difference in types is one of size.

    Args:
        counts: tokens of each word, in any order; zeros are not counted: [types].
    """
    array = np.asarray(counts)
    once, twice = int((array == 1).sum()), int((array == 2).sum())
    unseen = once**2 / (2 * twice) if twice else once * (once - 1) / 2
    return int((array > 0).sum()) + unseen
