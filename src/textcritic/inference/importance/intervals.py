"""Three intervals of a perplexity by importance sampling. They cover different things and are never put together.

Over instances: other texts. Over draws: other draws for these texts. For the truth: the model's own perplexity on these
texts, which the other two do not cover, since log p-hat is too low in expectation at every K.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.inference.bootstrap import Interval, bootstrap_interval
from textcritic.inference.importance.better import of_all_without_each
from textcritic.inference.importance.estimates import log_likelihoods, perplexities, perplexity
from textcritic.inference.importance.lengths import level_of, why_none
from textcritic.inference.importance.weights import LogWeights
from textcritic.inference.statistics import exp_ratio_of_sums

LEVEL = 0.95
ALONE = "of a single text it would hold too seldom where a few draws decide"
COVERS: Mapping[str, str] = {
    "over_instances": "other texts of the same kind, with as many draws for each",
    "over_draws": "other draws for these texts: the mean over draws at this K, not the truth",
    "for_truth": "the truth: in 95% of runs the model's own perplexity on these texts is no higher",
}
"""What each interval covers, in words."""


@dataclass(frozen=True, slots=True)
class TruthBound:
    """A one-sided bound for the truth.

    Attributes:
        log_likelihood: what log p of all texts is at least, in nats.
        perplexity: what the perplexity is at most.
        level: of confidence.
    """

    log_likelihood: float
    perplexity: float
    level: float


@dataclass(frozen=True, slots=True)
class Intervals:
    """The three, for the perplexity at instance level; `COVERS` says what each covers."""

    over_instances: Interval
    over_draws: Interval
    for_truth: TruthBound


def intervals(weights: LogWeights, resamples: int = 10_000, level: float = LEVEL, seed: int = 1) -> Intervals:
    """All three; arguments and errors as those of the functions below."""
    return Intervals(
        over_instances(weights, resamples, level, seed), over_draws(weights, level), for_truth(weights, level)
    )


def over_instances(weights: LogWeights, resamples: int = 10_000, level: float = LEVEL, seed: int = 1) -> Interval:
    """Studentised bootstrap over texts, as that of Latent PPL: covers `exp(-E[log p-hat_n] / E[T_n])` at this K.

    The expectations are over texts and draws. There is none of fewer than 20 texts, of too few long ones
    (`lengths.why_none`), or where the tokens of each text are not known; `reason` says so. Of texts of unequal length
    it is made wider, so that it holds (`lengths.level_of`). Texts that belong together are not known here: they count
    as independent.

    Args:
        weights: of all texts.
        resamples: of the texts.
        level: of confidence.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: all weights of a text are -inf; no resamples; or a level outside (0, 1).
    """
    of_texts = log_likelihoods(weights)
    if reason := why_none(weights.tokens):
        estimate = perplexity(float(of_texts.sum()), weights.total_tokens)
        return Interval(estimate, None, None, level, resamples, reason)
    columns, asked = np.column_stack([-of_texts, weights.tokens]), level_of(weights.tokens, level)
    return replace(bootstrap_interval(columns, exp_ratio_of_sums, resamples, asked, seed), level=level)


def over_draws(weights: LogWeights, level: float = LEVEL) -> Interval:
    """Other draws for the same texts: covers `exp(-(1/T) sum_n E[log p-hat_n])` at this K; not log p, which is higher.

    By the jackknife: each draw of each text is left out in turn, and the variances of the texts add up. By Efron and
    Stein 1981 they are too large rather than too small in expectation. Of a single text there is none: with
    heavy-tailed weights it would hold in 74 to 92% (docs/results/importance.md). Bootstrap resamples of the draws lose
    the largest weight too often: where weights are heavy-tailed their intervals cover 86 to 90% instead of 95% (the
    same page). Student's t has Satterthwaite's degrees of freedom (1946). On the scale of log perplexity.

    `resamples` of the result is the number of draws left out of each text, K.

    Args:
        weights: of all texts; the draws of each are independent and drawn alike.
        level: of confidence.

    Raises:
        TextcriticError: all weights of a text are -inf, or a level outside (0, 1).
    """
    total, draws, tokens = float(log_likelihoods(weights).sum()), weights.draws, weights.total_tokens
    width, reason = spread_over_draws(weights, level)
    none = Interval(perplexity(total, tokens), None, None, level, draws, reason or ALONE * (len(weights.ids) == 1))
    if none.reason:
        return none
    low, high = perplexities(np.array([total + width, total - width]), tokens)
    return replace(none, low=float(low), high=float(high))


def spread_over_draws(weights: LogWeights, level: float = LEVEL) -> tuple[float, str]:
    """Half the width of the interval over draws of log p-hat of all texts, in nats; NaN and why where there is none.

    Raises:
        TextcriticError: as `over_draws`.
    """
    _check(level)
    draws = weights.draws
    log_likelihoods(weights)
    if draws == 1:
        return np.nan, "one draw of each text does not say how others would differ"
    _, lowest, squares = of_all_without_each(weights).T
    dead = np.flatnonzero(np.isneginf(lowest))
    if len(dead):
        return np.nan, f"a single draw has all the weight in {len(dead)} of {len(weights.ids)} texts"
    if (weights.log_weights.max(axis=1) == weights.log_weights.min(axis=1)).all():
        return np.nan, "all weights of each text are equal"
    variances = (draws - 1) / draws * squares
    from scipy.special import stdtrit  # takes long to load

    freedom = (draws - 1) * variances.sum() ** 2 / (variances**2).sum()
    return float(stdtrit(freedom, (1 + level) / 2) * np.sqrt(variances.sum())), ""


def for_truth(weights: LogWeights, level: float = LEVEL) -> TruthBound:
    """In 95% of runs log p of all texts is at least `sum_n log p-hat_n - log 20`, whatever the weights and K.

    Markov's inequality: p-hat is not negative and E[p-hat] = p, so that p-hat is above 20 p in at most 1 of 20 runs.
    The draws of different texts are independent, so that the product of their p-hat has the product of their p as its
    expectation: log 20 is subtracted once from the sum, not once for each text. It does not matter whether the proposal
    misses part of what is possible: p-hat is then too low, and the bound only looser. It holds for one proposal that
    was chosen beforehand; for the best of M temperatures `level` is 1 - 0.05 / M.

    Args:
        weights: of all texts.
        level: of confidence; 1 / (1 - level) takes the place of 20.

    Raises:
        TextcriticError: as `over_draws`.
    """
    _check(level)
    low = float(log_likelihoods(weights).sum() + np.log1p(-level))
    return TruthBound(low, perplexity(low, weights.total_tokens), level)


def _check(level: float) -> None:
    if not 0 < level < 1:
        raise TextcriticError(f"intervals: level {level}; give a number above 0 and below 1")
