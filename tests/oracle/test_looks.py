"""Tests that stop early: the p-value is that of the first look where it is clear there, else that of all draws."""

import math

import numpy as np
import pytest

from textcritic.inference import Histogram, energy_test, ks_test, mean_test, permutation_test, ratio_of_sums, with_ones
from textcritic.inference.looks import CLEAR, first_look, in_looks, p_values

REPETITIONS = 20_000
RNG = np.random.default_rng(3)


def looked(chance, resamples, rng):
    """The p-values, and draws made, of statistics of which a draw is at least as extreme with these probabilities."""
    made = []

    def draw(number):
        made.append(number)
        return (rng.random((number, len(chance))) < chance).astype(float)

    found = in_looks(draw, lambda values: values.sum(axis=0), resamples)
    return np.array([p for _, p in found]), [len(values) for values, _ in found], sum(made)


@pytest.mark.parametrize(
    ("resamples", "first"), [(1, 1), (199, 199), (399, 399), (400, 200), (1000, 200), (10_000, 1000), (50_000, 5000)]
)
def test_the_first_look_is_a_tenth_and_at_least_200(resamples, first):
    assert first_look(resamples) == first


@pytest.mark.parametrize("resamples", [400, 1000])
def test_p_is_valid_where_nothing_differs(resamples):
    """Under the null hypothesis the chance of an extreme draw is uniform: p is at most x in at most x of tests."""
    chance = RNG.random(REPETITIONS)
    first = RNG.binomial(first_look(resamples), chance)
    rest = RNG.binomial(resamples - first_look(resamples), chance)
    at_first, in_the_end = p_values(first, first_look(resamples)), p_values(first + rest, resamples)
    p = np.where(at_first > CLEAR, at_first, in_the_end)
    for level in (0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 0.9):
        error = 4 * math.sqrt(level * (1 - level) / REPETITIONS)
        assert (p <= level).mean() <= level + error
        if level <= 0.06:  # and hardly less often: a test that is never significant would be valid too
            assert (p <= level).mean() >= 0.9 * level - error - 1 / resamples
    spared = (at_first > CLEAR).mean()
    assert spared == pytest.approx(1 - CLEAR, abs=0.01)


def test_each_statistic_goes_by_its_own_look():
    p, draws, made = looked(np.array([0.5, 0.001, 0.4]), 1000, np.random.default_rng(1))
    assert (draws, made) == ([200, 1000, 200], 1000)
    assert p[0] == pytest.approx(0.5, abs=0.15)
    assert p[1] < 0.01
    p, draws, made = looked(np.array([0.5, 0.3]), 1000, np.random.default_rng(1))
    assert (draws, made) == ([200, 200], 200)


def test_values_are_counted_once_and_in_their_order():
    rng = np.random.default_rng(2)
    stream = np.random.default_rng(2).normal(size=(1000, 1))
    [(values, p)] = in_looks(lambda n: rng.normal(size=(n, 1)), lambda v: (v > 2.0).sum(axis=0), 1000)
    np.testing.assert_array_equal(values, stream[:, 0])
    assert p == ((stream > 2.0).sum() + 1) / 1001


@pytest.mark.parametrize("apart", [0.0, 0.35])
def test_tests_draw_all_only_where_p_may_be_small(apart):
    rng = np.random.default_rng(6)
    first, second = rng.normal(size=120).round(1), rng.normal(apart, size=150).round(1)
    sets, histograms = (first[:, None], second[:, None]), [Histogram.of(one) for one in (first, second)]
    columns = [with_ones(one) for one in (first, second)]
    made = {
        "energy": (found := energy_test(*sets, resamples=1000), found.splits),
        "exchange": (found := permutation_test(*columns, ratio_of_sums, 1000), found.splits),
        "ks": (found := ks_test(*histograms), found.resamples),
        "mean": (found := mean_test(*histograms), found.resamples),
    }
    for test, splits in made.values():
        assert splits == (200 if test.p > CLEAR else 1000)
    assert (made["energy"][1], made["mean"][1]) == ((1000, 1000) if apart else (200, 200))
