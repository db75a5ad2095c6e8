"""Permutation tests against scipy, by enumeration, and their level under the null."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from textcritic.errors import TextcriticError
from textcritic.inference import permutation, permutation_p_values, permutation_test, ratio_of_sums, with_ones


def documents(n, seed, rate=1.0):
    rng = np.random.default_rng(seed)
    steps = rng.integers(2, 9, n)
    return np.column_stack([rng.gamma(2.0, rate, n) * steps, steps]).astype(float)


def scipy_p(first, second, resamples, seed=0):
    """scipy permutes values, so the documents' indices are given to it and looked up in the statistic."""
    pooled = np.concatenate([first, second])

    def size_of_difference(one, two, axis):
        sums = [pooled[rows.astype(int)].sum(axis=-2) for rows in (one, two)]
        return np.abs(ratio_of_sums(sums[0]) - ratio_of_sums(sums[1]))

    one, two = np.arange(len(first)) * 1.0, np.arange(len(first), len(pooled)) * 1.0
    found = stats.permutation_test(
        (one, two),
        size_of_difference,
        vectorized=True,
        n_resamples=resamples,
        alternative="greater",
        rng=np.random.default_rng(seed),
    )
    return found.pvalue


@pytest.mark.parametrize(("n", "m"), [(4, 5), (6, 6), (2, 7)])
def test_exact_ratio_of_sums_equals_scipy(n, m):
    first, second = documents(n, 1), documents(m, 2, rate=1.7)
    found = permutation_test(first, second, ratio_of_sums)
    assert found.exact
    assert found.splits == math.comb(n + m, n)
    assert found.p == pytest.approx(scipy_p(first, second, math.inf), abs=1e-12)
    expected = first[:, 0].sum() / first[:, 1].sum() - second[:, 0].sum() / second[:, 1].sum()
    assert found.difference == pytest.approx(expected, abs=1e-12)


def test_exact_mean_by_enumeration_with_ties():
    first, second = [1.0, 2.0, 2.0], [2.0, 4.0, 5.0]
    found = permutation_test(with_ones(first), with_ones(second), ratio_of_sums)
    pooled, observed, extreme = first + second, abs(5 - 11) / 3, 0
    for chosen in itertools.combinations(range(6), 3):
        one = sum(pooled[i] for i in chosen)
        extreme += abs(one - (sum(pooled) - one)) / 3 >= observed - 1e-9
    assert found.p == extreme / 20


@pytest.mark.parametrize("chunk", [4_000_000, 1000])
def test_random_splits_agree_with_scipy(monkeypatch, chunk):
    monkeypatch.setattr("textcritic.inference.bootstrap.CHUNK_DRAWS", chunk)
    for (n, m), rate in (((40, 55), 1.2), ((90, 30), 0.9)):
        first, second = documents(n, 3), documents(m, 4, rate=rate)
        found = permutation_test(first, second, ratio_of_sums, resamples=20_000, seed=11)
        assert not found.exact
        expected = scipy_p(first, second, 20_000, seed=5)
        # Both are Monte Carlo estimates of one p: five standard errors of their difference.
        assert 0.002 < expected < 0.998
        assert found.p == pytest.approx(expected, abs=5 * math.sqrt(2 * expected * (1 - expected) / 20_000))


def test_random_splits_agree_with_all_splits():
    first, second = documents(8, 1), documents(7, 2, rate=1.4)
    exact = permutation_test(first, second, ratio_of_sums, resamples=math.comb(15, 8))
    drawn = permutation_test(first, second, ratio_of_sums, resamples=math.comb(15, 8) - 1)
    assert (exact.exact, drawn.exact) == (True, False)
    assert drawn.p == pytest.approx(exact.p, abs=5 * math.sqrt(exact.p * (1 - exact.p) / 6434))


