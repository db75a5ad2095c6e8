"""The distance between two rank-frequency distributions, tested by exchanging groups of documents.

Unlike the distances of `categorical`, it is no sum over words: words are ranked again in every set of groups. Only the
most frequent words can be among its first ranks, and most words never are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.inference.bootstrap import Interval
from textcritic.inference.group_sizes import Sizes
from textcritic.inference.groups import (
    ROUNDING,
    GroupTest,
    drawn_groups,
    exchanges,
    pooled_words,
    require_words,
)
from textcritic.inference.looks import CLEAR
from textcritic.inference.statistics import Array

if TYPE_CHECKING:  # scipy takes long to load, and every command loads this package
    from scipy.sparse import csr_matrix

# Words that are looked at, of each rank that is. Where these are too few, all words are.
SPARE = 5
# Sets of groups whose words are counted at a time: of fewer, the product with sparse counts takes longer for each.
TOGETHER = 32
# Counts up to this are exact in 32 bits, which are added and sorted faster than 64.
EXACT = 2**24
# The share of counts above 0 from which a matrix is multiplied faster as a dense one.
DENSE = 0.2


@dataclass(frozen=True, eq=False)
class RankTest(GroupTest):
    """A distance of two rank-frequency distributions and its permutation test.

    Attributes:
        by_size: float64 [ranks], the mean over splits of the difference of the cumulative shares, which is taken off
            before distances are: what the sizes of the sets alone make of it. 0 of sets of one size.
    """

    by_size: Array


def rank_permutation(
    first: "csr_matrix",
    second: "csr_matrix",
    ranks: int = 10_000,
    sizes: Sizes | None = None,
    resamples: int = 1000,
    seed: int = 1,
) -> RankTest:
    """Permutation test of the distance between two rank-frequency distributions (Meister and Cotterell 2021, D_p).

    The distance is the largest difference of the shares of tokens up to a rank, among the tokens of the first ranks of
    each set. Groups are exchanged as by
    `group_permutation`: tokens of a document stay together, where the paper draws them independently. The smaller a set
    is, the more of its tokens its first ranks have; of sets of different sizes this is taken off, see `RankTest`.

    Args:
        first: [groups of the first set, words], counts of each word.
        second: [groups of the second set, words], of the same words.
        ranks: how many ranks are looked at.
        sizes: number of documents in each group of the first and of the second set; None: all groups have as many.
        resamples: B, random splits at most (`looks`); if there are only B or fewer, all are made.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: as `group_permutation`, or fewer than one rank.
    """
    permuted = exchanges(first, second, sizes, resamples, seed)
    words = pooled_words(permuted.one.matrix, permuted.two.matrix)

    def test(gaps: Array) -> RankTest:
        # Of as many groups on both sides, an exchange and its opposite have differences of opposite signs.
        alike = permuted.number[0] == permuted.number[1]
        by_size = np.zeros(gaps.shape[1]) if alike else gaps[1:].mean(axis=0)
        values = _farthest(gaps if alike else gaps - by_size)
        observed, null = float(values[0]), permuted.at_size(values[1:])
        p = permuted.p(null >= observed * (1 - ROUNDING))
        return RankTest(observed, p, float(null.mean()), null, permuted.number, permuted.exact, by_size)

    return test(permuted.in_looks(lambda inside: _gaps(words, inside, ranks), lambda gaps: test(gaps).p > CLEAR))


def rank_interval(
    first: "csr_matrix",
    second: "csr_matrix",
    ranks: int = 10_000,
    by_size: Array | None = None,
    resamples: int = 1000,
    seed: int = 1,
) -> Interval:
    """The same distance with its 95% interval, groups of each set drawn with replacement.

    As that of `ks_interval`, it reaches as far as the difference of the cumulative shares moves anywhere in 95% of
    resamples, and holds a distance of 0 too. A resample has fewer different words than the text has, which its mean
    curve shows: the reach is about that.

    Args:
        first: [groups of the first set, words], groups of equal size.
        second: [groups of the second set, words].
        ranks: how many ranks are looked at.
        by_size: `RankTest.by_size`, which is taken off; None of sets of one size.
        resamples: of the bootstrap.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: as `rank_permutation`.
    """
    require_words(resamples, first.shape[1], second.shape[1])
    rng = np.random.default_rng(seed)
    words = pooled_words(first, second)
    places = np.repeat([0, 1], (first.shape[0], second.shape[0]))
    width = min(ranks, words.shape[0])
    gap = np.zeros(width) if by_size is None else -np.pad(by_size, (0, max(0, width - len(by_size))))[:width]
    moved = []
    for side, sign in ((0, 1), (1, -1)):
        own = words[:, np.flatnonzero(places == side)]
        gap = gap + sign * _cumulative(own, np.ones((own.shape[1], 1)), ranks)[0]
        drawn = _cumulative(own, drawn_groups(own.shape[1], resamples, rng), ranks)
        drawn -= drawn.mean(axis=0)
        moved.append(drawn)
    moved[0] -= moved[1]
    reach, distance = float(np.quantile(_farthest(moved[0]), 0.95)), float(np.abs(gap).max())
    return Interval(distance, max(0.0, distance - reach), min(1.0, distance + reach), 0.95, resamples)


def _farthest(gaps: Array) -> Array:
    """The largest absolute value of each row: [B, ranks] -> [B]."""
    # An array of absolute values would take as long to fill as all else takes.
    farthest: Array = np.maximum(gaps.max(axis=1), -gaps.min(axis=1))
    return farthest


def _gaps(words: "csr_matrix", inside: Array, ranks: int) -> Array:
    """Cumulative shares of sets of groups less those of all other groups: [B, ranks], as `_cumulative`."""
    gaps = _cumulative(words, inside, ranks)
    for rows, shares in _chunks(words, 1 - inside, ranks):
        gaps[rows] -= shares
    return gaps


def _cumulative(words: "csr_matrix", weights: Array, ranks: int) -> Array:
    """The rows of `_chunks` in one array."""
    cumulative = np.empty((weights.shape[1], min(ranks, words.shape[0])))
    for rows, shares in _chunks(words, weights, ranks):
        cumulative[rows] = shares
    return cumulative


def _chunks(words: "csr_matrix", weights: Array, ranks: int) -> Iterator[tuple[slice, Array]]:
    """Shares of the tokens of the first ranks up to each of them, of some sets of groups at a time.

    Args:
        words: [words, groups], counts.
        weights: [groups, B], how often each group is in each set.
        ranks: how many are looked at.

    Yields:
        Which of the sets, and their shares: [sets, ranks]; of fewer words than ranks [sets, words], as all shares are
        1 beyond.
    """
    if ranks < 1:
        raise TextcriticError(f"distance of ranks: the first {ranks} ranks; give at least 1")
    tokens = np.asarray(words.sum(axis=0)).ravel()
    if not (tokens @ weights > 0).all():
        raise TextcriticError("distance: a set of groups of documents has no token; give more documents with text")
    most = float(weights.max())
    totals = np.asarray(words.sum(axis=1)).ravel()
    order = np.argsort(-totals, kind="stable")
    kind = np.float32 if most * totals.max() < EXACT else np.float64
    # Negative, so that the largest counts come first when they are sorted.
    frequent = -words[order[: SPARE * ranks]].astype(kind)
    weights = weights.astype(kind)
    if frequent.nnz > DENSE * np.prod(frequent.shape):
        frequent = frequent.toarray()
    # No set has more tokens of a word that is left out than this.
    least = most * totals[order[SPARE * ranks]] if len(order) > SPARE * ranks else 0.0
    for start in range(0, weights.shape[1], TOGETHER):
        rows = slice(start, start + TOGETHER)
        counts = _most((frequent @ weights[:, rows]).T.copy(), ranks)
        for place in np.flatnonzero(-counts[:, -1] < least):
            counts[place] = _most(-(words @ weights[:, start + place])[None, :], ranks)
        summed = np.cumsum(counts, axis=1, dtype=np.float64)
        summed /= summed[:, -1:].copy()
        yield rows, summed


def _most(counts: Array, ranks: int) -> Array:
    """The smallest counts of each row in ascending order: [sets, words] -> [sets, ranks], or fewer of fewer words."""
    if counts.shape[1] > ranks:
        counts = np.partition(counts, ranks - 1, axis=1)[:, :ranks]
    counts.sort(axis=1)
    return counts
