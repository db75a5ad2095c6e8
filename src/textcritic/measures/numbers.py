"""How numbers are written for people: sensible digits, thousands separators, true minus signs, p < 0.001."""

import math

import pandas as pd

from textcritic.errors import listed as listed  # reports join words as error lines do

SETTING_NAMES = {"w-title": "with titles", "wo-title": "without titles"}
MINUS = "\N{MINUS SIGN}"
NONE = "\N{EM DASH}"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
ROUNDING = 1e-12
SMALLEST = 0.0001  # below it a quantity is not written out
# A copy of `inference.ALPHA`, to save that import, and the p-values around it that need a third decimal.
DECIDES, BORDER = 0.05, (0.045, 0.055)
LONGEST = 40  # characters of a name


def missing(value: object) -> bool:
    """Whether a table cell holds nothing: None, NaN or pandas' NA."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def number(value: float | None, digits: int = 3) -> str:
    """A quantity with about `digits` significant digits: `2.58`, `44.3`, `1,753`, infinity.

    Below 1 there are two decimals, below 0.1 two significant digits: `0.50`, `0.034`, `0.0012`, `< 0.0001`.
    """
    if value is None or missing(value):
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if 0 < abs(value) < SMALLEST:
        return f"< {SMALLEST:g}" if value > 0 else f"> {MINUS}{SMALLEST:g}"
    return decimals(value, _places(value, digits))


def counted(value: float | None, low: float | None = None) -> str:
    """A quantity that may be a count: one without an interval from `low` on that is whole has no decimals: `6`."""
    whole = value is not None and missing(low) and float(value).is_integer()
    return count(value) if whole else number(value)


def significant(value: float | None, digits: int = 2) -> str:
    """A quantity with so many significant digits, however small: `0.0037`, `0.14`, `57`; a rounding error is `0`."""
    if value is None or missing(value) or math.isinf(value):
        return number(value)
    if abs(value) < ROUNDING:
        return "0"
    return decimals(value, max(0, digits - 1 - math.floor(math.log10(abs(value)))))


def decimals(value: float, places: int) -> str:
    """A quantity with so many decimals: `1.200`; a zero has no sign."""
    written = f"{value:,.{places}f}"
    return written.removeprefix("-") if float(written.replace(",", "")) == 0 else written.replace("-", MINUS)


def power_of_ten(value: float) -> str:
    """A power of ten as such: `10⁻³`. In these characters figures are drawn faster than with Matplotlib's formulas."""
    return "10" + str(round(math.log10(value))).translate(SUPERSCRIPTS)


def difference(value: float | None, of: float = 1.0) -> str:
    """A signed difference, with the decimals of what it is a difference `of`: `+0.12`, `−1.40`, `±0.00`, `+0.0012`."""
    if value is None or missing(value):
        return NONE
    places = _places(of, 3) if abs(of) < 0.1 else 2
    if not math.isinf(value) and abs(value) < 0.5 * 10**-places:
        return f"±{0:.{places}f}"
    written = number(value) if abs(value) >= 1 else decimals(value, places)
    return ("+" if value > 0 else "") + written


def interval(low: float | None, high: float | None) -> str:
    """A confidence interval: `2.51–2.64`; with a negative end `−2.12 to −1.09`."""
    if missing(low) or missing(high):
        return NONE
    between = " to " if min(low or 0.0, high or 0.0) < 0 else "–"
    return f"{number(low)}{between}{number(high)}"


def p_value(value: float | None) -> str:
    """A p-value as prose writes it: `p < 0.001`, `p = 0.004`, `p = 0.21`; near 0.05 on its side of it: `p = 0.048`."""
    if value is None or missing(value):
        return NONE
    if value < 0.001:
        return "p < 0.001"
    if BORDER[0] <= value < DECIDES:  # 0.0499 decides as 0.049 does
        return f"p = {min(round(value, 3), DECIDES - 0.001):.3f}"
    return f"p = {value:.3f}" if value < 0.01 or DECIDES <= value < BORDER[1] else f"p = {value:.2f}"


def count(value: float | None) -> str:
    """A whole number with thousands separators: `13,980`."""
    if value is None or missing(value):
        return NONE
    return f"{round(value):,}"


def percent(share: float | None) -> str:
    """A share in [0, 1] as a percentage: `87%`, `4.2%`, `0.26%`, `< 0.01%`."""
    if share is None or missing(share):
        return NONE
    value = 100 * share
    if 0 < value < 0.01:
        return "< 0.01%"
    decimals = 0 if value == 0 or value >= 10 else 1 if value >= 1 else 2
    return f"{value:.{decimals}f}%"


def setting_name(setting: str) -> str:
    """A setting in words."""
    return SETTING_NAMES.get(setting, setting)


def plural(n: int, noun: str, nouns: str | None = None) -> str:
    """A count with its noun: `1 article`, `1,204 articles`."""
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"


def shortened(name: str, most: int = LONGEST) -> str:
    """A name of at most `most` characters, a long one without its middle: `samples_of_a_mod…step-4000.jsonl`."""
    if len(name) <= most:
        return name
    end = most // 2
    return f"{name[: most - 1 - end].rstrip()}…{name[-end:].lstrip()}"


def _places(value: float, digits: int) -> int:
    size = abs(value)
    if size == 0:
        return 0
    exponent = math.floor(math.log10(size))
    return 1 - exponent if size < 0.1 else max(0, min(2, digits - 1 - exponent))
