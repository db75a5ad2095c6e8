"""How far counts by rank are from Zipf's law, or from one another (Meister and Cotterell 2021, sections 4.2 and 5.1).

The paper looks at the first 10,000 ranks, and does not say how the two distribution functions are cut there. Three
conventions give distances that differ by a factor of three, so all three are here, by name.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.tendencies.zipf import (
    RANKS,
    SINGLE,
    Floats,
    Ints,
    Support,
    checked_counts,
    fit_zipf,
    fit_zipf_many,
    gram_points,
    rank_sums,
    zipf_sums,
)

Convention = Literal["renormalised-empirical", "untruncated", "truncated"]
"""How the first ranks are cut out.

- "renormalised-empirical": shares of the tokens of the first ranks, against Zipf's law over all ranks. At the last of
  these ranks the counts have summed to 1 and the law has not: its mass beyond is a distance that says nothing of the
  fit. 0.142 is this mass at s = 1.1997 and 10,000 ranks, and the value printed for four models (Table 2), so that the
  paper must have used this convention.
- "untruncated": shares of all tokens, against Zipf's law over all ranks; both are looked at on the first ranks.
- "truncated": shares of the tokens of the first ranks, against Zipf's law over these ranks alone.
"""

SUPPORTS: dict[Convention, Support] = {
    "renormalised-empirical": "infinite",
    "untruncated": "infinite",
    "truncated": "first",
}
"""The support with which s is fitted for each convention."""

# Words whose expected counts are at least this are drawn one by one; those below in blocks of ranks.
ALONE = 100.0
# Blocks per doubling of the rank: expected counts within one differ by 4%.
BLOCKS = 16
# Ranks beyond which an expected count is below this hold at most one token each.
RARE = 1e-6
# Of fewer tokens than this, a Poisson number is too far from a fixed one.
LEAST = 100
# Samples, and rounds of them at most, that find the law whose samples have a given s.
TRIALS, ROUNDS = 30, 12


class RankDistance(NamedTuple):
    """A Kolmogorov-Smirnov distance, and the rank, from 1, at which it is attained."""

    distance: float
    rank: int


@dataclass(frozen=True)
class ZipfTest:
    """A distance to Zipf's law, and how large it is by chance.

    Attributes:
        distance, rank: as of `zipf_distance`.
        s: the exponent of the law.
        drawn_from: the exponent of the law of the simulations: s where it was given.
        p: share of simulations that are at least as far, the observed one counted in.
        chance: the 0.95 quantile of the distances of the simulations.
        resamples: number of simulations.
    """

    distance: float
    rank: int
    s: float
    drawn_from: float
    p: float
    chance: float
    resamples: int


def zipf_distance(counts: npt.ArrayLike, s: float, convention: Convention, ranks: int = RANKS) -> RankDistance:
    """The Kolmogorov-Smirnov distance of counts to Zipf's law (Eq. 10), over the first ranks.

    Args:
        counts: tokens of each word, in descending order: [types]. Ranks that have no count are looked at too.
        s: exponent of the law; above 1, but for "truncated".
        convention: see `Convention`.
        ranks: how many ranks are looked at.

    Raises:
        TextcriticError: counts as for `fit_zipf`, no counts at all, another convention, fewer than two ranks, or s of
            1 or less where the law has infinitely many ranks.
    """
    checked = checked_counts(counts)
    law = _law(s, convention, ranks)
    return _furthest(_shares(checked, ranks, whole=convention == "untruncated"), law)


def rank_distance(first: npt.ArrayLike, second: npt.ArrayLike, ranks: int = RANKS) -> RankDistance:
    """The Kolmogorov-Smirnov distance between counts by rank of two sets (D_p of Table 2).

    Shares are of the tokens of the first ranks of each set. The same rank may stand for different words.

    Args:
        first: tokens of each word of one set, in descending order: [types].
        second: of the other set: [its types].
        ranks: how many ranks are looked at.

    Raises:
        TextcriticError: counts as for `fit_zipf`, or no counts at all.
    """
    one, two = (_shares(checked_counts(counts), ranks, whole=False) for counts in (first, second))
    return _furthest(one, two)


def zipf_fit_p(
    counts: npt.ArrayLike,
    convention: Convention,
    s: float | None = None,
    ranks: int = RANKS,
    resamples: int = 1000,
    seed: int = 1,
) -> ZipfTest:
    """Monte Carlo test that tokens were drawn independently from Zipf's law (Wood and Altavela 1978).

    In each simulation as many tokens are drawn from a law, and its words are ranked anew by their counts. If s was
    fitted to the given counts, it is fitted to those of the simulation (Clauset et al. 2009, section 4). Ranked anew,
    samples of an infinite law have a larger s than the law: 57 million tokens of s = 1.2 have 1.2105, because words
    far beyond any rank that can be seen share one token in 20. Hence the law of the simulations is not that of s, but
    the one whose samples have s on average (`drawn_from`; Gouriéroux et al. 1993); without this, the test would reject
    samples of the law itself. Where s is given, tokens are drawn with it as it is.

    No token is drawn: words have Poisson counts, those of low ranks one by one, those of high ranks as the number of
    words with each count in blocks of ranks. The number of tokens is so Poisson as well, about the given one.

    Args:
        counts: tokens of each word, in descending order: [types].
        convention: see `Convention`. Of "renormalised-empirical" with s given, p is close to 1 wherever the distance is
            the law's mass beyond the first ranks, which simulations have as well.
        s: the exponent where it was fitted to other text, as D_p-hat has it; None fits it to these counts.
        ranks: how many ranks are looked at.
        resamples: B; p is (b + 1) / (B + 1).
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: as `zipf_distance` and `fit_zipf`; no resamples; fewer than 100 tokens.
    """
    checked = checked_counts(counts)
    last = ranks if SUPPORTS[_known(convention)] == "first" else None
    exponent = fit_zipf(checked, SUPPORTS[convention], ranks).s if s is None else s
    observed = zipf_distance(checked, exponent, convention, ranks)
    tokens = int(checked[:last].sum())
    if resamples < 1 or tokens < LEAST:
        raise TextcriticError(
            f"test of Zipf's law: {resamples} resamples of {tokens} tokens; give at least 1, and {LEAST} tokens"
        )
    rng = np.random.default_rng(seed)
    source = _law_of_samples(exponent, tokens, last, rng) if s is None else exponent
    draws = _Draws.of(tokens, source, last)
    distances = np.empty(resamples)
    law = _law(exponent, convention, ranks)
    for number in range(resamples):
        drawn = draws.draw(rng)
        if s is None:
            law = _law(drawn.s(last), convention, ranks)
        distances[number] = _furthest(drawn.shares(ranks, convention == "untruncated"), law).distance
    return ZipfTest(
        distance=observed.distance,
        rank=observed.rank,
        s=exponent,
        drawn_from=source,
        p=(int((distances >= observed.distance).sum()) + 1) / (resamples + 1),
        chance=float(np.quantile(distances, 0.95)),
        resamples=resamples,
    )


def _known(convention: Convention) -> Convention:
    if convention not in get_args(Convention):
        raise TextcriticError(f"Zipf's law: no convention {convention!r}; one of {', '.join(get_args(Convention))}")
    return convention


def _law(s: float, convention: Convention, ranks: int) -> Floats:
    """Zipf's distribution function at each of the first ranks: [ranks]."""
    if ranks < 2 or (_known(convention) != "truncated" and s <= 1):
        raise TextcriticError(
            f"Zipf's law: s = {s:.4g} and {ranks} ranks; a law over all ranks needs s above 1, and a distance two ranks"
        )
    first, whole = zipf_sums(s, ranks)
    return first / (first[-1] if convention == "truncated" else whole)


