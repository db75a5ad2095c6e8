"""The test by swaps within pairs: against enumeration and scipy, under the null, and on bad input."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from textcritic.errors import TextcriticError
from textcritic.inference import paired_permutation_test, permutation_test, ratio_of_sums, with_ones


def pairs(n, seed, more=0.0):
    """Words of another language and words, of two translations each of n sentences that differ in how much they mix."""
    rng = np.random.default_rng(seed)
    rate = rng.beta(0.2, 4, n)
    both = []
    for share in (rate, np.minimum(rate + more, 1)):
        words = rng.integers(4, 15, n)
        both.append(np.column_stack([rng.binomial(words, share), words]).astype(float))
    return both


@pytest.mark.parametrize(("n", "resamples"), [(1, 10), (6, 64), (8, 128)])
def test_equals_enumeration_of_all_swaps(n, resamples):
    first, second = pairs(n, 3, more=0.2)
    found = paired_permutation_test(first, second, ratio_of_sums, resamples)
    differences = []
    for swapped in product([False, True], repeat=n):
        where = np.array(swapped)[:, None]
        one, two = np.where(where, second, first).sum(axis=0), np.where(where, first, second).sum(axis=0)
        differences.append(one[0] / one[1] - two[0] / two[1])
    assert found.exact
    assert found.splits == 2 ** (n - 1)
    assert found.difference == pytest.approx(differences[0], abs=1e-14)
    assert found.p == np.mean(np.abs(differences) >= abs(differences[0]) - 1e-12)
    assert paired_permutation_test(first, second, ratio_of_sums, 2 ** (n - 1) - 1 or 1).exact == (n == 1)


def test_of_means_equals_scipy():
    one, two = np.random.default_rng(5).normal(size=(2, 11))
    expected = stats.permutation_test(
        (one, two), lambda x, y: abs(np.mean(x - y)), permutation_type="samples", alternative="greater", n_resamples=1e6
    ).pvalue
    found = paired_permutation_test(with_ones(one), with_ones(two), ratio_of_sums)
    assert found.p == pytest.approx(expected, abs=1e-12)


def test_random_swaps_come_near_to_all_of_them_and_depend_on_the_seed_alone():
    first, second = pairs(14, 4, more=0.05)
    every = paired_permutation_test(first, second, ratio_of_sums, 2**13)
    some = [paired_permutation_test(first, second, ratio_of_sums, 8000, seed) for seed in (1, 1, 2)]
    assert every.exact
    assert not some[0].exact
    assert some[0] == some[1] != some[2]
    assert some[0].p == pytest.approx(every.p, abs=0.02)


def test_has_its_level_where_the_unpaired_test_has_none():
    """Both translations of a sentence mix alike: the test of independent sets never rejects, this one in 5%."""
    found = []
    for seed in range(400):
        first, second = pairs(50, seed)
        found.append(
            [test(first, second, ratio_of_sums, 199).p < 0.05 for test in (paired_permutation_test, permutation_test)]
        )
    paired, unpaired = np.mean(found, axis=0)
    assert 0.025 <= paired <= 0.075
    assert unpaired < 0.025


def test_sees_what_the_unpaired_test_does_not():
    first, second = pairs(200, 7, more=0.02)
    assert paired_permutation_test(second, first, ratio_of_sums, 999).p < 0.05
    assert permutation_test(second, first, ratio_of_sums, 999).p > 0.05


@pytest.mark.parametrize(
    ("first", "second", "resamples", "message"),
    [
        ([[1.0, 2.0]], [[1.0, 2.0], [0.0, 1.0]], 10, "1 and 2 documents cannot be paired"),
        ([[np.nan, 2.0]], [[1.0, 2.0]], 10, "infinite or missing"),
        ([[1.0, 2.0]], [[1.0, 2.0]], 0, "0 resamples"),
        (np.empty((0, 2)), np.empty((0, 2)), 10, "must be"),
    ],
)
def test_bad_input(first, second, resamples, message):
    with pytest.raises(TextcriticError, match=message):
        paired_permutation_test(first, second, ratio_of_sums, resamples)
