"""The grouped jackknife and Student's interval against closed forms."""

import numpy as np
import pytest
from scipy import stats

from textcritic.errors import TextcriticError
from textcritic.inference import (
    document_groups,
    jackknife_variance,
    t_interval,
)


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