def _shares(counts: Ints, ranks: int, whole: bool) -> Floats:
    """Shares of the tokens up to each of the first ranks, of all tokens or of those of these ranks: [ranks]."""
    summed = np.cumsum(counts[:ranks], dtype=np.float64)
    total = counts.sum(dtype=np.float64) if whole else summed[-1]
    return np.concatenate([summed, np.full(ranks - len(summed), summed[-1])]) / total


def _furthest(one: Floats, two: Floats) -> RankDistance:
    gaps = np.abs(one - two)
    rank = int(gaps.argmax())
    return RankDistance(float(gaps[rank]), rank + 1)


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Counts by rank: those of the most frequent words, then how many words have each lower count.

    Attributes:
        high: in descending order, each above the counts that `words` is of: [words].
        words: how many words have the count 1, 2, ...: [counts].
    """

    high: Ints
    words: Ints

    def shares(self, ranks: int, whole: bool) -> Floats:
        below = np.minimum(self.words[::-1].cumsum(), max(ranks - len(self.high), 0))
        low = np.repeat(np.arange(len(self.words), 0, -1), np.diff(below, prepend=0))
        shares = _shares(np.concatenate([self.high, low])[:ranks], ranks, whole=False)
        return shares * (self._of_first(ranks, low) / self._tokens()) if whole else shares

    def log_rank_mean(self) -> float:
        """As `zipf.log_rank_mean`: the log ranks of the words of one count sum to a difference of log factorials."""
        from scipy.special import gammaln

        ends = len(self.high) + self.words[::-1].cumsum()
        sums = np.diff(gammaln(ends + 1.0), prepend=gammaln(len(self.high) + 1.0))
        low = np.arange(len(self.words), 0, -1) @ sums
        return float((self.high @ np.log(np.arange(1, len(self.high) + 1)) + low) / self._tokens())

    def s(self, last: int | None) -> float:
        """The fitted exponent of a law up to the rank `last`, or over all ranks."""
        # A tiny sample may be of one word, which has no s: the law has then all but 1e-19 at rank 1.
        return float(fit_zipf_many(np.array([max(self.log_rank_mean(), 1e-19)]), last)[0])

    def _tokens(self) -> float:
        return float(self.high.sum(dtype=np.float64) + np.arange(1, len(self.words) + 1) @ self.words)

    def _of_first(self, ranks: int, low: Ints) -> float:
        return float(self.high[:ranks].sum(dtype=np.float64) + low.sum(dtype=np.float64))


@dataclass(frozen=True, eq=False)
class _Draws:
    """What is needed to draw a sample's counts by rank.

    Attributes:
        alone: expected counts of the words that are drawn one by one: [words].
        sizes: ranks in each block of the others: [blocks].
        probabilities: of each count 0, 1, ..., in a block, on average over its ranks: [blocks, counts].
        rest: expected number of tokens beyond the blocks, each of a word of its own.
    """

    alone: Floats
    sizes: Ints
    probabilities: Floats
    rest: float

    @classmethod
    def of(cls, tokens: int, s: float, last: int | None) -> "_Draws":
        """For so many tokens, on average, of Zipf's law up to the rank `last`, or over all ranks."""
        from scipy.stats import poisson

        scale = tokens / float(rank_sums(last).moments(np.array([s]))[0][0])
        many = _rank_of(ALONE, scale, s, last)
        alone = scale * np.arange(1, max(many, min(SINGLE, last or SINGLE)) + 1, dtype=np.float64) ** -s
        end = max(len(alone), _rank_of(RARE, scale, s, last))
        edges = _edges(len(alone) + 1, end + 1)
        top = alone[-1] + 12 * np.sqrt(alone[-1]) + 20
        counts = np.arange(int(top) + 1)
        probabilities = np.empty((len(edges) - 1, len(counts)))
        for block, (start, stop) in enumerate(pairwise(edges)):
            points, weights = gram_points(stop - start)
            each = poisson.pmf(counts, scale * (start + points[:, None]) ** -s)
            probabilities[block] = weights @ each / weights.sum()
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        beyond = 0.0 if last is not None else scale * (end + 0.5) ** (1 - s) / (s - 1)
        return cls(alone, np.diff(edges), probabilities, beyond)

    def draw(self, rng: np.random.Generator) -> _Drawn:
        alone = rng.poisson(self.alone)
        blocks = rng.multinomial(self.sizes, self.probabilities).sum(axis=0)
        low = alone < len(blocks)
        words = (blocks + np.bincount(alone[low], minlength=len(blocks)))[1:]
        words[0] += rng.poisson(self.rest)
        return _Drawn(np.sort(alone[~low])[::-1], words)


