"""Samples of Zipf's law, by rank and without a token being drawn: what a Monte Carlo test of the law needs.

A sample of 57 million tokens has four million words, most of them seen once. Words have Poisson counts: those of low
ranks are drawn one by one, those of high ranks as the number of words with each count, in blocks of ranks with nearly
the same expected count. So the number of tokens is Poisson too. A sample takes 2 milliseconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from textcritic.critics.tendencies.zipf import Floats, Ints, fit_zipf_many, gram_points, rank_sums

# Words whose expected counts are at least this are drawn one by one, and those of the first ranks, whose blocks would
# have a few words each; the others in blocks of ranks.
ALONE, FIRST = 100.0, 1024
# Blocks per doubling of the rank: expected counts within one differ by 4%. Beyond the rank whose expected count is
# SCARCE one is enough: what words that differ in so few tokens change of a variance is less than this share.
BLOCKS, SCARCE = 16, 0.01
# Ranks beyond which an expected count is below this hold at most one token each.
RARE = 1e-6
# Log of the highest rank of a block, within int64.
FARTHEST = 40.0


@dataclass(frozen=True, eq=False)
class ZipfDraws:
    """Samples of so many tokens, on average, of one law.

    Attributes:
        alone: expected counts of the words that are drawn one by one: [words].
        sizes: ranks in each block of the others: [blocks].
        probabilities: of each count 0, 1, ..., in a block, on average over its ranks: [blocks, counts].
        rest: expected number of tokens beyond the blocks, each of a different word.
    """

    alone: Floats
    sizes: Ints
    probabilities: Floats
    rest: float

    @classmethod
    def of(cls, tokens: int, s: float, last: int | None) -> "ZipfDraws":
        """Of Zipf's law with the exponent s up to the rank `last`, or over all ranks (None), where s is above 1."""
        from scipy.special import gammaln, xlogy

        scale = tokens / float(rank_sums(last).moments(np.array([s]))[0][0])
        many = _rank_of(ALONE, scale, s, last)
        alone = scale * np.arange(1, max(many, min(FIRST, last or FIRST)) + 1, dtype=np.float64) ** -s
        end = max(len(alone), _rank_of(RARE, scale, s, last))
        scarce = min(max(len(alone), _rank_of(SCARCE, scale, s, last)), end)
        edges = np.union1d(_edges(len(alone) + 1, scarce + 1, BLOCKS), _edges(scarce + 1, end + 1, 1))
        # Where the law ends among the words that are drawn one by one, the last of them may have any number of tokens.
        highest = min(alone[-1], ALONE)
        top = highest + 12 * np.sqrt(highest) + 20
        counts = np.arange(int(top) + 1)
        log_factorials = gammaln(counts + 1)
        probabilities = np.empty((len(edges) - 1, len(counts)))
        for block, (start, stop) in enumerate(pairwise(edges)):
            points, weights = gram_points(stop - start)
            expected = scale * (start + points[:, None]) ** -s
            each = np.exp(xlogy(counts, expected) - log_factorials - expected)  # Poisson
            probabilities[block] = weights @ each / weights.sum()
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        beyond = 0.0 if last is not None else scale * (end + 0.5) ** (1 - s) / (s - 1)
        return cls(alone, np.diff(edges), probabilities, beyond)

    def draw(self, rng: np.random.Generator) -> "ZipfSample":
        """One sample, its words ranked by their counts."""
        alone = rng.poisson(self.alone)
        blocks = rng.multinomial(self.sizes, self.probabilities).sum(axis=0)
        low = alone < len(blocks)
        words = (blocks + np.bincount(alone[low], minlength=len(blocks)))[1:]
        words[0] += rng.poisson(self.rest)
        return ZipfSample(np.sort(alone[~low])[::-1], words)


@dataclass(frozen=True, eq=False)
class ZipfSample:
    """Counts by rank: those of the most frequent words, then how many words have each lower count.

    Attributes:
        high: in descending order, each above the counts that `words` is of: [words].
        words: how many words have the count 1, 2, ...: [counts].
    """

    high: Ints
    words: Ints

    def log_rank_mean(self) -> float:
        """As `zipf.log_rank_mean`: the log ranks of the words of one count sum to a difference of log factorials."""
        from scipy.special import gammaln

        ends = len(self.high) + self.words[::-1].cumsum()
        sums = np.diff(gammaln(ends + 1.0), prepend=gammaln(len(self.high) + 1.0))
        low = np.arange(len(self.words), 0, -1) @ sums
        return float((self.high @ np.log(np.arange(1, len(self.high) + 1)) + low) / self.tokens())

    def tokens(self) -> float:
        """How many the sample has."""
        return float(self.high.sum(dtype=np.float64) + np.arange(1, len(self.words) + 1) @ self.words)


def fit_samples(samples: Sequence[ZipfSample], last: int | None) -> Floats:
    """The exponents fitted to samples, of a law up to the rank `last`, or over all ranks: [samples]."""
    # A tiny sample may be of one word, which has no s: the law has then all but 1e-19 at rank 1.
    means = [max(sample.log_rank_mean(), 1e-19) for sample in samples]
    return fit_zipf_many(np.array(means), last)


def _rank_of(count: float, scale: float, s: float, last: int | None) -> int:
    """The last rank whose expected count is at least so many, and at most `last`."""
    limit = np.log(last) if last is not None else FARTHEST
    exponent = (np.log(scale / count)) / s if s > 0 else (limit if scale >= count else 0.0)
    return int(np.exp(min(max(exponent, 0.0), limit)) + 1e-6)


def _edges(start: int, end: int, blocks: int) -> Ints:
    """Starts of so many blocks per doubling of the rank from `start` on, and `end`, the rank after the last one."""
    octaves = np.log2(end / start)
    edges = start * 2.0 ** (np.arange(int(octaves * blocks) + 1) / blocks)
    return np.unique(np.concatenate([edges.astype(np.int64), [start, end]]))


def shares(counts: Ints, ranks: int, whole: bool) -> Floats:
    """Shares of the tokens up to each of the first ranks, of all tokens or of those of these ranks: [ranks]."""
    summed = np.cumsum(counts[:ranks], dtype=np.float64)
    total = counts.sum(dtype=np.float64) if whole else summed[-1]
    return np.concatenate([summed, np.full(ranks - len(summed), summed[-1])]) / total
