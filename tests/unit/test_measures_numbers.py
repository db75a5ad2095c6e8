import math

import pandas as pd
import pytest

from textcritic.measures.numbers import (
    count,
    counted,
    difference,
    interval,
    listed,
    missing,
    number,
    p_value,
    percent,
    plural,
    power_of_ten,
    setting_name,
    shortened,
    significant,
)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (2.5849, "2.58"),
        (44.303, "44.3"),
        (150.2, "150"),
        (9.994, "9.99"),
        (10.0, "10.0"),
        (99.94, "99.9"),
        (100.0, "100"),
        (0.5, "0.50"),
        (-44.303, "−44.3"),
        (-math.inf, "−∞"),
        (-1753.49, "−1,753"),
        (1753.49, "1,753"),
        (0.0, "0"),
        (0.0999, "0.100"),
        (0.034, "0.034"),
        (0.00116, "0.0012"),
        (0.0001, "0.00010"),
        (0.00009, "< 0.0001"),
        (-0.00009, "> −0.0001"),
        (-1.4, "−1.40"),
        (-0.001, "−0.0010"),
        (6.0, "6.00"),
        (math.inf, "∞"),
        (math.nan, "—"),
        (None, "—"),
    ],
)
def test_number(value, written):
    assert number(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        *[(0.0, "±0.00"), (0.004, "±0.00"), (-0.004, "±0.00"), (0.00501, "+0.01"), (-0.00501, "−0.01")],
        *[(0.123, "+0.12"), (-0.5, "−0.50"), (12.34, "+12.3"), (-1234.5, "−1,234")],
        *[(math.inf, "+∞"), (-math.inf, "−∞"), (math.nan, "—"), (None, "—")],
    ],
)
def test_difference_has_its_sign(value, written):
    assert difference(value) == written


def test_a_difference_has_the_decimals_of_what_it_is_of():
    assert [difference(v, of=0.00116) for v in (0.0004, -0.00002, 0.0)] == ["+0.0004", "±0.0000", "±0.0000"]
    assert [difference(v, of=44.3) for v in (0.004, 12.34)] == ["±0.00", "+12.3"]


def test_a_long_name_loses_its_middle():
    assert shortened("model.jsonl") == "model.jsonl"
    assert shortened("x" * 40) == "x" * 40
    long = "a model with a very long name, step 4000, of March.jsonl"
    assert shortened(long) == "a model with a very…4000, of March.jsonl"
    assert [len(shortened(long, most)) <= most for most in range(3, 60)] == [True] * 57
    assert shortened(long, 9) == "a mo…sonl"


def test_a_count_has_no_decimals_and_an_estimate_has():
    assert [counted(6.0), counted(0.0), counted(1204.0), counted(6.5)] == ["6", "0", "1,204", "6.50"]
    assert [counted(6.0, 5.8), counted(None), counted(math.nan), counted(math.inf)] == ["6.00", "—", "—", "∞"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        *[(0.0001, "p < 0.001"), (0.000999, "p < 0.001"), (0.001, "p = 0.001"), (0.0011, "p = 0.001")],
        *[(0.004, "p = 0.004"), (0.0099, "p = 0.010"), (0.01, "p = 0.01"), (0.21, "p = 0.21")],
        # Near the border are the digits that decide: what is below 0.05 is never written as 0.05 or more.
        *[(0.0449, "p = 0.04"), (0.045, "p = 0.045"), (0.049, "p = 0.049"), (0.04999, "p = 0.049")],
        *[(0.05, "p = 0.050"), (0.0523, "p = 0.052"), (0.0549, "p = 0.055"), (0.055, "p = 0.06")],
        *[(1.0, "p = 1.00"), (math.nan, "—"), (None, "—")],
    ],
)
def test_p_value(value, written):
    assert p_value(value) == written


@pytest.mark.parametrize(
    ("share", "written"),
    [
        *[(0, "0%"), (0.00001, "< 0.01%"), (0.0000999, "< 0.01%"), (0.0001, "0.01%"), (0.0026, "0.26%")],
        *[(0.01, "1.0%"), (0.042, "4.2%"), (0.1, "10%"), (0.87, "87%"), (1, "100%"), (math.nan, "—"), (None, "—")],
    ],
)
def test_percent(share, written):
    assert percent(share) == written


def test_interval_count_and_list():
    assert [interval(2.51, 2.639), interval(0.001, 0.00138)] == ["2.51–2.64", "0.0010–0.0014"]
    assert [interval(None, None), interval(math.nan, 2.0), interval(2.0, None)] == ["—"] * 3
    assert [count(13980), count(999.6), count(0), count(None), count(math.nan)] == ["13,980", "1,000", "0", "—", "—"]
    assert number(3.14159, 2) == "3.1"
    assert [plural(n, "article") for n in (0, 1, 1204)] == ["0 articles", "1 article", "1,204 articles"]
    assert [plural(n, "process", "processes") for n in (1, 2)] == ["1 process", "2 processes"]
    assert [setting_name(name) for name in ("w-title", "wo-title", "other")] == [
        "with titles",
        "without titles",
        "other",
    ]
    assert [missing(value) for value in (None, pd.NA, math.nan, 0, 0.0, "", False)] == [True] * 3 + [False] * 4
    assert [listed(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]


@pytest.mark.parametrize(("value", "written"), [(1, "10⁰"), (1e-12, "10⁻¹²"), (1000, "10³"), (9.999999e5, "10⁶")])
def test_powers_of_ten_have_superscripts(value, written):
    assert power_of_ten(value) == written


def test_rounding_errors_are_nothing():
    assert [significant(value) for value in (3.5e-18, -3.5e-18, 0.0, 2e-12)] == ["0", "0", "0", "0.0000000000020"]