def _law_of_samples(s: float, tokens: int, last: int | None, rng: np.random.Generator) -> float:
    """The exponent whose samples of so many tokens have s on average: Newton's method within a bracket."""
    low, high = (0.0, s) if last is not None else (1.0, s)
    source, slope, before = s, 1.0, None
    for _ in range(ROUNDS):
        draws = _Draws.of(tokens, source, last)
        fits = np.array([draws.draw(rng).s(last) for _ in range(TRIALS)])
        excess = float(fits.mean()) - s
        if abs(excess) < 0.1 * fits.std():
            break
        low, high = (low, source) if excess > 0 else (source, high)
        if before is not None and source != before[0]:
            slope = max((excess - before[1]) / (source - before[0]), 0.1)
        before = source, excess
        following = source - excess / slope
        source = following if low < following < high else (low + high) / 2
    return source


def _rank_of(count: float, scale: float, s: float, last: int | None) -> int:
    """The last rank whose expected count is at least so many, and at most `last`."""
    limit = np.log(last) if last is not None else 60.0
    exponent = (np.log(scale / count)) / s if s > 0 else (limit if scale >= count else 0.0)
    return int(np.exp(min(max(exponent, 0.0), limit)) + 1e-6)


def _edges(start: int, end: int) -> Ints:
    """Starts of the blocks of ranks from `start` on, and `end`, the rank after the last one."""
    octaves = np.log2(end / start)
    edges = start * 2.0 ** (np.arange(int(octaves * BLOCKS) + 1) / BLOCKS)
    return np.unique(np.concatenate([edges.astype(np.int64), [start, end]]))
