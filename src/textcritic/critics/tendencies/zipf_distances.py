"""How far counts by rank are from Zipf's law, or from one another (Meister and Cotterell 2021, sections 4.2 and 5.1).

The paper looks at the first 10,000 ranks, and does not say how the two distribution functions are cut there. Three
conventions give distances that differ several times over, so all three are here, by name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from textcritic.critics.tendencies.zipf import (
    RANKS,
    Floats,
    Support,
    checked_counts,
    fit_zipf,
    rank_sums,
    zipf_sums,
    zipf_sums_at,
)
from textcritic.critics.tendencies.zipf_draws import ZipfDraws, ZipfSample, fit_samples, shares
from textcritic.errors import TextcriticError
from textcritic.inference.looks import p_values

Convention = Literal["renormalised-empirical", "untruncated", "truncated"]
"""How the first ranks are cut out.

- "renormalised-empirical": shares of the tokens of the first ranks, against Zipf's law over all ranks. At the last of
  these ranks the counts have summed to 1 and the law has not: its mass beyond is a distance that does not depend on the
  fit. This mass is 0.142 at s = 1.1997 and 10,000 ranks, which is the value printed for four models (Table 2). So the
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

# Of fewer tokens than this, a Poisson number is too far from a fixed one.
LEAST = 100
# Samples, and rounds of them at most, that find the law whose samples have a given s.
TRIALS, ROUNDS = 30, 12
# Samples that are in memory at a time.
CHUNK = 100


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
        p: share of simulations that are at least as far, the observed one counted in.
        chance: the 0.95 quantile of the distances of the simulations.
        resamples: number of simulations.
    """

    distance: float
    rank: int
    s: float
    p: float
    chance: float
    resamples: int


def zipf_distance(counts: npt.ArrayLike, s: float, convention: Convention, ranks: int = RANKS) -> RankDistance:
    """The Kolmogorov-Smirnov distance of counts to Zipf's law (Eq. 10), over the first ranks.

    Args:
        counts: tokens of each word, in descending order: [types]. Ranks that have no count are looked at too.
        s: exponent of the law; above 1, except for "truncated".
        convention: see `Convention`.
        ranks: how many ranks are looked at.

    Raises:
        TextcriticError: counts as for `fit_zipf`, no counts at all, another convention, fewer than two ranks, or s of
            1 or less where the law has infinitely many ranks.
    """
    checked = checked_counts(counts)
    law = _law(s, convention, ranks)
    return _furthest(shares(checked, ranks, whole=convention == "untruncated"), law)


def zipf_fit_p(
    counts: npt.ArrayLike,
    conventions: Sequence[Convention],
    s: float | None = None,
    ranks: int = RANKS,
    resamples: int = 1000,
    seed: int = 1,
) -> dict[Convention, ZipfTest]:
    """Monte Carlo tests that tokens were drawn independently from Zipf's law (Wood and Altavela 1978).

    In each simulation as many tokens are drawn from a law, and its words are ranked by their counts in the simulation.
    If s was fitted to the given counts, it is also fitted to those of the simulation (Clauset et al. 2009, section 4).
    Because of the new ranking, samples of an infinite law have a larger s than the law: 57 million tokens of s = 1.2
    have 1.2105, because 4% of the tokens are of words far beyond the ranks that can be seen. So the law of the
    simulations does not have the exponent s, but the one whose samples have s on average (Gouriéroux et al. 1993);
    without this, the test would reject samples of the law itself. If s is given, tokens are drawn with s itself.

    Words have Poisson counts (`zipf_draws`), so 1,000 simulations of 57 million tokens take seconds.

    Args:
        counts: tokens of each word, in descending order: [types].
        conventions: see `Convention`; those of one support, which are tested on the same simulations. For
            "renormalised-empirical", p is informative only if the distance is more than the law's mass beyond the first
            ranks: simulations have this mass as well, and if it is the distance, p is close to 1, or to 0.5 if s is
            fitted.
        s: the exponent where it was fitted to other text, as D_p-hat has it; None fits it to these counts.
        ranks: how many ranks are looked at.
        resamples: B; p is (b + 1) / (B + 1).
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: as `zipf_distance` and `fit_zipf`; no resamples; fewer than 100 tokens; not one support.
    """
    checked, support = checked_counts(counts), _support_of(conventions)
    last = ranks if support == "first" else None
    exponent = fit_zipf(checked, support, ranks).s if s is None else s
    observed = {convention: zipf_distance(checked, exponent, convention, ranks) for convention in conventions}
    tokens = int(checked[:last].sum())
    if resamples < 1:
        raise TextcriticError(f"test of Zipf's law: {resamples} resamples; give at least 1")
    if tokens < LEAST:
        raise TextcriticError(f"test of Zipf's law: {tokens} tokens; give at least {LEAST}")
    rng = np.random.default_rng(seed)
    source = _law_of_samples(exponent, tokens, last, rng) if s is None else exponent
    draws = ZipfDraws.of(tokens, source, last)
    parts: dict[Convention, list[Floats]] = {convention: [] for convention in conventions}
    for start in range(0, resamples, CHUNK):
        samples = [draws.draw(rng) for _ in range(min(CHUNK, resamples - start))]
        fits = fit_samples(samples, last) if s is None else np.array([exponent])
        for convention, distances in parts.items():
            distances.append(sample_distances(samples, fits, convention, ranks))
    far = {convention: np.concatenate(distances) for convention, distances in parts.items()}
    return {
        convention: ZipfTest(
            distance=distance,
            rank=rank,
            s=exponent,
            p=float(p_values((far[convention] >= distance).sum(), resamples)),
            chance=float(np.quantile(far[convention], 0.95)),
            resamples=resamples,
        )
        for convention, (distance, rank) in observed.items()
    }


def sample_distances(samples: Sequence[ZipfSample], s: Floats, convention: Convention, ranks: int) -> Floats:
    """`zipf_distance` of each sample, at most 1e-11 off: [samples].

    Most ranks have low counts, and thousands have the same. Over these the shares of a sample rise along a straight
    line, and those of the law along a concave curve. So they are farthest apart at the first or last of these ranks, or
    where the law gives the next rank less than the sample does, and no others are looked at.

    Args:
        samples: of one `ZipfDraws`.
        s: exponent of the law of each sample, or of that of all: [samples] or [1], above 0.
        convention: as for `zipf_distance`.
        ranks: likewise.
    """
    last_high = np.array([[min(len(sample.high), ranks)] for sample in samples])
    high = np.zeros((len(samples), last_high.max()))
    for row, sample in zip(high, samples, strict=True):
        row[: len(sample.high)] = sample.high[:ranks]
    counts = np.arange(len(samples[0].words), 0, -1)
    ends = np.minimum(last_high + np.cumsum([sample.words[::-1] for sample in samples], axis=1), ranks)
    number = np.diff(ends, prepend=last_high)
    summed = high.sum(axis=1, keepdims=True) + np.cumsum(number * counts, axis=1)
    tokens = np.array([[sample.tokens()] for sample in samples]) if convention == "untruncated" else summed[:, -1:]
    whole = (
        zipf_sums_at(s, np.array([[ranks]])) if convention == "truncated" else rank_sums(None).moments(s)[0][:, None]
    )
    with np.errstate(over="ignore", divide="ignore"):
        as_frequent = (counts * whole / tokens) ** (-1 / s[:, None])
    inside = np.clip(as_frequent, ends - number, ends).astype(np.int64)
    at = np.concatenate([ends, inside, np.full_like(last_high, ranks)], axis=1)
    sums = np.concatenate([summed, summed - (ends - inside) * counts, summed[:, -1:]], axis=1)
    low_gaps = np.abs(sums / tokens - zipf_sums_at(s, at) / whole)
    high_ranks = np.arange(1, high.shape[1] + 1)
    law = np.cumsum(high_ranks.astype(np.float64) ** -s[:, None], axis=1)
    high_gaps = np.where(high_ranks <= last_high, np.abs(np.cumsum(high, axis=1) / tokens - law / whole), 0)
    farthest: Floats = np.maximum(low_gaps.max(axis=1), high_gaps.max(axis=1, initial=0))
    return farthest


def _support_of(conventions: Sequence[Convention]) -> Support:
    supports = {SUPPORTS[_known(convention)] for convention in conventions}
    if len(supports) != 1:
        raise TextcriticError(f"test of Zipf's law: {', '.join(conventions)}: give conventions of one support")
    return supports.pop()


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


def _furthest(one: Floats, two: Floats) -> RankDistance:
    gaps = np.abs(one - two)
    rank = int(gaps.argmax())
    return RankDistance(float(gaps[rank]), rank + 1)


def _law_of_samples(s: float, tokens: int, last: int | None, rng: np.random.Generator) -> float:
    """The exponent whose samples of so many tokens have s on average: Newton's method within a bracket."""
    low, high = (0.0, s) if last is not None else (1.0, s)
    source, slope, before = s, 1.0, None
    for _ in range(ROUNDS):
        draws = ZipfDraws.of(tokens, source, last)
        fits = fit_samples([draws.draw(rng) for _ in range(TRIALS)], last)
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
