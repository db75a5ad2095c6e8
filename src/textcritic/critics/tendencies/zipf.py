"""Zipf's law: the exponent s by maximum likelihood, from counts by rank (Meister and Cotterell 2021, appendix A).

A token is the k-th most frequent word with probability `k^-s / Z(s)`. Of the data, only the mean log rank of the tokens
enters: s is where the law has the same mean. Sums over ranks are taken on a few hundred points (`RankSums`), so that a
fit takes milliseconds, and a thousand fits are one array operation.

Ranks are ordered by the counts they explain, so s is too large in small samples, and it grows with the sample
(Piantadosi 2014): compare s between samples of one size only.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Support = Literal["infinite", "observed", "first", "infinite-of-first"]
OF_FIRST: tuple[Support, ...] = ("first", "infinite-of-first")
"""The supports for which only the counts of the first ranks are fitted."""

RANKS = 10_000
"""The ranks that the paper looks at (section 5.1)."""

# Ranks that are summed one by one; beyond, each octave has as many points as NODES.
SINGLE, NODES = 32, 12
# Where the sum of an infinite law is continued by an integral.
HORIZON = 2**20
# s above 64 needs one token in 2^64 beyond rank 1.
LOWEST, HIGHEST = -1.0, 70.0
STEPS, PRECISION = 100, 1e-13


@dataclass(frozen=True)
class ZipfFit:
    """Zipf's law, fitted to counts.

    Attributes:
        s: the exponent.
        support: the ranks that the law is for: "infinite", all; "observed", those that have a count; "first", the first
            `ranks`; "infinite-of-first", all, though only the counts of the first `ranks` are fitted.
        ranks: the last rank of the support; None of an infinite one.
        tokens: that were fitted; those beyond the first `ranks` are not, where the support is "first" or
            "infinite-of-first".
        types: distinct words among them.
        log_likelihood: Eq. 19 at s, nats.
        standard_error: of s, if tokens were drawn independently. Those of a text are not: its interval is a jackknife
            over groups of documents.
    """

    s: float
    support: Support
    ranks: int | None
    tokens: int
    types: int
    log_likelihood: float
    standard_error: float


def fit_zipf(counts: npt.ArrayLike, support: Support = "infinite", ranks: int = RANKS) -> ZipfFit:
    """The maximum-likelihood exponent of Zipf's law (Eq. 4 and 19; Clauset et al. 2009, appendix B).

    Args:
        counts: tokens of each word, in descending order: [types]. Zeros at the end are left out.
        support: "infinite" normalises with Riemann's zeta function, as the paper must have done (its s is close to
            1.2, where a law of the observed ranks is close to 1); "observed" with the sum over the ranks that have a
            count; "first" over the first `ranks`, counts beyond which are left out. "infinite-of-first" leaves these
            counts out as well and normalises as "infinite": the paper considers only the first 10,000 ranks, and does
            not say whether it is so for s. This s is larger, as if there were no token beyond.
        ranks: for "first" and "infinite-of-first".

    Raises:
        TextcriticError: counts that are not whole, negative or not in descending order; another support; fewer than
            two words, for which s is infinite.
    """
    used, last = _fitted_counts(counts, support, ranks)
    tokens, mean = int(used.sum()), log_rank_mean(used)
    s = float(fit_zipf_many(np.array([mean]), last)[0])
    total, _, variance = rank_sums(last).moments(np.array([s]))
    return ZipfFit(
        s=s,
        support=support,
        ranks=last,
        tokens=tokens,
        types=len(used),
        log_likelihood=-tokens * float(np.log(total[0]) + s * mean),
        standard_error=float(1 / np.sqrt(tokens * variance[0])),
    )


class LogRanks(NamedTuple):
    """All that Zipf's law needs of some samples: [samples] each.

    Attributes:
        whole: mean log rank of the tokens, nats.
        first: the same of the tokens of the first ranks.
        types: distinct words.
    """

    whole: Floats
    first: Floats
    types: Ints

    @classmethod
    def of(cls, samples: Iterable[Ints], ranks: int = RANKS) -> "LogRanks":
        """Of samples of words by `by_rank`, each with a token."""
        rows = [(log_rank_mean(one), log_rank_mean(one[:ranks]), len(one)) for one in samples]
        whole, first, types = zip(*rows, strict=True)
        return cls(np.array(whole), np.array(first), np.array(types))

    def part(self, some: slice) -> "LogRanks":
        """Of some of the samples."""
        return LogRanks(self.whole[some], self.first[some], self.types[some])


def zipf_exponents(samples: LogRanks, support: Support = "infinite", ranks: int = RANKS) -> Floats:
    """`fit_zipf(counts, support, ranks).s` of many samples at once, as a jackknife needs it: [samples].

    Raises:
        TextcriticError: as `fit_zipf`.
    """
    means = samples.first if support in OF_FIRST else samples.whole
    lasts = [support_ranks(support, types, ranks) for types in samples.types.tolist()]
    exponents = np.empty(len(means))
    for last in set(lasts):
        same = [place for place, own in enumerate(lasts) if own == last]
        exponents[same] = fit_zipf_many(means[same], last)
    return exponents


def _fitted_counts(counts: npt.ArrayLike, support: Support, ranks: int) -> tuple[Ints, int | None]:
    """The counts that are fitted, and the last rank of the law."""
    checked = checked_counts(counts)
    last = support_ranks(support, len(checked), ranks)
    return checked[:ranks] if support in OF_FIRST else checked, last


def support_ranks(support: Support, types: int, ranks: int) -> int | None:
    """The last rank of a support, None of an infinite one."""
    if support not in get_args(Support):
        raise TextcriticError(f"Zipf's law: no support {support!r}; one of {', '.join(get_args(Support))}")
    if support in OF_FIRST and ranks < 2:
        raise TextcriticError(f"Zipf's law: the first {ranks} ranks; give at least 2")
    return {"observed": types, "first": ranks}.get(support)


def fit_zipf_many(log_rank_means: npt.ArrayLike, ranks: int | None) -> Floats:
    """The exponents of samples from their mean log ranks, the one statistic of the data that Eq. 19 has: [B] -> [B].

    Newton's method on the log of the mean log rank of the law, which falls as s grows, held within a bracket.

    Args:
        log_rank_means: of each sample, nats (`log_rank_mean`).
        ranks: the last rank of the support, None of an infinite one.

    Raises:
        TextcriticError: a mean of 0, where all tokens are one word and s is infinite; one larger than that of equal
            counts, whose counts were not in descending order.
    """
    means = np.asarray(log_rank_means, dtype=np.float64)
    sums = rank_sums(ranks)
    if not (means > 0).all():
        raise TextcriticError("Zipf's law: all tokens are one word, so s is infinite; give at least two words")
    low = np.full(means.shape, 1.0 if ranks is None else LOWEST)
    high = np.full(means.shape, HIGHEST)
    if ranks is not None and not (means < sums.moments(low)[1]).all():
        raise TextcriticError("Zipf's law: high ranks have more tokens than low ones; sort counts in descending order")
    s = np.minimum(1 + 1 / means, HIGHEST / 2)
    for _ in range(STEPS):
        _, mean, variance = sums.moments(s)
        excess = np.log(mean / means)
        low, high = np.where(excess > 0, s, low), np.where(excess > 0, high, s)
        # A variance that underflows at a large s asks for a step to infinity, which the bracket turns down.
        newton = s + excess * mean / np.maximum(variance, 1e-300)
        following = np.where((newton >= low) & (newton <= high), newton, (low + high) / 2)
        change = np.abs(following - s)
        s = following
        if (change <= PRECISION * np.maximum(1, np.abs(s))).all():
            return s
    raise TextcriticError(f"Zipf's law: no exponent found after {STEPS} steps; mean log ranks {means!r}")


def by_rank(counts: npt.ArrayLike) -> Ints:
    """Counts in any order as counts by rank: descending, without zeros; [words] -> [types]."""
    array = np.asarray(counts, dtype=np.int64)
    return np.sort(array[array != 0])[::-1]


def log_rank_mean(counts: Ints) -> float:
    """`sum_k c_k log k / sum_k c_k` of counts in descending order: [types] -> nats."""
    return float(counts @ log_ranks(len(counts)) / counts.sum(dtype=np.float64))


def log_ranks(ranks: int) -> Floats:
    """Logs of the ranks 1, 2, ...: [ranks]."""
    return _log_ranks(1 << (ranks - 1).bit_length())[:ranks]


@lru_cache(maxsize=4)
def _log_ranks(ranks: int) -> Floats:
    return np.log(np.arange(1, ranks + 1))


def zipf_sums(s: float, ranks: int) -> tuple[Floats, float]:
    """`sum k^-s` up to each of the first `ranks`, and over all ranks (zeta; infinite up to s = 1): [ranks], one."""
    first = np.cumsum(np.arange(1, ranks + 1, dtype=np.float64) ** -s)
    return first, float(rank_sums(None).moments(np.array([s]))[0][0]) if s > 1 else np.inf


def zipf_sums_at(s: Floats, ranks: Ints) -> Floats:
    """`sum k^-s` up to some ranks, at most 1e-11 off: [B] or [1] and [B, ranks] -> [B, ranks].

    Beyond the rank SINGLE it is an integral with the first terms of the Euler-Maclaurin formula.
    """
    from scipy.special import exprel

    def edge(rank: Floats) -> Floats:
        return rank**-power * (0.5 - power / (12 * rank) + power * (power + 1) * (power + 2) / (720 * rank**3))

    power = s[:, None]
    single = np.cumsum(np.arange(1, SINGLE + 1, dtype=np.float64) ** -power, axis=1)
    start, end = np.array([[float(SINGLE)]]), np.maximum(ranks, SINGLE).astype(np.float64)
    log = np.log(end / start)
    integral = start ** (1 - power) * log * exprel((1 - power) * log)
    near = np.take_along_axis(np.pad(single, ((0, 0), (1, 0))), np.minimum(ranks, SINGLE), axis=1)
    return np.where(ranks > SINGLE, single[:, -1:] + integral + edge(end) - edge(start), near)


def checked_counts(counts: npt.ArrayLike) -> Ints:
    """Counts in descending order, int64, without the zeros at the end.

    Raises:
        TextcriticError: counts that are not whole, negative, not in descending order, or all 0.
    """
    given = np.asarray(counts)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise TextcriticError(f"Zipf's law: counts of shape {given.shape} and type {given.dtype}; give int64 [types]")
    array = given.astype(np.int64)
    if (array < 0).any() or (np.diff(array) > 0).any():
        raise TextcriticError("Zipf's law: counts are negative or not in descending order; sort them")
    if not array.any():
        raise TextcriticError("Zipf's law: there is no token; give the counts of at least two words")
    return array[array > 0]


@dataclass(frozen=True, eq=False)
class RankSums:
    """Sums over ranks of `k^-s log^m k` as weighted sums over a few points.

    Each rank up to SINGLE is a point. The ranks of an octave [2^j, 2^(j+1)) are replaced by the points of the Gauss
    quadrature of the uniform distribution on these integers, whose orthogonal polynomials are Gram's: with n points it
    is exact for polynomials of degree 2n - 1, and its error falls as 5.8^(-2n) for functions analytic except at 0.

    Attributes:
        logs, weights: [points].
        infinite: whether the sum continues beyond HORIZON.
    """

    logs: Floats
    weights: Floats
    infinite: bool

    def moments(self, s: Floats) -> tuple[Floats, Floats, Floats]:
        """The normaliser, and mean and variance of the log rank under the law: [B] -> [B] each."""
        terms = np.exp(-s[:, None] * self.logs) * self.weights
        rest = self._rest(s) if self.infinite else (0.0, 0.0, 0.0)
        total = terms.sum(axis=1) + rest[0]
        mean = (terms @ self.logs + rest[1]) / total
        # Centred before it is squared: the difference of raw moments would lose the variance of a large s.
        squares = (terms * (self.logs - mean[:, None]) ** 2).sum(axis=1) + rest[2] - 2 * mean * rest[1]
        return total, mean, (squares + mean**2 * rest[0]) / total

    @staticmethod
    def _rest(s: Floats) -> tuple[Floats, Floats, Floats]:
        """Sums from HORIZON on: the integral from half a step before, and the next term of the expansion: [B] each."""
        start, gap = np.log(HORIZON - 0.5), s - 1
        scale = np.exp(-gap * start)
        slope = -s * np.exp(-2 * start) / 24
        return (
            scale * (1 / gap + slope),
            scale * (start / gap + 1 / gap**2 + slope * start),
            scale * (start**2 / gap + 2 * start / gap**2 + 2 / gap**3 + slope * start**2),
        )


@cache
def rank_sums(ranks: int | None) -> RankSums:
    """Sums over the ranks up to `ranks`, or over all."""
    last = HORIZON - 1 if ranks is None else ranks
    points, weights = [np.arange(1, min(SINGLE, last + 1), dtype=np.float64)], [np.ones(min(SINGLE - 1, last))]
    start = SINGLE
    while start <= last:
        number = min(start, last + 1 - start)
        own, weight = gram_points(number)
        points.append(start + own)
        weights.append(weight)
        start *= 2
    return RankSums(np.log(np.concatenate(points)), np.concatenate(weights), ranks is None)


@cache
def gram_points(number: int) -> tuple[Floats, Floats]:
    """Points and weights of the Gauss quadrature of the sum over 0, 1, ..., number - 1 (Golub and Welsch 1969)."""
    if number <= NODES:
        return np.arange(number, dtype=np.float64), np.ones(number)
    n = np.arange(1, NODES, dtype=np.float64)
    # As a float, because the square of a 64-bit integer can overflow.
    off_diagonal = np.sqrt(n**2 * (float(number) ** 2 - n**2) / (4 * (4 * n**2 - 1)))
    points, vectors = np.linalg.eigh(np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1))
    return points + (number - 1) / 2, number * vectors[0] ** 2
