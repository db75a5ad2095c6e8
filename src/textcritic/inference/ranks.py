"""The distance between two rank-frequency distributions, tested by exchanging groups of documents.

Unlike the distances of `categorical`, it is no sum over words: words are ranked anew in every set of groups. Only the
most frequent words can be among its first ranks, and most words never are.
"""

from typing import TYPE_CHECKING

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.inference.group_sizes import Sizes, exchangeable_groups
from textcritic.inference.groups import (
    ROUNDING,
    GroupTest,
    JackknifeEstimate,
    all_splits,
    at_size,
    jackknife_estimate,
    pooled_words,
    random_splits,
    require_words,
)
from textcritic.inference.jackknife import jackknife_variance
from textcritic.inference.permutation import few_splits
from textcritic.inference.statistics import Array

if TYPE_CHECKING:  # scipy takes long to load, and every command loads this package
    from scipy.sparse import csr_matrix

# Words that are looked at, of each rank that is. Where these are too few, all words are.
SPARE = 5
# Sets of groups whose counts are in memory at a time.
CHUNK = 20


def rank_permutation(
    first: "csr_matrix",
    second: "csr_matrix",
    ranks: int = 10_000,
    sizes: Sizes | None = None,
    resamples: int = 1000,
    seed: int = 1,
) -> GroupTest:
    """Permutation test of the distance between two rank-frequency distributions (Meister and Cotterell 2021, D_p).

    The distance is the largest difference of the shares of tokens up to a rank, among the tokens of the first ranks of
    each set, as of `textcritic.critics.tendencies.zipf_distances.rank_distance`. Groups are exchanged as by
    `group_permutation`: tokens of a document stay together, where the paper draws them independently.

    Args:
        first: [groups of the first set, words], counts of each word.
        second: [groups of the second set, words], of the same words.
        ranks: how many ranks are looked at.
        sizes: number of documents in each group of the first and of the second set; None: all groups have as many.
        resamples: B; all splits where there are at most as many.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: as `group_permutation`, or fewer than one rank.
    """
    require_words(resamples, first.shape[1], second.shape[1])
    rng = np.random.default_rng(seed)
    one, two = exchangeable_groups(first, second, sizes, rng)
    number = len(one.documents), len(two.documents)
    exact = few_splits(*number, resamples)
    splits = all_splits(*number) if exact else random_splits(*number, resamples, rng)
    inside = np.concatenate([np.repeat([1.0, 0.0], number)[:, None], splits], axis=1)
    values = _rank_distances(pooled_words(one.matrix, two.matrix), inside, 1 - inside, ranks)
    documents = np.concatenate([one.documents, two.documents]) @ inside
    observed, null = float(values[0]), at_size(values[1:], documents[1:], documents[0])
    extreme = int((null >= observed * (1 - ROUNDING)).sum())
    p = extreme / len(null) if exact else (extreme + 1) / (len(null) + 1)
    return GroupTest(observed, p, float(null.mean()), null, number, exact)


def rank_interval(
    first: "csr_matrix", second: "csr_matrix", ranks: int = 10_000, level: float = 0.95
) -> JackknifeEstimate:
    """The same distance with its interval, by leaving out each group of each set in turn, as `distance_intervals`.

    Args:
        first: [groups of the first set, words], groups of equal size.
        second: [groups of the second set, words].
        ranks: how many ranks are looked at.
        level: of confidence.

    Raises:
        TextcriticError: as `distance_intervals`, or fewer than one rank.
    """
    require_words(1, first.shape[1], second.shape[1], level)
    number = first.shape[0], second.shape[0]
    # Column 0 has all groups; column 1 + g is without group g.
    kept = np.concatenate([np.ones((sum(number), 1)), 1 - np.eye(sum(number))], axis=1)
    inside, outside = kept.copy(), kept
    inside[number[0] :], outside[: number[0]] = 0, 0
    own = np.flatnonzero(inside.any(axis=0) & outside.any(axis=0))  # a set of one group has none left
    values = np.full(kept.shape[1], np.nan)
    values[own] = _rank_distances(pooled_words(first, second), inside[:, own], outside[:, own], ranks)
    variance = sum(float(jackknife_variance(part)) for part in np.split(values[1:], [number[0]]))
    return jackknife_estimate(values[0], variance, min(number), level)


def _rank_distances(words: "csr_matrix", inside: Array, outside: Array, ranks: int) -> Array:
    """Distances of sets of groups: [words, groups], [groups, B] of each set -> [B]."""
    if ranks < 1:
        raise TextcriticError(f"distance of ranks: the first {ranks} ranks; give at least 1")
    tokens = np.asarray(words.sum(axis=0)).ravel()
    if not (tokens @ inside > 0).all() or not (tokens @ outside > 0).all():
        raise TextcriticError("distance: a set of groups of documents has no token; give more documents with text")
    totals = np.asarray(words.sum(axis=1)).ravel()
    order = np.argsort(-totals, kind="stable")
    frequent = words[order[: SPARE * ranks]].toarray()
    # No set has more tokens of a word that is left out than both have together.
    least = totals[order[SPARE * ranks]] if len(order) > SPARE * ranks else 0.0
    found = []
    for start in range(0, inside.shape[1], CHUNK):
        columns = slice(start, start + CHUNK)
        sides = [(frequent @ side[:, columns]).T for side in (inside, outside)]
        for place, pair in enumerate(zip(*sides, strict=True), start=start):
            first = [_most(counts, ranks) for counts in pair]
            if min(one[-1] for one in first) < least:
                first = [_most(words @ side[:, place], ranks) for side in (inside, outside)]
            one, two = (counts.cumsum() / counts.sum() for counts in first)
            found.append(float(np.abs(one - two).max()))
    return np.array(found)


def _most(counts: Array, ranks: int) -> Array:
    """The largest counts in descending order, with zeros at the end where there are fewer: [ranks]."""
    if len(counts) > ranks:
        counts = np.partition(counts, len(counts) - ranks)[len(counts) - ranks :]
    ordered = np.sort(counts)[::-1]
    return np.concatenate([ordered, np.zeros(ranks - len(ordered))])
