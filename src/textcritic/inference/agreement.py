"""How far annotators agree: Krippendorff's alpha and Gwet's AC1, for nominal answers with gaps.

Both compare the share of equal pairs of answers to one item with the share that chance would give; they define chance
differently. If nearly all answers are alike, alpha is near 0 even with high agreement, and AC1 is not: with 118 of 125
items yes-yes, and none no-no, alpha is -0.025 and AC1 0.941. Neither is a verdict.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.inference.jackknife import jackknife_variance
from textcritic.inference.statistics import Array

Answer = tuple[Hashable, Hashable, Hashable]
"""(annotator, item, answer)."""
NO_OVERLAP = "no item has two answers"
ALL_ALIKE = "all answers are alike"
FEW_ITEMS = "no interval of fewer than 20 items with two answers"
LEAST_ITEMS = 20


@dataclass(frozen=True)
class Agreement:
    """A measure of agreement.

    Attributes:
        value: 1 is full agreement, 0 that of chance; None where it is undefined.
        low, high: 95% interval over items, of these annotators; None where there is none.
        items: with two answers at least.
        reason: why value or interval is missing; "".
    """

    value: float | None
    low: float | None
    high: float | None
    items: int
    reason: str = ""


def answer_counts(answers: Iterable[Answer], categories: Sequence[Hashable] | None = None) -> npt.NDArray[np.int64]:
    """How often each item has each answer: [items, categories].

    Args:
        answers: one of each annotator to an item.
        categories: all answers that were possible; None: those that occur.

    Raises:
        ValueError: an answer is not among the categories.
    """
    all_answers = list(answers)
    items = {item: n for n, item in enumerate(dict.fromkeys(item for _, item, _ in all_answers))}
    possible = list(dict.fromkeys(answer for *_, answer in all_answers) if categories is None else categories)
    counts = np.zeros((len(items), len(possible)), dtype=np.int64)
    for _, item, answer in all_answers:
        counts[items[item], possible.index(answer)] += 1
    return counts


def krippendorff_alpha(counts: npt.ArrayLike) -> Agreement:
    """Alpha for nominal answers (Krippendorff 2011): 1 - observed over expected disagreement of pairs.

    Its interval is Student's, of leaving out each item in turn.

    Args:
        counts: of `answer_counts`; items with fewer than two answers count for nothing.
    """
    paired = _paired(counts)
    if not len(paired):
        return Agreement(None, None, None, 0, NO_OVERLAP)
    if (paired.sum(axis=0) > 0).sum() < 2:
        return Agreement(None, None, None, len(paired), ALL_ALIKE)
    value = float(_alphas(paired, np.zeros((1, len(paired)), dtype=bool))[0])
    if len(paired) < LEAST_ITEMS:
        return Agreement(value, None, None, len(paired), FEW_ITEMS)
    left_out = _alphas(paired, np.eye(len(paired), dtype=bool))
    if not np.isfinite(left_out).all():  # without one item all are alike
        return Agreement(value, None, None, len(paired), "no interval, as one item alone has another answer")
    return _with_interval(value, float(np.sqrt(jackknife_variance(left_out))), len(paired))


def gwet_ac1(counts: npt.ArrayLike) -> Agreement:
    """AC1 (Gwet 2008, 2014): chance agreement is the sum of p (1 - p) over answers, by their number less one.

    Its interval is Student's with Gwet's variance over items, the annotators being given.

    Args:
        counts: of `answer_counts`, with all categories that were possible; an item with one answer counts for how
            common answers are.
    """
    every = np.asarray(counts, dtype=np.float64)
    every = every[every.sum(axis=1) > 0] if every.size else every
    paired = every[every.sum(axis=1) > 1] if every.size else every
    if not len(paired):
        return Agreement(None, None, None, 0, NO_OVERLAP)
    if every.shape[1] < 2:
        return Agreement(None, None, None, len(paired), ALL_ALIKE)
    shares = every / every.sum(axis=1, keepdims=True)
    common, kinds = shares.mean(axis=0), every.shape[1]
    by_chance = float((common * (1 - common)).sum() / (kinds - 1))
    agreed = _agreed(paired)
    value = (float(agreed.mean()) - by_chance) / (1 - by_chance)
    if len(paired) < LEAST_ITEMS:
        return Agreement(value, None, None, len(paired), FEW_ITEMS)
    return _with_interval(value, ac1_error(every), len(paired))


def ac1_error(counts: npt.ArrayLike) -> float:
    """Gwet's standard error of AC1 over items (Gwet 2014, section 5.4): [items, categories], each with an answer."""
    every = np.asarray(counts, dtype=np.float64)
    shares = every / every.sum(axis=1, keepdims=True)
    common, kinds, number = shares.mean(axis=0), every.shape[1], len(every)
    by_chance = (common * (1 - common)).sum() / (kinds - 1)
    several = every.sum(axis=1) > 1
    agreed = np.zeros(number)
    agreed[several] = _agreed(every[several])
    value = (agreed[several].mean() - by_chance) / (1 - by_chance)
    own = (agreed * number / several.sum() - by_chance * several * number / several.sum()) / (1 - by_chance)
    chance_of_item = (shares * (1 - common)).sum(axis=1) / (kinds - 1)
    moved = own - 2 * (1 - value) * (chance_of_item - by_chance) / (1 - by_chance)
    return float(np.sqrt(((moved - value) ** 2).sum() / (number * (number - 1))))


def _paired(counts: npt.ArrayLike) -> Array:
    array = np.asarray(counts, dtype=np.float64)
    return array[array.sum(axis=1) > 1] if array.size else np.zeros((0, 0))


def _agreed(paired: Array) -> Array:
    """The share of equal pairs of answers of each item."""
    number = paired.sum(axis=1)
    shares: Array = (paired * (paired - 1)).sum(axis=1) / (number * (number - 1))
    return shares


def _alphas(paired: Array, without: npt.NDArray[np.bool_]) -> Array:
    """Alpha without some items: bool [B, items] -> [B]; NaN where all answers are alike."""
    number = paired.sum(axis=1)
    disagreed = ((paired * (number[:, None] - paired)).sum(axis=1) / (number - 1)) @ ~without.T
    totals = ~without @ paired
    everything = totals.sum(axis=1)
    expected = (totals * (everything[:, None] - totals)).sum(axis=1) / (everything - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - disagreed / expected, np.nan)


def _with_interval(value: float, error: float, items: int) -> Agreement:
    from scipy.special import stdtrit  # takes long to load

    reach = float(stdtrit(items - 1, 0.975)) * error
    return Agreement(value, value - reach, min(1.0, value + reach), items)
