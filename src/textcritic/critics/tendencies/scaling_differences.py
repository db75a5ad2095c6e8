"""How much two sets of documents differ in Taylor's exponent, and in how often words recur: tests and intervals.

Both depend on the amount of text, Taylor's exponent strongly: a word that occurs once lies on the line of slope 0.5
whatever the text is, and most words of a text are rare. Here only words that occur often enough in both sets are
compared, and `inference.group_difference` subtracts the remaining effect.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, hstack

from textcritic.critics.tendencies.scaling import FAR
from textcritic.errors import TextcriticError
from textcritic.inference import DifferenceTest, group_difference
from textcritic.inference.differences import SumsStatistic

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Sizes: TypeAlias = tuple[Ints, Ints]

OFTEN = 10
"""Tokens in segments of a word, expected in the smaller set, from which it is compared."""
WORDS = 10
"""Words that are compared at least."""
PAIRS = 1000
"""Pairs of tokens at a distance, in each set, from which the distance is looked at."""
CHUNK = 2_000_000  # words times sets of groups in memory at a time


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over the documents of each group of one set; the words of both sets are the same.

    Attributes:
        documents: in each group: [G].
        segments, sums, squares: as `Counts.segments`, `segment_sums`, `segment_squares`: [G], CSR [G, words].
        recurrence: [G, lags, 2], as in `Counts`.
        lags: [lags].
        matrix: tokens of each word: CSR [G, words].
    """

    documents: Ints
    segments: Ints
    sums: csr_matrix
    squares: csr_matrix
    recurrence: Ints
    lags: Ints
    matrix: csr_matrix


@dataclass(frozen=True, eq=False)
class Compared:
    """A statistic that two sets are compared in: sums over each group of both, and what makes the difference of them.

    Attributes:
        first, second: CSR [groups, columns].
        documents: in each group of both.
        statistic: as `inference.group_difference` takes it.
    """

    first: csr_matrix
    second: csr_matrix
    documents: Sizes
    statistic: SumsStatistic

    def test(self, resamples: int, seed: int) -> DifferenceTest:
        """The difference, first minus second, with its test and interval; raises as `group_difference`."""
        return group_difference(self.first, self.second, self.statistic, self.documents, resamples, seed)

    def difference(self) -> float:
        """The difference alone, with all that the sizes of the sets make of it."""
        sums = csr_matrix(np.stack([np.asarray(one.sum(axis=0)).ravel() for one in (self.first, self.second)], axis=1))
        return float(self.statistic(sums, np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]]))[0])


def taylor_compared(first: Sums, second: Sums) -> Compared:
    """Taylor's exponent over words that are frequent in both sets.

    Words that occur `OFTEN` times in the segments of the smaller set, as expected from both sets together.

    Raises:
        TextcriticError: too few segments or words.
    """
    segments = np.array([first.segments.sum(), second.segments.sum()])
    if segments.min() < 2:
        raise TextcriticError(
            f"Taylor's law: {segments.min()} segments; give at least two: longer documents, or shorter segments"
        )
    totals = np.asarray(first.sums.sum(axis=0) + second.sums.sum(axis=0)).ravel()
    chosen = np.flatnonzero(totals * segments.min() >= OFTEN * segments.sum())
    if len(chosen) < WORDS:
        raise TextcriticError(
            f"Taylor's law: {len(chosen)} words occur {OFTEN} times in whole segments of both sets; give more documents"
            f" until there are {WORDS}"
        )
    columns = [
        hstack([one.segments[:, None], one.sums[:, chosen], one.squares[:, chosen]], format="csr")
        for one in (first, second)
    ]
    return Compared(columns[0], columns[1], (first.documents, second.documents), _taylor)


def recurrence_compared(first: Sums, second: Sums) -> Compared:
    """The excess recurrence over distances that both sets have pairs of tokens at.

    Raises:
        TextcriticError: too few pairs.
    """
    pairs = np.minimum(*(one.recurrence[:, :, 0].sum(axis=0) for one in (first, second)))
    used = np.flatnonzero((first.lags >= FAR) & (pairs >= PAIRS))
    if not len(used):
        raise TextcriticError(
            f"recurrence: too few tokens are {FAR} or more apart in one document; give longer documents"
        )
    columns = [
        hstack([one.recurrence[:, used, 0], one.recurrence[:, used, 1], one.matrix], format="csr")
        for one in (first, second)
    ]

    def statistic(sums: csr_matrix, inside: Floats, outside: Floats) -> Floats:
        return _recurrence(sums, inside, len(used)) - _recurrence(sums, outside, len(used))

    return Compared(columns[0], columns[1], (first.documents, second.documents), statistic)


def _taylor(sums: csr_matrix, inside: Floats, outside: Floats) -> Floats:
    """Differences of exponents over the words that vary in both sets: [B]; rows are segments, sums, squares."""
    words, groups = (sums.shape[0] - 1) // 2, [inside, outside]
    segments = [(sums[0] @ side).ravel() for side in groups]
    moments = np.zeros((2, 4, inside.shape[1]))
    used_words = np.zeros(inside.shape[1])
    size = max(1, CHUNK // inside.shape[1])
    for start in range(0, words, size):
        rows = slice(1 + start, 1 + min(start + size, words))
        squares = slice(rows.start + words, rows.stop + words)
        points = [_points(sums[rows] @ side, sums[squares] @ side, q) for side, q in zip(groups, segments, strict=True)]
        used = np.isfinite(points).all(axis=(0, 1))
        used_words += used.sum(axis=0)
        for place, (x, y) in enumerate(points):
            x, y = np.where(used, x, 0), np.where(used, y, 0)
            moments[place] += np.stack([x.sum(axis=0), y.sum(axis=0), (x * x).sum(axis=0), (x * y).sum(axis=0)])
    x, y, xx, xy = moments.transpose(1, 0, 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        slopes = (used_words * xy - x * y) / (used_words * xx - x * x)
    difference: Floats = slopes[0] - slopes[1]
    return difference


def _points(sums: Floats, squares: Floats, segments: Floats) -> tuple[Floats, Floats]:
    """Log mean and log standard deviation of words over segments: [words, B] each, not finite of what never varies."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(sums / segments), 0.5 * np.log(np.maximum(segments * squares - sums**2, 0)) - np.log(segments)


def _recurrence(sums: csr_matrix, groups: Floats, lags: int) -> Floats:
    """Excess recurrence of sets of groups: [B]; rows are pairs at each lag, equal ones, and words."""
    pairs, same = (sums[start : start + lags] @ groups for start in (0, lags))
    tokens, squares = np.zeros((2, groups.shape[1]))
    size = max(1, CHUNK // groups.shape[1])
    for start in range(2 * lags, sums.shape[0], size):
        counts = sums[start : start + size] @ groups
        tokens += counts.sum(axis=0)
        squares += (counts * (counts - 1)).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess: Floats = (same / pairs).mean(axis=0) * tokens * (tokens - 1) / squares - 1
    return excess
