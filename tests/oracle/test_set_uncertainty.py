"""Intervals of a difference between two sets against scipy's, and the grouped jackknife against closed forms."""

import numpy as np
import pytest
from scipy import stats

from textcritic.errors import TextcriticError
from textcritic.inference import (
    bootstrap_difference,
    document_groups,
    jackknife_variance,
    ratio_of_sums,
    t_interval,
)


def documents(seed, number):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 30, number)
    return np.column_stack([rng.gamma(2.0, lengths), lengths]).astype(float)


@pytest.mark.parametrize(("level", "seed"), [(0.95, 1), (0.8, 7)])
def test_the_interval_of_a_difference_is_scipys(level, seed):
    first, second = documents(1, 40), documents(2, 25)

    def difference(one, two, axis):
        ratios = [c[rows].sum(axis) / n[rows].sum(axis) for rows, (c, n) in ((one, first.T), (two, second.T))]
        return ratios[0] - ratios[1]

    found = bootstrap_difference(first, second, ratio_of_sums, 500, level, seed)
    expected = stats.bootstrap(
        (np.arange(40), np.arange(25)),
        difference,
        n_resamples=500,
        paired=False,
        vectorized=True,
        method="percentile",
        confidence_level=level,
        rng=np.random.default_rng(seed),
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    one, two = first.sum(axis=0), second.sum(axis=0)
    assert found.estimate == pytest.approx(one[0] / one[1] - two[0] / two[1], rel=1e-12)


def test_a_set_against_itself_differs_by_nothing_but_has_an_interval():
    found = bootstrap_difference(documents(1, 30), documents(1, 30), ratio_of_sums, 200)
    assert found.estimate == 0
    assert found.low < 0 < found.high


@pytest.mark.parametrize("wrong", [{"resamples": 0}, {"level": 1.0}])
def test_bad_input_of_a_difference(wrong):
    with pytest.raises(TextcriticError, match="give at least 1, and a level inside"):
        bootstrap_difference(documents(1, 3), documents(2, 3), ratio_of_sums, **wrong)
    with pytest.raises(TextcriticError, match="with documents"):
        bootstrap_difference(np.empty((0, 2)), documents(2, 3), ratio_of_sums)


def test_without_one_document_each_the_variance_of_a_mean_is_the_textbook_one():
    values = np.random.default_rng(3).normal(size=50)
    without = (values.sum() - values) / 49
    assert jackknife_variance(without) == pytest.approx(values.var(ddof=1) / 50, rel=1e-12)
    # Of groups of equal size: that of the mean of the groups' means.
    means = values.reshape(10, 5).mean(axis=1)
    without = (means.sum() - means) / 9
    two = jackknife_variance(np.column_stack([without, 3 * without]))
    assert two == pytest.approx([means.var(ddof=1) / 10, 9 * means.var(ddof=1) / 10], rel=1e-12)


def test_one_group_has_no_variance_and_none_is_refused():
    assert np.isnan(jackknife_variance([[1.0, 2.0]])).all()
    assert np.isnan(t_interval([1.0], [np.nan], 1)).all()
    with pytest.raises(TextcriticError, match="jackknife: no group"):
        jackknife_variance([])


def test_groups_are_of_equal_size_up_to_one():
    for documents_there, groups in ((103, 20), (5, 20), (1, 20)):
        counts = np.bincount(document_groups(documents_there, groups))
        assert (len(counts), counts.sum()) == (min(documents_there, groups), documents_there)
        assert counts.max() - counts.min() <= 1


def test_the_t_interval_is_that_of_a_mean():
    values = np.random.default_rng(4).normal(size=12)
    low, high = t_interval(values.mean(), values.var(ddof=1) / 12, 12)
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert (low, high) == pytest.approx((expected.low, expected.high), rel=1e-12)
