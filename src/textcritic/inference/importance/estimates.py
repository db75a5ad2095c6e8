"""Perplexity of a latent language model from log importance weights (Logan et al. 2020, equations 2, 5 and 6).

All in log space. p-hat, the mean of the weights, is unbiased; its logarithm is too low in expectation (equation 4), so
that perplexity is too high in expectation at every K.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.importance.orders import ordered_sums
from textcritic.inference.importance.weights import LogWeights, numbered
from textcritic.inference.statistics import Array

POINTS = 16  # of a curve, equally far apart in log K
Level = Literal["instance", "corpus"]
Ints = npt.NDArray[np.int64]
PIECE = 40_000  # numbers that are summed at a time, so that they fit into the cache
ROWS_OF = 4_000_000  # numbers of the rows that are worked on at a time, 32 MB


def log_likelihoods(weights: LogWeights) -> Array:
    """Log p-hat of each text, in nats: [N]. `LSE_k w[n, k] - log K` (equation 2).

    Raises:
        TextcriticError: all weights of a text are -inf.
    """
    sums = weights.once("sums", lambda: log_sum_exp(weights.log_weights, axis=1))
    check_alive(sums, weights.ids, weights.draws)
    return sums - np.log(weights.draws)


def instance_perplexity(weights: LogWeights, as_released: int | None = None) -> float:
    """`exp(-(1/T) sum_n log p-hat(x_n))` (equation 5).

    Args:
        weights: of all texts.
        as_released: what `--samples-per-batch` was, to get the figure that the paper's released code (branch
            acl-2020-updates) prints: it subtracts the logarithm of this number from each text's sum in place of log K,
            so that its perplexity is too low. None: as the paper has it.

    Raises:
        TextcriticError: as `log_likelihoods`; or `as_released` is below 1.
    """
    total = float(log_likelihoods(weights).sum())
    if as_released is not None:
        if as_released < 1:
            raise TextcriticError(f"as_released: {as_released} samples in a batch; give at least 1")
        total += len(weights.ids) * float(np.log(weights.draws) - np.log(as_released))
    return perplexity(total, weights.total_tokens)


def corpus_log_likelihood(weights: LogWeights) -> float:
    """Log p-hat of all texts together, in nats: `LSE_k sum_n w[n, k] - log K`.

    Draw k of all texts is one draw of the corpus. -inf where each k has a text with a weight of -inf.

    Raises:
        TextcriticError: all weights of a text are -inf.
    """
    log_likelihoods(weights)
    return float(log_sum_exp(weights.log_weights.sum(axis=0), axis=0) - np.log(weights.draws))


def corpus_perplexity(weights: LogWeights) -> float:
    """`exp(-(1/T) log p-hat(corpus))` (equation 6); infinity where `corpus_log_likelihood` is -inf."""
    return perplexity(corpus_log_likelihood(weights), weights.total_tokens)


@dataclass(frozen=True, slots=True)
class Band:
    """The mean of repeated estimates and what the middle 95% of them lie between. No confidence interval."""

    mean: float
    low: float
    high: float
    repeats: int


def corpus_over_pairings(weights: LogWeights, repeats: int = 200, seed: int = 1) -> Band:
    """Corpus-level perplexity where the draws of different texts are paired at random, again and again.

    Which draw of one text goes with which of another is arbitrary, so each pairing (a permutation of the draws within
    each text) is as good an estimate. The band says how far the figure is a matter of pairing.

    Args:
        weights: of all texts.
        repeats: pairings.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: as `corpus_log_likelihood`; or there are no repeats.
    """
    return curves(weights, [weights.draws], repeats, seed).corpus.bands[-1]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Perplexity against the number of draws.

    Attributes:
        draws: k, ascending, int64 [P].
        perplexities: of each repeat at each k, [repeats, P]; infinity where all draws of a text are -inf.
    """

    draws: Ints
    perplexities: Array

    @property
    def mean(self) -> Array:
        """Over repeats: [P]. A single repeat need not fall with k; what it estimates does."""
        return self.perplexities.mean(axis=0)

    @property
    def bands(self) -> tuple[Band, ...]:
        """At each k."""
        return tuple(band(column) for column in self.perplexities.T)


@dataclass(frozen=True, slots=True)
class Curves:
    """The curves of both levels, from the same sub-samples."""

    instance: Curve
    corpus: Curve


