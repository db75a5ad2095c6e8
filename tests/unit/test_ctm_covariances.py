"""Distance of covariances and its uncertainty; orders of topics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textcritic.critics.ctm.scoring import cluster_order, with_last
from textcritic.errors import TextcriticError
from textcritic.inference import aggregated_covariance, centred_covariance, covariance_distance, covariance_test

K = 8


def population(seed=0):
    """A covariance [K, K] of strong correlations."""
    root = np.random.default_rng(seed).normal(size=(K, 3))
    return root @ root.T + 0.3 * np.eye(K)


def drawn(documents, seed, covariance=None, mean=0.0, heavy=False):
    rng = np.random.default_rng(seed)
    rows = rng.multivariate_normal(np.zeros(K), population() if covariance is None else covariance, documents)
    return mean + rows * (np.sqrt(rng.gamma(1.0, 1.0, (documents, 1))) if heavy else 1.0)


def test_the_distance_is_0_for_the_same_and_1_for_nothing():
    covariance = population()
    assert covariance_distance(covariance, covariance) == 0
    assert covariance_distance(np.zeros((K, K)), covariance) == 1
    assert covariance_distance(1.5 * covariance, covariance) == pytest.approx(0.5)


def test_bad_matrices():
    with pytest.raises(TextcriticError, match="of one critic"):
        covariance_distance(np.eye(3), np.eye(4))
    with pytest.raises(TextcriticError, match="all zeros"):
        covariance_distance(np.eye(3), np.zeros((3, 3)))
    for bad in (np.eye(3)[:2], np.empty((0, 0)), np.ones(3)):
        with pytest.raises(TextcriticError, match="must be square"):
            centred_covariance(bad)
    for bad in (np.eye(3)[:2], np.empty((0, 0)), np.full((2, 2), np.nan)):
        with pytest.raises(TextcriticError, match="square matrix of finite values"):
            cluster_order(bad)


@pytest.mark.parametrize(
    ("means", "variances", "message"),
    [
        (np.empty((0, 3)), None, "with documents"),
        (np.ones((1, 3)), None, "give at least two"),
        (np.array([[1.0], [np.nan]]), None, "infinite or missing"),
        (np.ones((3, 2)), np.ones((3, 1)), "each mean has a variance"),
        (np.ones((3, 2)), -np.ones((3, 2)), "each mean has a variance"),
    ],
)
def test_bad_posteriors(means, variances, message):
    with pytest.raises(TextcriticError, match=message):
        aggregated_covariance(means, variances)


def test_bad_tests():
    rows = drawn(10, 1)
    with pytest.raises(TextcriticError, match="of both or of neither"):
        covariance_test(rows, rows, (rows**2, None))
    with pytest.raises(TextcriticError, match="0 resamples"):
        covariance_test(rows, rows, resamples=0)
    with pytest.raises(TextcriticError, match="level 1"):
        covariance_test(rows, rows, level=1)
    with pytest.raises(TextcriticError, match="of one critic"):
        covariance_test(rows, rows[:, 1:])
    with pytest.raises(TextcriticError, match="all zeros"):
        covariance_test(rows, np.ones((5, K)))


def test_p_is_uniform_where_both_sets_are_drawn_alike():
    # 200 pairs: the deciles of a uniform p would be off by 0.021 (standard error) at most.
    p = np.sort(
        [
            covariance_test(
                drawn(60, 2 * n, heavy=True), drawn(90, 2 * n + 1, mean=5, heavy=True), resamples=99, seed=n
            ).p
            for n in range(200)
        ]
    )
    assert abs(p.mean() - 0.5) < 0.08
    assert 0.0 <= (p <= 0.05).mean() <= 0.1
    assert 0.1 < (p <= 0.25).mean() < 0.4


def test_correlations_that_are_shuffled_away_are_seen():
    data = drawn(300, 1)
    rng = np.random.default_rng(2)
    samples = np.column_stack([rng.permutation(column) for column in drawn(300, 3).T])
    found = covariance_test(samples, data, resamples=199)
    data_alone = centred_covariance(population())
    off_diagonal = np.linalg.norm(centred_covariance(population() - np.diag(np.diag(population()))))
    off_diagonal /= np.linalg.norm(data_alone)
    assert found.p == 1 / 200
    assert found.by_chance < 0.3 < found.distance
    assert found.low < off_diagonal < found.high


def test_the_corrected_distance_is_that_of_the_populations():
    # Samples of half the variance are 0.5 apart; few documents make them look further apart than that.
    tests = [
        covariance_test(drawn(80, 2 * n, 0.5 * np.eye(K)), drawn(80, 2 * n + 1, np.eye(K)), resamples=99, seed=n)
        for n in range(100)
    ]
    assert np.mean([t.distance**2 for t in tests]) > 0.32
    assert np.mean([t.corrected**2 for t in tests]) == pytest.approx(0.25, abs=0.02)
    assert np.mean([t.low <= 0.5 <= t.high for t in tests]) >= 0.9


def test_two_sets_of_one_kind_are_apart_by_chance_alone():
    tests = [covariance_test(drawn(100, 2 * n), drawn(100, 2 * n + 1), resamples=49, seed=n) for n in range(40)]
    chance = np.mean([t.by_chance for t in tests])
    assert np.mean([t.distance for t in tests]) == pytest.approx(chance, rel=0.15)
    assert np.mean([t.low == 0 for t in tests]) >= 0.95


def test_means_that_differ_are_no_difference_of_covariances():
    near, far = (covariance_test(drawn(50, 1), drawn(50, 2, mean=m), resamples=49) for m in (0, 100))
    assert far.distance == pytest.approx(near.distance)
    assert far.by_chance == pytest.approx(near.by_chance)
    assert far.p == near.p


def test_a_seed_gives_the_same_again():
    rows = drawn(30, 1), drawn(40, 2)
    assert covariance_test(*rows, resamples=20, seed=3) == covariance_test(*rows, resamples=20, seed=3)
    assert covariance_test(*rows, resamples=20, seed=3) != covariance_test(*rows, resamples=20, seed=4)


def test_a_handful_of_documents():
    # Two documents, of which a resample may hold one alone, twice.
    found = covariance_test(drawn(2, 1), drawn(2, 2), resamples=50)
    assert all(np.isfinite([found.distance, found.by_chance, found.corrected]))
    assert (found.low, found.high) == (None, None)
    assert 0 < found.p <= 1


@given(st.integers(1, 30), st.integers(0, 1000))
def test_an_order_is_a_permutation(size, seed):
    covariance = np.atleast_2d(np.cov(np.random.default_rng(seed).normal(size=(size, size + 3))))
    assert sorted(cluster_order(covariance).tolist()) == list(range(size))


def test_topics_of_two_groups_lie_together():
    groups = np.array([0, 1, 0, 1, 1, 0, 1, 0])
    covariance = 3.0 * (groups[:, None] == groups)
    ordered = groups[cluster_order(covariance)]
    assert np.abs(np.diff(ordered)).sum() == 1


def posteriors(documents, seed, scale=1.0):
    """Means and variances of the coefficients of K topics; that of the last is fixed."""
    rng = np.random.default_rng(seed)
    means = scale * drawn(documents, seed)[:, : K - 1]
    return with_last(means), with_last(rng.gamma(2.0, 0.3, (documents, K - 1)))


def seen(means, variances):
    """What the report shows of a set of documents."""
    return centred_covariance(aggregated_covariance(means, variances))


@settings(deadline=None)
@given(st.permutations(range(K)))
def test_which_topic_is_the_last_makes_no_difference(order):
    (ours, our_variances), (theirs, their_variances) = posteriors(40, 1, 0.6), posteriors(60, 2)
    matrix = seen(ours, our_variances)
    assert seen(ours[:, order], our_variances[:, order]) == pytest.approx(matrix[np.ix_(order, order)], abs=1e-12)
    plain = covariance_test(ours, theirs, (our_variances, their_variances), resamples=30)
    moved = [rows[:, order] for rows in (ours, theirs, our_variances, their_variances)]
    found = covariance_test(*moved[:2], tuple(moved[2:]), resamples=30)
    for name in ("distance", "by_chance", "p", "corrected", "low", "high"):
        assert getattr(found, name) == pytest.approx(getattr(plain, name), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("reference", range(K))
def test_another_topic_with_its_coefficient_fixed_makes_no_difference(reference):
    # Of the same compositions: their coefficients less that of the reference, whose posteriors are then correlated.
    means, variances = posteriors(40, 1)
    other = means - means[:, [reference]]
    shift = np.eye(K) - np.eye(K)[reference]
    changed = shift @ aggregated_covariance(means, variances) @ shift.T
    assert not changed[reference].any()
    assert changed == pytest.approx(
        aggregated_covariance(other) + shift @ np.diag(variances.mean(axis=0)) @ shift.T, abs=1e-12
    )
    assert centred_covariance(changed) == pytest.approx(seen(means, variances), abs=1e-12)
    samples, _ = posteriors(30, 3, 0.5)
    moved = covariance_test(samples - samples[:, [reference]], other, resamples=20)
    plain = covariance_test(samples, means, resamples=20)
    for name in ("distance", "by_chance", "p", "corrected", "low", "high"):
        assert getattr(moved, name) == pytest.approx(getattr(plain, name), rel=1e-9, abs=1e-12)


def test_topics_that_have_nothing_to_do_with_each_other_hardly_covary():
    # As log-ratios to one of six such topics, each pair would have the covariance of that one, 1.
    six = centred_covariance(np.eye(6))
    assert six == pytest.approx(np.eye(6) - 1 / 6)
    assert six.sum(axis=0) == pytest.approx(np.zeros(6))
    assert centred_covariance(six) == pytest.approx(six)
