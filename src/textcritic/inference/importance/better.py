"""Better estimates of log p from the same draws: mixture weights, the jackknife, Pareto smoothing."""

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.importance.estimates import by_rows, log_likelihoods, log_sum_exp
from textcritic.inference.importance.tails import smoothed_rows
from textcritic.inference.importance.weights import LogWeights
from textcritic.inference.statistics import Array


def mixture_weights(
    log_p: npt.ArrayLike, log_q: npt.ArrayLike, draws: npt.ArrayLike, tokens: npt.ArrayLike, ids: tuple[str, ...]
) -> LogWeights:
    """Log weights of draws from several proposals, as if each were drawn from all of them together.

    `w = log p - log sum_m (K_m / K) q_m`: the balance heuristic of Veach and Guibas 1995, the deterministic mixture of
    Owen and Zhou 2000. No weight is above `K / K_m` times that under proposal m alone, so one good proposal is enough.
    p-hat of each text stays unbiased: E[log p-hat] is still a bound, and so is that for the truth (`for_truth`).

    Use them at instance level, or where the draws of each text are put in a random order (`curves`,
    `corpus_over_pairings`): a group or column of draws in their own order may be from one proposal, which alone is not
    unbiased. The interval over draws takes draws as drawn alike and is somewhat too wide.

    Args:
        log_p: of every draw, [N, K]: first K_1 draws from proposal 1, then K_2 from proposal 2, and so on; the order
            itself plays no part.
        log_q: of every draw under every proposal (temperature), [N, K, M]; -inf is allowed under others than its own.
        draws: K_m, [M]; they add up to K.
        tokens: [N], or their total.
        ids: of the texts.

    Raises:
        TextcriticError: shapes that do not fit, or as `LogWeights`.
    """
    p, q, sizes = np.asarray(log_p, np.float64), np.asarray(log_q, np.float64), np.asarray(draws, np.float64)
    if p.ndim != 2 or q.shape != (*p.shape, len(sizes)) or sizes.sum() != p.shape[1] or not (sizes > 0).all():
        raise TextcriticError(
            f"mixture: log_p of shape {p.shape}, log_q {q.shape}, draws {sizes.tolist()}; give [N, K], [N, K, M], and "
            "M numbers above 0 that add up to K"
        )
    return LogWeights.of(p, log_sum_exp(q + np.log(sizes / sizes.sum()), axis=2), tokens, ids)


def jackknife_log_likelihoods(weights: LogWeights) -> Array:
    """Log p-hat of each text, less its bias of order 1/K: [N], in nats (Quenouille 1956).

    `K log p-hat - (K - 1) mean_k log p-hat without draw k`. The expectation of its p-hat is no longer p, and that of
    its logarithm may be above log p: no bound. NaN where a single draw has all the weight, or K = 1.

    Raises:
        TextcriticError: all weights of a text are -inf.
    """
    whole = log_likelihoods(weights)
    means = of_all_without_each(weights)[:, 0]
    corrected: Array = np.full(len(whole), np.nan)
    finite = np.isfinite(means)  # a mean is finite if all are
    corrected[finite] = weights.draws * whole[finite] - (weights.draws - 1) * means[finite]
    return corrected


def without_each(values: Array) -> Array:
    """Log p-hat of each text without each of its draws, of log weights [N, K]: [N, K].

    -inf where the others are all -inf; NaN of K = 1.
    """
    if values.shape[1] == 1:
        return np.full(values.shape, np.nan)
    sums = log_sum_exp(values, axis=1)[:, None]
    share = np.exp(values - sums)
    # The largest share may be 1 up to rounding: then the others are summed themselves.
    rows, largest = np.arange(len(values)), share.argmax(axis=1)
    others = values.copy()
    others[rows, largest] = -np.inf
    share[rows, largest] = 0.0
    without: Array = sums + np.log1p(-share)
    without[rows, largest] = log_sum_exp(others, axis=1)
    return without - np.log(values.shape[1] - 1)


def of_all_without_each(weights: LogWeights) -> Array:
    """Of log p-hat of a text without each of its draws the mean, the lowest, the sum of squares about the mean: [N, 3].

    Not finite, or NaN, where one is.
    """

    def moments(log_weights: Array) -> Array:
        without = without_each(log_weights)
        mean = without.mean(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            return np.column_stack([mean, without.min(axis=1), ((without - mean) ** 2).sum(axis=1)])

    return weights.once("without", lambda: by_rows(moments, weights.log_weights))


def pareto_smoothed_log_likelihoods(weights: LogWeights) -> Array:
    """Log of the mean of the smoothed weights of each text: [N], in nats (Vehtari et al. 2024).

    Steadier than log p-hat, but biased in a way that is not known: no bound.

    Raises:
        TextcriticError: all weights of a text are -inf.
    """
    log_likelihoods(weights)
    sums = by_rows(lambda some: log_sum_exp(smoothed_rows(some), axis=1), weights.log_weights)
    return sums - np.log(weights.draws)