def curves(weights: LogWeights, draws: Sequence[int] | None = None, repeats: int = 100, seed: int = 1) -> Curves:
    """Perplexity from k of the K draws of each text, in `repeats` random sub-samples.

    In a repeat the draws of each text are put in a random order and the first k are taken, so a repeat is one run that
    goes on. At k = K all repeats are the same at instance level. Of large matrices several texts share an order, see
    `orders`.

    Args:
        weights: of all texts.
        draws: numbers k from 1 to K; by default about `POINTS`, equally far apart in log k, with K // 2 and K.
        repeats: sub-samples.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: as `log_likelihoods`; a k that is not in 1 ... K; or there are no repeats.
    """
    log_likelihoods(weights)
    ks = np.unique(_log_spaced(weights.draws) if draws is None else np.asarray(draws, dtype=np.int64))
    if not len(ks) or ks[0] < 1 or ks[-1] > weights.draws:
        raise TextcriticError(f"curves: {list(ks)} draws; give numbers from 1 to {weights.draws}")
    instance, corpus = np.zeros((repeats, len(ks))), np.empty((repeats, len(ks)))
    together: dict[int, Array] = {}
    for sums in ordered_sums(weights, ks.tolist(), repeats, seed):
        instance[sums.repeat] += np.logaddexp.accumulate(sums.segments, axis=1).sum(axis=0)
        places = together.pop(sums.repeat, 0) + sums.places
        if sums.last:
            of_segments = np.logaddexp.reduceat(places[: ks[-1]], [0, *ks[:-1]])
            corpus[sums.repeat] = np.logaddexp.accumulate(of_segments)
        else:
            together[sums.repeat] = places
    instance -= len(weights.ids) * np.log(ks)
    corpus -= np.log(ks)
    tokens = weights.total_tokens
    return Curves(Curve(ks, perplexities(instance, tokens)), Curve(ks, perplexities(corpus, tokens)))


def group_perplexities(
    weights: LogWeights, size: int = 100, repeats: int = 100, level: Level = "instance", seed: int = 1
) -> Array:
    """Perplexities of groups of draws, for a density as in the paper's Figure 4: [repeats].

    With `size * repeats` draws or more the groups are the first ones in order and share no draw, as in the paper. With
    fewer each group is drawn from all without replacement: groups then share draws, and the density is too narrow.

    Args:
        weights: of all texts.
        size: draws of a group.
        repeats: groups.
        level: of aggregation.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: as `log_likelihoods`, or there are fewer than `size` draws.
    """
    log_likelihoods(weights)
    if not 1 <= size <= weights.draws:
        raise TextcriticError(f"groups: of {size} draws; give a number from 1 to {weights.draws}")
    if size * repeats <= weights.draws:
        starts = range(0, size * repeats, size)
        groups: Iterator[Array] = (weights.log_weights[:, start : start + size] for start in starts)
    else:
        rng = np.random.default_rng(seed)
        groups = (rng.permuted(weights.log_weights, axis=1)[:, :size] for _ in range(repeats))
    found = np.empty(repeats)
    for repeat, group in enumerate(groups):
        if level == "corpus":
            found[repeat] = log_sum_exp(group.sum(axis=0), axis=0) - np.log(size)
        else:
            found[repeat] = (log_sum_exp(group, axis=1) - np.log(size)).sum()
    return perplexities(found, weights.total_tokens)


def beam_perplexity(
    log_joint: npt.ArrayLike, tokens: npt.ArrayLike, states: Sequence[Sequence[Hashable]] | None = None
) -> float:
    """A strict upper bound of perplexity: `exp(-(1/T) sum_n LSE_z log p(x_n, z))` over the states z of a beam.

    The paper's beam marginalisation (section 4). It is a bound only if the states of a text are all different.

    Args:
        log_joint: log p(x_n, z), [N, k]; -inf fills up beams of fewer than k states.
        tokens: [N], or their total.
        states: what tells the states of each text apart, if they are to be checked: [N] sequences of k.

    Raises:
        TextcriticError: a text has a state twice, or none with a probability; NaN or +inf.
    """
    values = np.asarray(log_joint, dtype=np.float64)
    beams = LogWeights(numbered(values), values, np.asarray(tokens, dtype=np.float64))
    for row, of_text in enumerate(states or ()):
        alive = [state for state, value in zip(of_text, values[row], strict=True) if value > -np.inf]
        if len(set(alive)) < len(alive):
            raise TextcriticError(f"beam: text {row} has a state twice; its bound would be none. Give each state once")
    sums = log_sum_exp(values, axis=1)
    check_alive(sums, beams.ids, beams.draws)
    return perplexity(float(sums.sum()), beams.total_tokens)


