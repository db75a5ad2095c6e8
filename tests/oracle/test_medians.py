"""The median: its interval against the binomial distribution, its design effect and its test against brute force."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom

from textcritic.inference import above, median_interval, permutation_test, ratio_of_sums


def ends(values, units=None):
    values = np.asarray(values, dtype=float)
    return median_interval(values, np.arange(len(values)) if units is None else np.asarray(units))


@pytest.mark.parametrize("number", [*range(20, 60), 100, 101, 500, 1000, 5001])
def test_the_interval_of_single_values_holds_the_median_as_often_as_the_binomial_distribution_says(number):
    """The median is between order statistics r and n - r + 1 with probability P(r <= B <= n - r), B of Bin(n, 1/2)."""
    found = ends(np.random.default_rng(1).permutation(number))
    assert found.estimate == (number - 1) / 2
    rank = int(found.low) + 1
    assert found.high == number - rank
    covered = binom.cdf(number - rank, number, 0.5) - binom.cdf(rank - 1, number, 0.5)
    assert 0.95 < covered < 0.99


def test_each_value_four_times_in_a_unit_of_its_own_is_the_value_once():
    values = np.random.default_rng(2).standard_normal(81)
    once, often = ends(values), ends(np.repeat(values, 4), np.repeat(np.arange(81), 4))
    assert often.estimate == once.estimate
    assert (often.low, often.high) == pytest.approx((once.low, once.high), abs=0.1)


def test_values_that_do_not_depend_on_their_unit_have_nearly_the_interval_of_single_ones():
    values = np.random.default_rng(3).standard_normal(2000)
    alone, grouped = ends(values), ends(values, np.arange(2000) % 200)
    assert alone.high - alone.low <= grouped.high - grouped.low < 1.5 * (alone.high - alone.low)


@pytest.mark.parametrize("values", [[1.0] * 30, range(19)])
def test_there_is_no_interval_of_equal_or_of_few_values(values):
    found = ends(values)
    assert found.low is None
    assert found.reason in ("no interval, as all documents have the same value", "no interval of fewer than 20")


def test_there_is_no_interval_where_a_few_units_have_nearly_all_values():
    units = [*([0] * 500), *([1] * 500), *range(2, 22)]
    found = ends([*([0.0] * 500), *([1.0] * 500), *range(20)], units)
    assert found.low is None
    assert found.reason == "no interval, as a few groups have most of the values"


def test_many_ties_give_an_interval_of_the_values_that_there_are():
    found = ends([1] * 20 + [2] * 50 + [3] * 30)
    assert (found.estimate, found.low, found.high) == (2, 2, 2)


def test_the_test_of_two_medians_is_that_of_all_splits():
    """Shares above the common median, by every split of 4 + 5 documents, counted by hand."""
    first, second = np.array([3.0, 4.0, 6.0, 8.0]), np.array([1.0, 2.0, 2.5, 5.0, 7.0])
    pooled = np.concatenate([first, second])
    cut = float(np.median(pooled))
    both = [above(one, np.arange(len(one)), cut) for one in (first, second)]
    assert both[0].tolist() == [[0, 1], [0.5, 1], [1, 1], [1, 1]]
    over = np.where(pooled > cut, 1.0, np.where(pooled == cut, 0.5, 0.0))

    def apart(chosen):
        rest = [place for place in range(9) if place not in chosen]
        return abs(over[list(chosen)].mean() - over[rest].mean())

    splits = [apart(chosen) for chosen in combinations(range(9), 4)]
    expected = np.mean([one >= apart(range(4)) - 1e-12 for one in splits])
    assert permutation_test(*both, ratio_of_sums).p == pytest.approx(expected)


def test_values_of_a_unit_are_summed():
    assert above(np.array([1.0, 5.0, 3.0]), np.array([0, 0, 1]), 3.0).tolist() == [[1.0, 2.0], [0.5, 1.0]]