@pytest.mark.parametrize("apart", [True, False])
def test_documents_are_exchanged_without_replacement(monkeypatch, apart):
    """Two marked documents of 2n, both in the first set: they stay together in (n - 1) / (2n - 1) of all splits.

    With replacement each would be counted any number of times, and a split as extreme would come 0.63 of the time.
    """
    monkeypatch.setattr(permutation, "MANY_DOCUMENTS", math.inf if apart else 10)
    n = 50
    first, second = with_ones([1.0, 1.0] + [0.0] * (n - 2)), with_ones([0.0] * n)
    found = permutation_test(first, second, ratio_of_sums, resamples=4000, seed=3)
    exact = (n - 1) / (2 * n - 1)
    assert found.p == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 4000))
    assert found.difference == pytest.approx(2 / n)


@pytest.mark.parametrize("apart", [True, False])
def test_splits_depend_on_the_seed(monkeypatch, apart):
    monkeypatch.setattr(permutation, "MANY_DOCUMENTS", math.inf if apart else 10)
    first, second = (np.round(documents(60, seed)) % 5 + 1 for seed in (1, 2))
    p = [permutation_test(first, second, ratio_of_sums, resamples=999, seed=seed).p for seed in (1, 1, 2, 3, 4)]
    assert p[0] == p[1] == permutation_test(first, second, ratio_of_sums, resamples=999).p
    assert len(set(p[1:])) > 1


@pytest.mark.parametrize("resamples", [10_000, 500])
def test_the_test_is_two_sided(resamples):
    """Which set is called the first turns the sign of the difference and nothing else."""
    first, second = documents(7, 3), documents(6, 5, rate=1.5)
    one, other = (permutation_test(*sets, ratio_of_sums, resamples) for sets in ((first, second), (second, first)))
    assert one.difference == pytest.approx(-other.difference, rel=1e-12)
    assert abs(one.difference) > 0.1
    assert one.exact is other.exact is (resamples > math.comb(13, 6))
    p = one.p
    assert other.p == pytest.approx(p, abs=0 if one.exact else 5 * math.sqrt(2 * p * (1 - p) / resamples))


def test_resamples_are_ten_thousand_unless_given():
    """Where p may be small; a tenth of them says so where it is not."""
    for rate, splits in ((1.0, 1000), (2.0, 10_000)):
        found = permutation_test(documents(20, 1), documents(20, 2, rate=rate), ratio_of_sums)
        assert (found.splits, found.exact, found.p < 0.1) == (splits, False, splits == 10_000)


def test_differences_that_are_equal_up_to_rounding_are_equal():
    """0.1 + 0.2 is not 0.3 in binary, and which documents are added up first decides the last bits."""
    first, second = [0.1, 0.2, 0.3, 0.7], [0.6, 0.4, 0.1, 0.2]
    found = permutation_test(with_ones(first), with_ones(second), ratio_of_sums)
    tenths = [round(10 * x) for x in first + second]
    observed = abs(sum(tenths[:4]) - sum(tenths[4:]))
    splits = [sum(tenths[i] for i in chosen) for chosen in itertools.combinations(range(8), 4)]
    assert found.p == sum(abs(2 * one - sum(tenths)) >= observed for one in splits) / 70


def test_equal_sets_are_not_different():
    first = documents(30, 1)
    assert permutation_test(first, first, ratio_of_sums, resamples=500).p == 1.0
    assert permutation_test([[1.0, 1.0]] * 9, [[3.0, 3.0]] * 9, ratio_of_sums, resamples=50).p == 1.0


def test_p_is_never_zero_and_small_for_sets_far_apart():
    found = permutation_test(documents(60, 1), documents(60, 2, rate=9.0), ratio_of_sums, resamples=999)
    assert found.p == 1 / 1000


def test_level_under_the_null():
    # P(p <= 0.1) <= 0.1 for a valid test; 200 trials, 5 standard errors.
    hits = sum(
        permutation_test(documents(15, 2 * seed), documents(25, 2 * seed + 1), ratio_of_sums, 199, seed).p <= 0.1
        for seed in range(200)
    )
    assert hits <= 20 + 5 * math.sqrt(200 * 0.1 * 0.9)
    assert hits >= 3


