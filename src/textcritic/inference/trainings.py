"""What holds for a recipe and not for one model alone: the mean over trainings, with Student's interval.

Several samples can be drawn from one training. They are averaged first, so that each training counts once. The interval
of one model is over documents. Another training, from another seed, gives another model, and no document of the first
model shows how much the two differ. A bootstrap of two or three trainings covers far too little;
Student's t does not (docs/results/calibration.md has the coverage, measured on 200 real trainings).

`with_fits` does the same for a critic whose iterative fit depends on its starting point.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.inference.equivalence import HALF_WIDTH, Number, gap, p_of_interval
from textcritic.inference.jackknife import t_interval

Ends = tuple[float | None, float | None]

Run: TypeAlias = tuple[Hashable, Number]
"""Which training a draw is from, e.g. its seed, and what was measured on the draw."""
TINY = 1e-150  # the smallest p-value
BISECTIONS = 45


@dataclass(frozen=True, slots=True)
class Recipe:
    """The mean over trainings and its 95% interval; None where there is none.

    Attributes:
        mean: of perplexities the geometric mean; infinite if a value is.
        low, high: Student's interval of the values of trainings; None of a single one, and where one is infinite.
        sd: standard deviation over trainings; None likewise.
        trainings: how many.
    """

    mean: float
    low: float | None
    high: float | None
    sd: float | None
    trainings: int

    @property
    def number(self) -> Number:
        """The mean with its interval."""
        return Number(self.mean, self.low, self.high)


def over_draws(draws: Sequence[Number], by_ratio: bool = False) -> Number:
    """The mean of several draws of one training, on the log scale if `by_ratio`, with an interval over all documents.

    Draws of one training are independent, so that the squared distances to the ends of their intervals add up (as in
    `equivalence.gap`). This is about this model, as the interval of a single draw is: another training is not in it.
    There is no interval where a draw has none.
    """
    values = [draw.value for draw in draws if draw.value is not None]
    mean = over_trainings(values, by_ratio).mean
    if len(draws) == 1:
        return draws[0]
    parts = [[part for part in (draw.value, draw.low, draw.high) if part is not None] for draw in draws]
    ends = [scaled for each in parts if len(each) == 3 and (scaled := _scaled(each, by_ratio)) is not None]
    if len(ends) < len(draws):
        return Number(mean)
    value, low, high = np.array(ends).T
    down, up = (float(np.sqrt(((value - end) ** 2).sum())) / len(draws) for end in (low, high))
    back = math.exp if by_ratio else float
    return Number(mean, back(float(value.mean()) - down), back(float(value.mean()) + up))


def by_training(runs: Iterable[Run], by_ratio: bool = False) -> list[Number]:
    """One number a training, of several draws as `over_draws` has them, in order of appearance."""
    draws: dict[Hashable, list[Number]] = {}
    for training, number in runs:
        draws.setdefault(training, []).append(number)
    return [over_draws(numbers, by_ratio) for numbers in draws.values()]


def over_runs(runs: Sequence[Run], by_ratio: bool = False) -> Recipe:
    """What several trainings and draws say together.

    Of several trainings the mean with Student's interval (this recipe); of several draws of one training `over_draws`
    (this model); of a single draw its value alone.

    Args:
        runs: (training, its number) of each draw that has a value, at least one.
        by_ratio: on the log scale.
    """
    trainings = by_training(runs, by_ratio)
    recipe = over_trainings([number.value for number in trainings if number.value is not None], by_ratio)
    if len(trainings) > 1 or len(runs) == 1:
        return recipe
    return replace(recipe, low=trainings[0].low, high=trainings[0].high)


def runs_p(runs: Sequence[Run], real: Number, by_ratio: bool = False) -> float | None:
    """Two-sided test of what several trainings and draws say together against real text.

    Several trainings are tested by `trainings_p`, draws of a single one by the normal distribution, with the errors of
    the intervals of both sides; None where the draws have none.
    """
    trainings = by_training(runs, by_ratio)
    if len(trainings) > 1:
        return trainings_p([number.value for number in trainings if number.value is not None], real, by_ratio)
    apart = gap(trainings[0], real, by_ratio) if trainings[0].low is not None else None
    if apart is None:
        return None
    return p_of_interval(apart.difference, apart.low, apart.high) if apart.low < apart.high else None


def over_trainings(values: Sequence[float], by_ratio: bool = False, level: float = 0.95) -> Recipe:
    """The mean of one value a training, with Student's interval; on the log scale if `by_ratio`.

    Raises:
        TextcriticError: there is no value.
    """
    if not len(values):
        raise TextcriticError("trainings: no value; at least one training is needed")
    scaled = _scaled(values, by_ratio)
    if scaled is None:
        return Recipe(float(np.mean(values)), None, None, None, len(values))
    mean = float(scaled.mean())
    back = math.exp if by_ratio else float
    if len(values) == 1:
        return Recipe(float(values[0]), None, None, None, 1)
    low, high = t_interval(mean, scaled.var(ddof=1) / len(values), len(values), level)
    return Recipe(back(mean), back(float(low)), back(float(high)), float(np.std(values, ddof=1)), len(values))


def trainings_p(values: Sequence[float], real: Number, by_ratio: bool = False) -> float | None:
    """Two-sided t-test of the mean over trainings against real text, whose error is that of its interval.

    The critical value is Cochran's, see `_cochran`. Welch's test is wrong of two or three trainings: where their spread
    is small by chance, it takes the error of real text, which has many degrees of freedom, for the whole.

    Args:
        values: one a training.
        real: of real text; without an interval it is exact.
        by_ratio: compare logarithms.

    Returns:
        None where there are fewer than two trainings, or a value is infinite, or not positive though by ratio.
    """
    scaled = _scaled(values, by_ratio)
    if real.value is None or scaled is None or len(values) < 2:
        return None
    reference = _scaled([end for end in (real.value, real.low, real.high) if end is not None], by_ratio)
    if reference is None:
        return None
    error = (reference[2] - reference[1]) / (2 * HALF_WIDTH) if len(reference) == 3 else 0.0
    variance = float(scaled.var(ddof=1)) / len(values)
    return _cochran(float(scaled.mean() - reference[0]), (variance, error**2), (len(values) - 1, math.inf))


def recipes_p(first: Sequence[float], second: Sequence[float], by_ratio: bool = False) -> float | None:
    """Welch's two-sided t-test between the trainings of two recipes; None with fewer than two of one of them.

    Where one has two trainings and the other more, the critical value is Cochran's, as in `trainings_p`.
    """
    one, two = _scaled(first, by_ratio), _scaled(second, by_ratio)
    if one is None or two is None or min(len(one), len(two)) < 2:
        return None
    variances = float(one.var(ddof=1)) / len(one), float(two.var(ddof=1)) / len(two)
    test = _cochran if min(len(one), len(two)) == 2 < max(len(one), len(two)) else _welch
    return test(float(one.mean() - two.mean()), variances, (len(one) - 1, len(two) - 1))


def _scaled(values: Sequence[float], by_ratio: bool) -> np.ndarray | None:
    """The values, or their logarithms; None where one is infinite or has no logarithm."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all() or (by_ratio and (array <= 0).any()):
        return None
    return np.log(array) if by_ratio else array


