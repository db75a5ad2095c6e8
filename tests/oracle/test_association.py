"""Correlations of few systems against scipy, enumeration, and the numbers that the paper's Table 4 gives."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from textcritic.errors import TextcriticError
from textcritic.inference.association import KINDS, correlation, pairs_ordered_alike

PEOPLE = [0.50, 0.66, 0.71, 0.88]
PPL, MAUVE, LATENT = [11.09, 10.96, 11.50, 11.38], [0.75, 0.85, 0.91, 0.90], [7.92, 4.17, 3.76, 2.68]
SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


@pytest.mark.parametrize(
    ("metric", "data", "pearson", "spearman", "kendall", "p_pearson", "p_kendall"),
    [
        (PPL, None, 0.584088, 0.6, 0.333333, 0.46, 0.75),
        (MAUVE, None, 0.864921, 0.8, 0.666667, 0.17, 0.33),
        (MAUVE, 0.96, 0.902100, 0.7, 0.6, 0.033, 0.23),
        (LATENT, None, -0.933422, -1.0, -1.0, 0.083, 0.083),
        (LATENT, 2.58, -0.942574, -0.9, -0.8, 0.017, 0.083),
    ],
)
def test_table_4_to_its_digits(metric, data, pearson, spearman, kendall, p_pearson, p_kendall):
    beside = [] if data is None else [data]
    people = PEOPLE + [0.87] * len(beside)
    found = {kind: correlation(metric + beside, people, kind) for kind in KINDS}
    values = [found[kind].value for kind in KINDS]
    assert values == pytest.approx([pearson, spearman, kendall], abs=5e-7)
    assert found["pearson"].p == pytest.approx(p_pearson, abs=0.005)
    assert found["kendall"].p == pytest.approx(p_kendall, abs=0.005)


@pytest.mark.parametrize(
    ("metric", "people", "low", "high"),
    [
        (MAUVE, PEOPLE, -0.570, 0.997),
        ([*MAUVE, 0.96], [*PEOPLE, 0.87], 0.097, 0.994),
        (LATENT, PEOPLE, -0.999, 0.269),
        ([*LATENT, 2.58], [*PEOPLE, 0.87], -0.996, -0.358),
    ],
)
def test_intervals_of_table_4(metric, people, low, high):
    found = correlation(metric, people, "pearson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-4)


def test_four_systems_reach_no_5_percent_by_ranks():
    perfect = correlation([1, 2, 3, 4], [1, 2, 3, 4], "kendall")
    assert perfect.p == perfect.smallest_p == pytest.approx(2 / 24)


def test_pairs():
    assert pairs_ordered_alike(-np.array(PPL), PEOPLE) == (2, 6)
    assert pairs_ordered_alike([*MAUVE, 0.96], [*PEOPLE, 0.87]) == (8, 10)
    assert pairs_ordered_alike(-np.array([*LATENT, 2.58]), [*PEOPLE, 0.87]) == (9, 10)
    assert pairs_ordered_alike([1, 1, 2], [1, 2, 2]) == (1, 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("points", [5, 6])
def test_values_are_those_of_scipy_and_p_of_all_orders(kind, points):
    rng = np.random.default_rng(points)
    one, two = np.round(rng.normal(size=(2, points)), 1)
    two[1] = two[0]  # a tie
    found = correlation(one, two, kind)
    assert found.value == pytest.approx(SCIPY[kind](one, two).statistic)
    every = [abs(SCIPY[kind](one, np.array(order)).statistic) for order in permutations(two)]
    assert found.p == pytest.approx(np.mean(np.array(every) >= abs(found.value) - 1e-9))


def test_more_points_have_their_orders_drawn():
    rng = np.random.default_rng(3)
    one = rng.normal(size=30)
    two = one + rng.normal(0, 3, 30)
    found = correlation(one, two, "pearson")
    assert found.p == pytest.approx(stats.pearsonr(one, two).pvalue, abs=0.02)


def test_one_value_everywhere_has_no_correlation():
    found = correlation([1, 1, 1], [1, 2, 3], "spearman")
    assert (found.value, found.low, found.p) == (None, None, None)


@pytest.mark.parametrize("values", [([1, 2], [1, 2]), ([1, 2, 3], [1, 2]), ([1, 2, np.nan], [1, 2, 3])])
def test_what_cannot_be_correlated_is_refused(values):
    with pytest.raises(TextcriticError, match="the same three points at least"):
        correlation(*values, "pearson")