def test_splitting_equal_rows_together_is_the_same_test(monkeypatch):
    rng = np.random.default_rng(0)
    kinds = documents(5, 9)
    first, second = kinds[rng.integers(0, 5, 120)], kinds[rng.integers(1, 5, 150)]
    apart = permutation_test(first, second, ratio_of_sums, resamples=20_000, seed=1)
    monkeypatch.setattr(permutation, "MANY_DOCUMENTS", 100)
    together = permutation_test(first, second, ratio_of_sums, resamples=20_000, seed=2)
    error = 5 * math.sqrt(2 * apart.p * (1 - apart.p) / 20_000)
    assert 0 < together.p < 1
    assert together.p == pytest.approx(apart.p, abs=error)


def test_many_documents_are_split_at_random():
    # The number of splits has 30,000 digits; it must not be needed.
    found = permutation_test(documents(70_000, 1), documents(40_000, 1), ratio_of_sums, resamples=3)
    assert (found.exact, found.splits) == (False, 3)
    assert found.p in (0.25, 0.5, 0.75, 1.0)


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        (np.empty((0, 2)), [[1.0, 1.0]], {}, "with documents"),
        ([[math.inf, 1.0]], [[1.0, 1.0]], {}, "infinite or missing"),
        ([[1.0, 1.0]], [[1.0, 1.0]], {"resamples": 0}, "0 resamples"),
    ],
)
def test_bad_input(first, second, options, message):
    with pytest.raises(TextcriticError, match=message):
        permutation_test(first, second, ratio_of_sums, **options)


@pytest.mark.parametrize(("n", "m"), [(5, 5), (4, 7), (7, 4)])
def test_many_tests_at_once_are_near_their_exact_p_values(n, m):
    """Within the Monte Carlo error of 20,000 splits."""
    first, second = (np.stack([documents(size, seed + size) for seed in range(6)]) for size in (n, m))
    second[3:, :, 0] *= 2.5
    found = permutation_p_values(first, second, ratio_of_sums, resamples=20_000)
    exact = np.array([permutation_test(*pair, ratio_of_sums).p for pair in zip(first, second, strict=True)])
    assert (np.abs(found - exact) < 4 * np.sqrt(exact * (1 - exact) / 20_000) + 1 / 20_000).all()
    assert exact.min() < 0.1 < exact.max()


def test_many_tests_in_chunks_are_the_same(monkeypatch):
    first, second = (np.stack([documents(9, seed + base) for seed in range(10)]) for base in (0, 50))
    whole = permutation_p_values(first, second, ratio_of_sums, resamples=99)
    monkeypatch.setattr(permutation, "CHUNK_SUMS", 600)
    assert np.array_equal(permutation_p_values(first, second, ratio_of_sums, resamples=99), whole)
    assert len(set(whole)) > 3


def test_equal_sets_have_p_of_one():
    same = np.repeat(documents(1, 1), 6, axis=0)[None]
    assert permutation_p_values(same, same, ratio_of_sums, resamples=99).tolist() == [1.0]


@pytest.mark.parametrize(
    ("one", "two", "resamples"), [((2, 3, 2), (3, 3, 2), 9), ((2, 0, 2), (2, 3, 2), 9), ((2, 3, 2), (2, 3, 2), 0)]
)
def test_many_tests_of_other_shapes_are_refused(one, two, resamples):
    with pytest.raises(TextcriticError, match="documents, columns"):
        permutation_p_values(np.ones(one), np.ones(two), ratio_of_sums, resamples)


def test_many_tests_of_values_that_are_not_finite_are_refused():
    with pytest.raises(TextcriticError, match="infinite or missing"):
        permutation_p_values(np.full((1, 2, 2), np.nan), np.ones((1, 2, 2)), ratio_of_sums)
