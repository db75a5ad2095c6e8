"""The difference of a statistic of two sets: every exchange, Welch's test, and statistics that depend on the size."""

from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from scipy.sparse import csr_matrix

from textcritic.errors import TextcriticError
from textcritic.inference import group_difference


def mean_difference(sums, inside, outside):
    """Of sums and numbers of documents."""
    one, two = (sums @ side for side in (inside, outside))
    return one[0] / one[1] - two[0] / two[1]


def variance_difference(sums, inside, outside):
    """Of variances about the mean of each set itself, which are too small by a share of one over the size."""
    one, two = (sums @ side for side in (inside, outside))
    return one[2] / one[1] - (one[0] / one[1]) ** 2 - two[2] / two[1] + (two[0] / two[1]) ** 2


def columns(values):
    return csr_matrix(np.column_stack([values, np.ones(len(values)), np.square(values)]))


def test_every_exchange_and_welchs_interval():
    rng = np.random.default_rng(1)
    one, two = rng.normal(3, 1, 4), rng.normal(2, 3, 6)
    found = group_difference(columns(one), columns(two), mean_difference, resamples=210)
    pool = np.concatenate([one, two])
    null = [pool[list(c)].mean() - np.delete(pool, c).mean() for c in combinations(range(10), 4)]
    gap = one.mean() - two.mean()
    assert found.by_size == pytest.approx(np.mean(null), abs=1e-12)
    assert found.by_size == pytest.approx(0, abs=1e-12)
    assert found.p == pytest.approx(np.mean(np.abs(null) >= abs(gap) * (1 - 1e-9)))
    expected = scipy.stats.ttest_ind(one, two, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_what_the_sizes_make_of_a_difference_is_taken_off():
    """The variance of 40 values and of 5, of one source: p is uniform, and the difference about 0."""
    values, differences, raw = [], [], []
    for seed in range(400):
        some = np.random.default_rng([1, seed]).uniform(size=45)
        found = group_difference(columns(some[:40]), columns(some[40:]), variance_difference, resamples=59, seed=seed)
        values.append(found.p)
        differences.append(found.difference)
        raw.append(some[:40].var() - some[40:].var())
    assert 1e-3 < scipy.stats.binom.cdf(np.sum(np.array(values) <= 0.05), 400, 0.05) < 1 - 1e-3
    assert abs(np.mean(differences)) < 4 * np.std(differences) / np.sqrt(400) < 0.6 * np.mean(raw)


def test_a_difference_is_found_and_one_group_has_no_interval():
    rng = np.random.default_rng(2)
    found = group_difference(columns(rng.normal(3, 1, 20)), columns(rng.normal(1, 1, 30)), mean_difference)
    assert found.p == 1 / 1001
    assert found.low > 0
    alone = group_difference(columns(np.array([1.0])), columns(rng.normal(1, 1, 30)), mean_difference)
    assert np.isnan([alone.low, alone.high]).all()
    assert alone.p > 0.05


def test_what_cannot_be_computed_is_said():
    some = columns(np.array([1.0, 2.0, 3.0]))
    with pytest.raises(TextcriticError, match="cannot be computed for some exchange"):
        group_difference(some, some, lambda sums, inside, outside: np.full(inside.shape[1], np.nan))
    with pytest.raises(TextcriticError, match="0 resamples"):
        group_difference(some, some, mean_difference, resamples=0)
