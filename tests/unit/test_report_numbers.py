import math

import pytest

from textcritic.report.numbers import count, difference, interval, listed, number, p_value, percent


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (2.5849, "2.58"),
        (44.303, "44.3"),
        (150.2, "150"),
        (1753.49, "1,753"),
        (0.0, "0"),
        (0.034, "0.03"),
        (-1.4, "−1.40"),
        (-0.001, "0.00"),
        (math.inf, "∞"),
        (math.nan, "—"),
        (None, "—"),
    ],
)
def test_number(value, written):
    assert number(value) == written


@pytest.mark.parametrize(
    ("value", "written"), [(0.0, "±0.00"), (0.004, "±0.00"), (0.123, "+0.12"), (-0.5, "−0.50"), (math.inf, "+∞")]
)
def test_difference_has_its_sign(value, written):
    assert difference(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.0001, "p < 0.001"), (0.004, "p = 0.004"), (0.21, "p = 0.21"), (1.0, "p = 1.00"), (None, "—")],
)
def test_p_value(value, written):
    assert p_value(value) == written


@pytest.mark.parametrize(
    ("share", "written"), [(0, "0%"), (0.00001, "< 0.01%"), (0.0026, "0.26%"), (0.042, "4.2%"), (0.87, "87%")]
)
def test_percent(share, written):
    assert percent(share) == written


def test_interval_count_and_list():
    assert interval(2.51, 2.639) == "2.51–2.64"
    assert interval(None, None) == "—"
    assert count(13980) == "13,980"
    assert [listed(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
