"""Does the proposal find the posterior? Two bounds of log p of texts that the model drew, and the gap between them.

From below: log p-hat of K draws from the proposal. From above: the same mean of weights with one more state, an exact
draw from the posterior p(z | x). Of such a set E[1 / p-hat] = 1 / p(x), so that log p-hat is too high in expectation
(Grosse, Ghahramani and Adams 2015, Sandwiching the marginal likelihood; Grosse, Ancha and Roy 2016, which reads the gap
of data that the model drew as a check of inference). The exact state alone would be such a set, too, but its bound does
not fall with K: the gap would be KL(p(z | x) || q) even where K draws are plenty. An exact draw is known for a text
that was drawn from the model together with its states, and in general for no other text.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from textcritic.inference.bootstrap import NO_SPREAD, Interval, bootstrap_interval
from textcritic.inference.importance.estimates import log_likelihoods, log_sum_exp, perplexity
from textcritic.inference.importance.lengths import why_none
from textcritic.inference.importance.tails import effective_sample_sizes
from textcritic.inference.importance.weights import ExactWeights, LogWeights
from textcritic.inference.jackknife import t_interval
from textcritic.inference.statistics import Array, ratio_of_sums

Sign = Literal["missed", "too few", "small", "none", "unclear"]
LEAST = 0.01
"""Nats a text: a smaller gap is none to speak of; a proposal that misses 1% of the posterior has about as much."""
ROUNDING = 1e-9  # nats
NAMED = 5  # texts
HINT = "Of real text this is a hint, not a proof: the model has not drawn it; there the proposal may do worse."


@dataclass(frozen=True, slots=True)
class Gap:
    """How far both bounds of log p are apart on texts that the model drew.

    Attributes:
        sign: "missed": K draws of the proposal miss part of the posterior, which the draws alone do not show; "too
            few": there is a gap, and the spread of the weights explains half of it or more, so more draws close it;
            "small": the gap is below `LEAST`; "none": no gap is seen; "unclear": there are too few texts.
        by_text: the gap of each text, in nats: [N]; infinity where the proposal can draw none of the exact states.
        nats: the mean over texts, with its interval over texts.
        ratio: of the perplexities by both bounds: how much too high that of the draws may be; interval over texts.
        perplexity: by the bound from above, too low in expectation; 0 where that bound is infinite.
        explained: the part of `nats` that the spread of the forward weights explains; None of K = 1.
        reached: `nats` over the texts whose exact states can all be drawn; None where there are none.
        unreached: the texts with an exact state that the proposal never draws.
        states: how many such states there are.
        sentences: what it says; the last one is `HINT`.
    """

    sign: Sign
    by_text: Array
    nats: Interval
    ratio: Interval
    perplexity: float
    explained: float | None
    reached: float | None
    unreached: tuple[str, ...]
    states: int
    sentences: tuple[str, ...]


def gap(weights: LogWeights, exact: ExactWeights, resamples: int = 10_000, level: float = 0.95, seed: int = 1) -> Gap:
    """Compare both bounds of log p of texts that were drawn from the model.

    For each text the K draws and an exact state are one set of K + 1 states, and 1 / p-hat of this set is unbiased for
    1 / p(x). With R exact states, the mean of 1 / p-hat is taken. The mean gap is the sum of two divergences. It is 0
    where all weights are p(x), and about chi-squared(p || q) / K where q covers the posterior: that part is estimated
    from the effective sample sizes. The rest of the gap is what the draws miss.

    Args:
        weights: of draws from the proposal, K of each text.
        exact: of states that the model drew with the same texts, R of each.
        resamples: of the texts.
        level: of confidence of the intervals.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: other texts or tokens; all weights of a text are -inf; as `bootstrap_interval`.
    """
    weights.check_same_texts(exact, "reverse", "the weights")
    k, below = weights.draws, log_likelihoods(weights)
    with_exact = np.logaddexp(below[:, None] + np.log(k), exact.log_weights) - np.log(k + 1)
    above = np.log(exact.draws) - log_sum_exp(-with_exact, axis=1)  # infinity where all are
    by_text = above - below
    by_text[np.abs(by_text) < ROUNDING] = 0.0
    unreached = np.isposinf(exact.log_weights)
    lost: npt.NDArray[np.bool_] = np.asarray(unreached.any(axis=1))
    by_draws = np.full(len(lost), np.nan) if k == 1 else (k / effective_sample_sizes(weights) - 1) / (k - 1)
    draws, each = Resamples(resamples, level, seed), np.ones(len(lost))
    nats = _over_texts(by_text, each, draws)
    ratio = _exponential(_over_texts(by_text, weights.tokens, draws, why_none(weights.tokens)))
    beyond = None if k == 1 else _over_texts(by_text - by_draws, each, draws)
    result = Gap(
        sign=_sign(nats, beyond, int(lost.sum())),
        by_text=by_text,
        nats=nats,
        ratio=ratio,
        perplexity=perplexity(float(above.sum()), weights.total_tokens),
        explained=None if k == 1 else max(0.0, float(by_draws.mean())),
        reached=None if lost.all() else float(by_text[~lost].mean()),
        unreached=tuple(name for name, is_lost in zip(weights.ids, lost, strict=True) if is_lost),
        states=int(unreached.sum()),
        sentences=(),
    )
    return replace(result, sentences=tuple(_sentences(result, weights)))


@dataclass(frozen=True, slots=True)
class Resamples:
    """How intervals are made."""

    number: int
    level: float
    seed: int


def _over_texts(values: Array, sizes: Array, draws: Resamples, reason: str = "") -> Interval:
    """The sum of values over that of sizes, with an interval over texts that holds 0 where few texts are above it.

    Where few resamples have a spread, `bootstrap_interval` of a positive value is on the log scale and never holds 0:
    here it is that of values below 0, moved back. The upper end is then no higher than on the log scale.
    """
    estimate = float(values.sum() / sizes.sum())  # of `sizes` their sum is enough
    none = Interval(estimate, None, None, draws.level, draws.number, reason)
    if not np.isfinite(values).all():
        return replace(none, reason="the proposal never draws the states of some texts")
    if reason:
        return none
    top = float((values / sizes).max()) + 1
    columns = np.column_stack([values - top * sizes, sizes])
    interval = bootstrap_interval(columns, ratio_of_sums, draws.number, draws.level, draws.seed)
    if interval.reason == NO_SPREAD and estimate > 0:
        return replace(none, low=estimate, high=estimate)
    if interval.low is None or interval.high is None:
        return replace(none, reason=interval.reason)
    low, high = interval.low + top, interval.high + top
    if estimate > 0:
        error = np.sqrt(((values - estimate * sizes) ** 2).sum() * len(values) / (len(values) - 1)) / sizes.sum()
        on_logs = t_interval(np.log(estimate), (error / estimate) ** 2, len(values), draws.level)
        with np.errstate(over="ignore"):
            high = min(high, float(np.exp(on_logs[1])))
    return replace(none, low=low, high=max(high, estimate))


def _exponential(found: Interval) -> Interval:
    low, high = (None if end is None else float(np.exp(end)) for end in (found.low, found.high))
    with np.errstate(over="ignore"):
        return replace(found, estimate=float(np.exp(found.estimate)), low=low, high=high)


def _sign(nats: Interval, beyond: Interval | None, lost: int) -> Sign:
    if lost:
        return "missed"
    if nats.low is None:
        return "unclear" if nats.estimate else "none"
    if not nats.low > 0:
        return "none"
    if nats.estimate < LEAST:
        return "small"
    hidden = beyond is not None and beyond.low is not None and beyond.low > 0
    most = beyond is not None and beyond.estimate >= max(LEAST, nats.estimate / 2)
    return "missed" if hidden and most else "too few"


# In words.


def _sentences(found: Gap, weights: LogWeights) -> Iterator[str]:
    yield _headline(found, weights)
    if found.unreached and found.reached is not None:
        others = len(weights.ids) - len(found.unreached)
        yield f"In the other {_texts(others)} both bounds of log p are {_nats(found.reached)} a text apart."
    elif found.explained is not None and found.sign in ("missed", "too few"):
        rest = (
            "the rest no number of these draws alone shows" if found.sign == "missed" else "more draws would close that"
        )
        yield f"The spread of the weights explains {_nats(found.explained)} of it; {rest}."
    yield HINT


def _headline(found: Gap, weights: LogWeights) -> str:
    if found.unreached:
        named = ", ".join(map(repr, found.unreached[:NAMED])) + (", ..." if len(found.unreached) > NAMED else "")
        states = "a state" if found.states == 1 else f"{found.states:,} exact states"
        return (
            f"The proposal misses part of the posterior: it can never draw {states} of "
            f"{len(found.unreached):,} of {_texts(len(weights.ids))} of the model ({named})."
        )
    ends = "" if found.nats.low is None or found.nats.high is None else f", {_ends(found.nats.low, found.nats.high)}"
    level = f"{100 * found.nats.level:g}% interval over texts"
    apart = f"both bounds of log p are {_nats(found.nats.estimate)} a text apart{ends and f' ({level}{ends})'}"
    return {
        "missed": f"{_draws(weights.draws)} of the proposal miss part of the posterior on texts of the model: {apart}.",
        "too few": f"K = {weights.draws:,} is too small on texts of the model: {apart}.",
        "small": f"The gap on texts of the model is small: {apart}.",
        "none": f"No gap is seen on texts of the model: {apart}.",
        "unclear": f"Whether there is a gap on texts of the model is unclear: {apart}; {found.nats.reason}.",
    }[found.sign]


def _ends(low: float, high: float) -> str:
    return f"{low:.2g} to {high:.2g}"


def _nats(value: float) -> str:
    return f"{value:.2g} nats" if value == 0 or abs(value) >= 0.0001 else "less than 0.0001 nats"


def _draws(number: int) -> str:
    return f"{number:,} draws" if number > 1 else "Single draws"


def _texts(number: int) -> str:
    return f"{number:,} text{'' if number == 1 else 's'}"
