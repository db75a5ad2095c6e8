"""How far two numbers are apart, from their intervals alone; whether they are the same, and what would be noticed.

"Not significant" does not mean "the same". The same is claimed only where the 95% interval of the difference lies
inside a stated margin: two one-sided tests of 2.5% each (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics
15, 1987). Otherwise the data do not decide, and the smallest difference that would be noticed says why.
"""

import math
from dataclasses import dataclass

ALPHA = 0.05
"""The p-value below which two sets differ."""
MARGIN = 0.1
"""The difference that counts as none, where a measure names no other: a tenth of real text's value."""
HALF_WIDTH = 1.959964
"""Of a 95% interval, in standard errors."""
DIFFERENT, SAME, UNCLEAR = "different", "same", "unclear"
# Half-widths of a 95% interval that a difference must have to be noticed at 5% in 80% of cases: (1.96 + 0.84) / 1.96.
POWER_80 = (HALF_WIDTH + 0.841621) / HALF_WIDTH


@dataclass(frozen=True, slots=True)
class Number:
    """A value and its 95% interval; None where there is none, and the value may be infinite.

    `without` is the value without each of `jackknife.GROUPS` groups of documents; its logarithm, if it is compared by
    ratio. Samples that share documents leave the same ones out at a time. () where samples share none.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    without: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """A difference of two independent numbers and its 95% interval; of logarithms, if they are compared by ratio."""

    difference: float
    low: float
    high: float
    by_ratio: bool = False

    def within(self, margin: float) -> bool:
        """Whether the whole interval lies inside a margin: 0.1 is a difference of 0.1, or a ratio of 1.1."""
        limit = math.log1p(margin) if self.by_ratio else margin
        return -limit < self.low and self.high < limit

    @property
    def noticeable(self) -> float:
        """The smallest difference that documents like these would show at 5% in 80% of cases.

        By ratio it is the share by which the larger exceeds the smaller: 0.18 for a ratio of 1.18.
        """
        least = POWER_80 * (self.high - self.low) / 2
        return math.expm1(least) if self.by_ratio else least


def gap(first: Number, second: Number, by_ratio: bool = False) -> Gap | None:
    """`first - second`, with an interval made of both intervals (MOVER).

    Zou and Donner, Statistics in Medicine 27, 2008, section 2.

    Args:
        first: of a sample.
        second: of real text. A number without an interval is exact.
        by_ratio: compare logarithms.

    Returns:
        None where a value is missing or infinite, or is to be compared by ratio and is not positive.
    """
    ends = [ends_of(number, by_ratio) for number in (first, second)]
    if ends[0] is None or ends[1] is None:
        return None
    (value, low, high), (other, other_low, other_high) = ends[0], ends[1]
    difference = value - other
    down, up = math.hypot(value - low, other_high - other), math.hypot(high - value, other - other_low)
    return Gap(difference, difference - down, difference + up, by_ratio)


def p_of_interval(difference: float, low: float, high: float) -> float:
    """Two-sided p-value of no difference, from a 95% interval: below `ALPHA` where the interval excludes 0.

    The normal distribution's, with the error that the interval has on the side of 0; 1 where there is no error.
    """
    half = difference - low if difference > 0 else high - difference
    return math.erfc(HALF_WIDTH * abs(difference) / half / math.sqrt(2)) if half > 0 else 1.0


def limit_of(margin: float, real: float, by_ratio: bool = False, absolute: bool = False) -> float:
    """A margin in the unit of a gap: as it is if `absolute` or by ratio, else that share of real text's value."""
    return margin if absolute or by_ratio else margin * abs(real)


def verdict(p: float | None, apart: Gap | None, limit: float | None) -> str:
    """`DIFFERENT` if p is below `ALPHA`; `SAME` if the gap lies within the limit; else `UNCLEAR`.

    A difference that is significant and yet within the limit is `DIFFERENT`.

    Args:
        p: of the test against real text; None: there is none.
        apart: from real text; None: it has no interval.
        limit: see `limit_of`; None: the verdict is never `SAME`.
    """
    if p is not None and p < ALPHA:
        return DIFFERENT
    return SAME if apart is not None and limit is not None and apart.within(limit) else UNCLEAR


def ends_of(number: Number, by_ratio: bool) -> tuple[float, float, float] | None:
    """Value and ends of a number, or their logarithms; None where there is no finite value, or no logarithm."""
    value = number.value
    if value is None or not math.isfinite(value):
        return None
    ends = [value if end is None else end for end in (value, number.low, number.high)]
    if not by_ratio:
        return ends[0], ends[1], ends[2]
    if min(ends) <= 0:
        return None
    return math.log(ends[0]), math.log(ends[1]), math.log(ends[2])


def strength(number: Number, real: Number, by_ratio: bool = False) -> float:
    """How far apart two numbers are, in half-widths of the 95% interval of their difference: above 1 it excludes 0.

    It has no unit, so that findings of different kinds can be ordered.

    Args:
        number: a value with its interval.
        real: another; one without an interval is exact.
        by_ratio: whether to compare logarithms; all values are positive then.

    Returns:
        0 where a value is missing, infinity where one is infinite or neither has an interval.
    """
    if number.value is None or real.value is None:
        return 0.0
    if math.isinf(number.value) or math.isinf(real.value):
        return math.inf
    upper, lower = (number, real) if number.value > real.value else (real, number)
    apart = gap(upper, lower, by_ratio)
    if apart is None:
        return math.inf if number.value != real.value else 0.0
    half = apart.difference - apart.low
    return apart.difference / half if half else math.inf if apart.difference else 0.0