def _welch(difference: float, variances: tuple[float, float], freedom: tuple[float, float]) -> float | None:
    """Two-sided p, with the degrees of freedom of Welch and Satterthwaite; None where nothing varies."""
    from scipy.special import stdtr  # takes long to load, and every command loads this package

    total = sum(variances)
    if not total > 0:
        return None
    degrees = total**2 / sum(variance**2 / own for variance, own in zip(variances, freedom, strict=True))
    return 2 * float(stdtr(degrees, -abs(difference) / math.sqrt(total)))


def _cochran(difference: float, variances: tuple[float, float], freedom: tuple[float, float]) -> float | None:
    """Two-sided p, the critical value being the mean of both Student's ones, weighted by the variances.

    Cochran and Cox, Experimental Designs, 1957, section 4.14. None where nothing varies.
    """
    from scipy.special import stdtr, stdtrit

    total = sum(variances)
    if not total > 0:
        return None
    t = abs(difference) / math.sqrt(total)
    low, high = sorted(max(2 * float(stdtr(own, -t)), TINY) for own in freedom)  # p lies between those of both
    for _ in range(BISECTIONS):
        p = math.sqrt(low * high)
        critical = sum(v * -float(stdtrit(own, p / 2)) for v, own in zip(variances, freedom, strict=True)) / total
        low, high = (p, high) if t < critical else (low, p)
    return high


def with_fits(value: float, ends: Ends, of_fits: Sequence[float], level: float = 0.95) -> Ends:
    """An interval over documents, widened so that it also holds what fits from other starts would have given.

    The interval is about the mean over S fits. Other S fits of the same documents have a mean that differs from it by a
    variance of 2/S times that between fits, which is estimated from few values: Student's t with S - 1 degrees of
    freedom. Fits and documents are independent, so that half-widths add up as squares; each side has its own (Zou and
    Donner 2008). With one fit nothing is known of others, and the interval is that over documents.

    Args:
        value: what the interval over documents is about: the mean over the fits, or the number under one of them.
        ends: that interval; None where there is none, and then there is no interval.
        of_fits: the number under each fit: [S].
        level: of confidence.
    """
    low, high = ends
    number = len(of_fits)
    if number < 2 or low is None or high is None:
        return low, high
    from scipy.special import stdtrit  # takes long to load, and every command loads this package

    mean = float(np.mean(of_fits))
    starts = stdtrit(number - 1, (1 + level) / 2) * np.std(of_fits, ddof=1) * np.sqrt(2 / number)
    return float(mean - np.hypot(value - low, starts)), float(mean + np.hypot(high - value, starts))
