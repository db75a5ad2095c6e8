"""Is K too small? What the weights say, in plain words."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from textcritic.inference.importance.estimates import log_likelihoods
from textcritic.inference.importance.intervals import spread_over_draws
from textcritic.inference.importance.orders import MANY, ordered_sums
from textcritic.inference.importance.tails import (
    FINITE_VARIANCE,
    GOOD,
    LEAST_DRAWS,
    POOR,
    effective_sample_sizes,
    pareto_k,
)
from textcritic.inference.importance.weights import LogWeights
from textcritic.inference.statistics import Array

Verdict = Literal["no sign", "too few", "unclear"]
GOAL = 0.01
"""K is too small if perplexity is seen to be off by a larger share of it."""
AGREE = 2.0  # two estimates of one bias that differ by a larger factor contradict each other
NAMED, LEAST_NAMED = 5, 0.01  # the most texts that are named, and the least share of the error of such a text
SPLITS, FEW_SPLITS = 20, 4  # of the draws into halves; of many weights, whose noise is as small
ROUNDING = 1e-12  # in nats
CERTAIN = 1e-9  # nats above 0 that rounding may give a text of probability 1
CAVEAT = (
    "This is judged by what was drawn: if the proposal never draws the states where most of p(x, z) lies, the weights "
    "may look even and perplexity is still too high, and none of these numbers would show it."
)
REVERSE = (
    "What the proposal misses shows on texts that are drawn from the model, by the log weights of their own states "
    "(--reverse)."
)


@dataclass(frozen=True, slots=True)
class Advice:
    """Whether the draws are too few.

    Attributes:
        verdict: "no sign": by what was drawn, perplexity is within 1% of its limit, which is no proof; "too few": it is
            not; "unclear": the weights are too uneven, or too few, to say.
        sentences: what was found; then `CAVEAT`; why, and what to do; the last one is `REVERSE`.
        bias: how much too high perplexity is, as a share of it, by the delta method; None where it cannot be estimated.
        draws_needed: K for a bias of 1% of perplexity; None where it cannot be estimated.
        fall: how much lower perplexity is with K draws than with K / 2, as a share; None of one draw.
        worst: the texts that make most of the error, with their shares of it, the largest first.
    """

    verdict: Verdict
    sentences: tuple[str, ...]
    bias: float | None
    draws_needed: int | None
    fall: float | None
    worst: tuple[tuple[str, float], ...]


IMPOSSIBLE = (
    "Perplexity is below 1, which cannot be for text: no text is more than certain. The weights are no"
    " log p(x, z) - log q(z | x), or there are too few draws of very certain texts."
)


def advice(weights: LogWeights) -> Advice:
    """Say whether K draws are seen to be too few for the perplexity at instance level.

    The bias of log p-hat is about `(K / ESS - 1) / (2 K)` by the delta method, which needs weights with a variance:
    k-hat below 0.5. The fall of the curve between K / 2 and K is a second estimate of it, if it falls as 1 / K. Where
    k-hat is larger than that, or both estimates differ by more than a factor of 2, the number of draws that is needed
    cannot be estimated. Single k-hats are noisy at 100 draws; what counts is their mean over texts, each weighed by its
    share of the error.

    Args:
        weights: of all texts.

    Raises:
        TextcriticError: all weights of a text are -inf.
    """
    k, tokens = weights.draws, weights.total_tokens
    likelihoods = log_likelihoods(weights)
    if likelihoods.sum() > CERTAIN:
        return Advice("unclear", (IMPOSSIBLE, CAVEAT, REVERSE), None, None, None, ())
    sizes, tails = effective_sample_sizes(weights), pareto_k(weights)
    if k == 1:
        words = "There is one draw for each text: nothing says how far another would differ. Draw at least 100."
        return Advice("unclear", (words, CAVEAT, REVERSE), None, None, None, ())
    of_texts = (k / sizes - 1) / (2 * k)
    of_texts[of_texts < ROUNDING] = 0
    by_delta, by_curve = float(of_texts.sum()) / tokens, _fall(weights) / tokens
    shares = of_texts / of_texts.sum() if of_texts.sum() > 0 else np.zeros(len(sizes))
    uneven = shares > 0
    tail = float(shares[uneven] @ np.where(np.isnan(tails[uneven]), np.inf, tails[uneven]))
    estimable = tail < FINITE_VARIANCE and _agree(by_delta, by_curve) and k >= LEAST_DRAWS
    bias = max(by_delta, by_curve) if estimable else None
    needed = None if bias is None else max(1, int(np.ceil(k * bias / np.log1p(GOAL))))
    width, none = spread_over_draws(weights)
    with np.errstate(over="ignore"):
        apart = float(np.expm1(2 * width / tokens)) / 2 if not none else np.inf if of_texts.any() else 0.0
    verdict = _verdict(tail, max(by_delta, by_curve, apart), k)
    if verdict == "no sign" and (likelihoods > CERTAIN).any():  # of one text, no probability is above 1
        verdict = "unclear"
    order = np.argsort(-shares, kind="stable")[:NAMED]
    worst = tuple((weights.ids[row], float(shares[row])) for row in order if shares[row] > 0)
    sentences = (
        _headline(verdict, k),
        CAVEAT,
        *_on_tails(tails, k),
        *_on_sizes(sizes, k),
        *_on_curve(float(np.expm1(by_curve)), k),
        *_on_spread(apart, len(sizes)),
        *_on_worst(worst, len(sizes)),
        _on_need(bias, needed, k),
        REVERSE,
    )
    fall = float(-np.expm1(-by_curve))
    return Advice(verdict, sentences, None if bias is None else float(np.expm1(bias)), needed, fall, worst)


def _fall(weights: LogWeights, seed: int = 1) -> float:
    """By how much log p-hat of all texts rises between K / 2 and K draws, in nats.

    The draws of each text are split into halves at random. What a half has too much, the other has too little, so that
    a few splits are enough. By Jensen's inequality it is not negative. Infinity where a half is all -inf.
    """
    half, rises = weights.draws // 2, np.zeros(SPLITS if weights.log_weights.size <= MANY else FEW_SPLITS)
    for sums in ordered_sums(weights, [half, 2 * half], len(rises), seed):
        if np.isneginf(sums.segments).any():
            return np.inf
        one, two = sums.segments.T
        rises[sums.repeat] += (np.logaddexp(one, two) - np.log(2) - (one + two) / 2).sum()
    return float(rises.mean())


def _agree(by_delta: float, by_curve: float) -> bool:
    """Whether two estimates of the bias agree, or both are next to nothing."""
    negligible = np.log1p(GOAL) / 10
    agree = by_curve <= AGREE * by_delta and by_delta <= AGREE * by_curve
    return bool(agree or max(by_delta, by_curve) < negligible)


def _verdict(tail: float, error: float, draws: int) -> Verdict:
    """Of the weighed mean of k-hat (0 where all weights of each text are equal) and the visible error, in nats."""
    if error > GOAL:
        return "too few"
    return "no sign" if tail == 0 or (draws >= LEAST_DRAWS and tail < FINITE_VARIANCE) else "unclear"


def _headline(verdict: Verdict, draws: int) -> str:
    return {
        "no sign": f"There is no sign of too few draws: by what was drawn, more than K = {draws:,} would change "
        "perplexity by less than 1%.",
        "too few": f"K = {draws:,} is too small: perplexity is not yet right to 1%, and it is too high.",
        "unclear": f"It is unclear whether K = {draws:,} is too small: what was drawn shows an error below 1%, "
        "but the weights do not show how far that can be relied on.",
    }[verdict]


def _on_tails(tails: Array, draws: int) -> Iterator[str]:
    finite = tails[np.isfinite(tails)]
    if draws < LEAST_DRAWS:
        yield f"k-hat needs at least {LEAST_DRAWS} draws for each text."
        return
    if len(finite) < len(tails):
        yield f"{_texts(len(tails) - len(finite), len(tails))} no k-hat: too few weights differ, or are above zero."
    if not len(finite):
        return
    if not (finite >= GOOD).any():
        have = "its weights have a tail" if len(finite) == 1 else "their weights have tails"
        yield f"k-hat is below {GOOD} for each of {_counted(len(finite), 'text')}: {have} that can be relied on."
        return
    poor = _texts(int((finite >= GOOD).sum()), len(tails))
    yield (
        f"{poor} a k-hat of {GOOD} or more: a few draws decide their estimates, and the number of draws that would "
        "mend it is impractical. A better proposal (another temperature) helps more."
    )
    if (finite >= POOR).any():
        worst = _texts(int((finite >= POOR).sum()), len(tails))
        yield f"{worst} a k-hat of {POOR:g} or more: by what was drawn, their weights may have no mean."


def _on_sizes(sizes: Array, draws: int) -> Iterator[str]:
    if len(sizes) == 1:
        yield f"The {draws:,} draws are worth {sizes[0]:,.1f} of equal weight."
        return
    yield (
        f"In the median text the {draws:,} draws are worth {np.median(sizes):,.1f} of equal weight, in the worst "
        f"{sizes.min():,.1f}."
    )


def _on_curve(fall: float, draws: int) -> Iterator[str]:
    if np.isfinite(fall):
        falls = ": the curve still falls" if fall > GOAL / 10 else ""
        yield f"With half of the draws perplexity is {_percent(fall)} higher{falls}."
    else:
        yield f"With {_counted(draws // 2, 'draw')} some text has none that the model gives a probability."


def _on_spread(apart: float, texts: int) -> Iterator[str]:
    """Of a single text the interval over draws holds too seldom to be called one of 95%."""
    if np.isfinite(apart):
        often = "or more, up or down" if texts == 1 else "up or down (95% interval)"
        yield f"Other draws would change it by {_percent(apart)} {often}."


def _on_worst(worst: tuple[tuple[str, float], ...], texts: int) -> Iterator[str]:
    named = [f"{name!r} ({_percent(share)})" for name, share in worst if share >= LEAST_NAMED]
    if named and texts > 1:
        those = "text that makes" if len(named) == 1 else "texts that make"
        yield f"The {those} most of the error: {', '.join(named)}."


def _on_need(bias: float | None, needed: int | None, draws: int) -> str:
    if bias is None or needed is None:
        return "How many draws would be right to 1% is unclear: the error need not go on to fall as it has so far."
    now = f"By what was drawn, perplexity is {_percent(float(np.expm1(bias)))} too high"
    if needed <= draws:
        return f"{now}; {_about(needed)} would have made it 1%."
    return f"{now}; for 1% {_about(needed)} are needed, {needed / draws:.1f} times as many."


def _texts(number: int, every: int) -> str:
    return f"{number:,} of {_counted(every, 'text')} {'has' if number == 1 else 'have'}"


def _about(draws: int) -> str:
    return "one draw" if draws == 1 else f"about {draws:,} draws"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _percent(share: float) -> str:
    """To two digits: `0.031%`, `4.2%`, `100%`, `1,234%`."""
    if share < 0.0001:
        return "less than 0.01%"
    places = max(0, 1 - int(np.floor(np.log10(100 * share))))
    return f"{100 * share:,.{places}f}%"
