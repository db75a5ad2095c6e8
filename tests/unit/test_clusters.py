"""Documents that belong together are one unit: of intervals, and of a test that holds its level."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from textcritic.errors import TextcriticError
from textcritic.inference import (
    LEAST_UNITS,
    are_grouped,
    bootstrap_interval,
    cluster_test,
    permutation_test,
    ratio_of_sums,
    unit_of,
    unit_sums,
    with_ones,
)

GROUPS = ["b", None, "a", "b", None, "a", "b"]


def test_units_are_numbered_by_their_first_documents():
    assert unit_of(GROUPS, 7).tolist() == [0, 1, 2, 0, 3, 2, 0]
    assert unit_of(None, 3).tolist() == [0, 1, 2]
    assert unit_of([], 0).tolist() == []
    with pytest.raises(TextcriticError, match="2 for 3 documents"):
        unit_of(["a", None], 3)


def test_whether_documents_are_grouped():
    assert are_grouped(GROUPS)
    assert not any(map(are_grouped, (None, [], [None, None], ["a", None, "b"])))


def test_sums_over_units_and_their_interval_is_that_of_the_sums():
    columns = np.arange(14.0).reshape(7, 2) + 1
    sums = unit_sums(columns, GROUPS)
    assert sums.tolist() == [[1 + 7 + 13, 2 + 8 + 14], [3, 4], [5 + 11, 6 + 12], [9, 10]]
    assert unit_sums(columns) is not None
    assert (unit_sums(columns) == columns).all()
    doubled = np.repeat(columns, 2, axis=0)
    pairs = [f"{n // 2}" for n in range(14)]
    alone, together = (bootstrap_interval(part, ratio_of_sums) for part in (columns, unit_sums(doubled, pairs)))
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high))


@given(st.integers(LEAST_UNITS, 60), st.integers(LEAST_UNITS, 60), st.integers(0, 100))
def test_single_documents_have_the_test_of_welch(first, second, seed):
    rng = np.random.default_rng(seed)
    one, two = rng.normal(size=first), rng.normal(1, 3, second)
    test = cluster_test(with_ones(one), with_ones(two), ratio_of_sums, (None, None))
    welch = ttest_ind(one, two, equal_var=False)
    assert test.p == pytest.approx(welch.pvalue, rel=1e-9)
    assert (test.difference, test.units) == (pytest.approx(one.mean() - two.mean()), (first, second))


def test_copies_of_documents_say_no_more_than_the_documents():
    rng = np.random.default_rng(3)
    one, two = with_ones(rng.normal(size=30)), with_ones(rng.normal(size=40))
    copies, groups = np.repeat(one, 5, axis=0), [str(n) for n in range(30) for _ in range(5)]
    alone = cluster_test(one, two, ratio_of_sums, (None, None))
    grouped = cluster_test(copies, two, ratio_of_sums, (groups, None))
    assert (grouped.p, grouped.difference) == pytest.approx((alone.p, alone.difference))


def test_few_groups_have_no_p_value_and_the_reason():
    groups = [str(n % 19) for n in range(200)]
    columns = with_ones(np.random.default_rng(1).normal(size=200))
    test = cluster_test(columns, columns, ratio_of_sums, (groups, None))
    assert (test.p, test.units) == (None, (19, 200))
    assert test.reason == "no test of fewer than 20 independent groups"
    same = cluster_test(np.ones((40, 2)), np.ones((40, 2)), ratio_of_sums, (None, None))
    assert (same.p, same.reason) == (None, "all documents are the same")


@pytest.mark.parametrize("number", [20, 50])
def test_level_where_one_side_has_groups(number):
    """Groups of unequal size that differ from each other, beside 200 single documents of the same population."""
    rng = np.random.default_rng(number)
    below, exchanged = 0, 0
    for repetition in range(400):
        sizes = np.maximum(1, rng.lognormal(2.5, 0.8, number)).astype(int)
        group = np.repeat(np.arange(number), sizes)
        shared = np.sqrt(0.3) * rng.normal(size=number)[group]
        real = np.exp(0.5 * (shared + np.sqrt(0.7) * rng.normal(size=len(group))))
        model = np.exp(0.5 * rng.normal(size=200))
        sides = with_ones(real), with_ones(model)
        test = cluster_test(*sides, ratio_of_sums, (group.astype(str).tolist(), None))
        below += test.p < 0.05
        if repetition < 60:
            exchanged += permutation_test(*sides, ratio_of_sums, 99).p < 0.05
    assert 0.02 * 400 <= below <= 0.075 * 400
    assert exchanged > 0.2 * 60  # what a test that takes them for single documents says