class RunningEstimates:
    """The plain estimates of many shards, with one shard in memory at a time; what is kept is [N], whatever K."""

    def __init__(self) -> None:
        self.draws = 0
        self._first: LogWeights | None = None
        # Logarithms of the sums of weights, of their squares, and of the weights of the corpus.
        self._sums = self._squares = np.empty(0)
        self._corpus = np.array(-np.inf)

    def add(self, shard: LogWeights) -> None:
        """Add the draws of a shard.

        Raises:
            TextcriticError: its texts or tokens are not those of the first shard.
        """
        if self._first is None:
            nothing = np.full(len(shard.ids), -np.inf)
            self._first = LogWeights(shard.ids, shard.log_weights[:, :1].copy(), shard.tokens)
            self._sums, self._squares = nothing, nothing
        self._first.check_same_texts(shard, "log weights")
        self.draws += shard.draws
        self._sums = np.logaddexp(self._sums, log_sum_exp(shard.log_weights, axis=1))
        self._squares = np.logaddexp(self._squares, log_sum_of_squares(shard))
        self._corpus = np.logaddexp(self._corpus, log_sum_exp(shard.log_weights.sum(axis=0), axis=0))

    def log_likelihoods(self) -> Array:
        """As the function: [N]."""
        check_alive(self._sums, self._texts().ids, self.draws)
        return self._sums - np.log(self.draws)

    def instance_perplexity(self) -> float:
        """As the function."""
        return perplexity(float(self.log_likelihoods().sum()), self._texts().total_tokens)

    def corpus_perplexity(self) -> float:
        """As the function; draw k of a text goes with draw k of the others, whatever the shard."""
        self.log_likelihoods()
        return perplexity(float(self._corpus - np.log(self.draws)), self._texts().total_tokens)

    def effective_sample_sizes(self) -> Array:
        """As the function: [N]."""
        self.log_likelihoods()
        return np.exp(2 * self._sums - self._squares)

    def _texts(self) -> LogWeights:
        if self._first is None:
            raise TextcriticError("log weights: no shard was added")
        return self._first


def perplexity(log_likelihood: float, tokens: float) -> float:
    """`exp(-(1/T) log p)` (equation 1); infinity of -inf."""
    return float(perplexities(np.array(log_likelihood), tokens))


def perplexities(log_likelihood: Array, tokens: float) -> Array:
    """The same of many."""
    with np.errstate(over="ignore"):
        found: Array = np.exp(-log_likelihood / tokens)
    return found


def log_sum_exp(values: Array, axis: int) -> Array:
    """`log sum exp` along an axis; -inf where all are. Rows of a matrix are taken in pieces, which the cache holds."""
    if values.ndim == 2 and axis == 1 and len(values):
        return by_rows(lambda some: _log_sum_exp(some, 1), values, PIECE)
    return _log_sum_exp(values, axis)


def log_sum_of_squares(weights: LogWeights) -> Array:
    """`log sum_k w[n, k]^2` of each text: [N]."""
    return weights.once("squares", lambda: by_rows(lambda some: _log_sum_exp(2 * some, 1), weights.log_weights, PIECE))


def by_rows(of: Callable[[Array], Array], values: Array, numbers: int = ROWS_OF) -> Array:
    """What `of` makes of each row of a matrix, [rows, k] -> [rows, ...]; so many numbers at a time, to save memory."""
    rows = max(1, numbers // values.shape[1])
    return np.concatenate([of(values[start : start + rows]) for start in range(0, len(values), rows)])


def _log_sum_exp(values: Array, axis: int) -> Array:
    top = values.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        sums: Array = np.log(np.exp(values - top).sum(axis=axis)) + top.squeeze(axis)
    return sums


def band(values: Array) -> Band:
    """Of repeated estimates: [repeats]; infinity is allowed."""
    # Between two infinite values an interpolated quantile is NaN.
    low, high = np.quantile(values, [0.025, 0.975], method="inverted_cdf")
    return Band(float(values.mean()), float(low), float(high), len(values))


def check_alive(sums: Array, ids: Sequence[str], draws: int) -> None:
    """Raise TextcriticError for a text whose weights sum to 0."""
    dead = np.flatnonzero(np.isneginf(sums))
    if len(dead):
        raise TextcriticError(
            f"log weights: row {dead[0]} (text {ids[dead[0]]!r}) is all -inf: none of its {draws} draws has a "
            "probability under the model; draw more, or see whether the proposal can draw what the model allows"
        )


def _log_spaced(draws: int) -> Ints:
    points = np.round(np.geomspace(1, draws, POINTS)).astype(np.int64)
    return np.append(points, max(1, draws // 2))
