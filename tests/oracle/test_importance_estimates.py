"""Estimates from log weights: against plain sums, by enumeration of all draws on a toy, and properties."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from textcritic.inference.importance import (
    LogWeights,
    RunningEstimates,
    beam_perplexity,
    corpus_log_likelihood,
    corpus_over_pairings,
    corpus_perplexity,
    curves,
    effective_sample_sizes,
    group_perplexities,
    instance_perplexity,
    jackknife_log_likelihoods,
    log_likelihoods,
    mixture_weights,
    pareto_smoothed_log_likelihoods,
)
from textcritic.inference.importance.better import without_each
from textcritic.inference.importance.estimates import band


def weights_of(rows, tokens=None):
    rows = np.asarray(rows, dtype=np.float64)
    return LogWeights(tuple(map(str, range(len(rows)))), rows, np.ones(len(rows)) if tokens is None else tokens)


def some(texts=7, draws=40, seed=1, spread=3.0):
    rng = np.random.default_rng(seed)
    return weights_of(rng.normal(-300, spread, (texts, draws)), rng.integers(5, 40, texts))


def test_a_band_holds_the_middle_95_in_100():
    values = np.random.default_rng(1).permutation(np.arange(1, 1001)).astype(float)
    found = band(values)
    assert (found.low, found.high, found.mean, found.repeats) == (25, 975, 500.5, 1000)
    assert band(np.array([1.0, np.inf])).high == np.inf


# Against plain sums.


@pytest.mark.parametrize(("spread", "seed"), [(0.1, 1), (3, 2), (200, 3)])
def test_both_levels_are_plain_sums(spread, seed):
    weights = some(seed=seed, spread=spread)
    w, T = weights.log_weights, weights.tokens.sum()
    of_texts = logsumexp(w, axis=1) - np.log(40)
    np.testing.assert_allclose(log_likelihoods(weights), of_texts, rtol=1e-12)
    assert instance_perplexity(weights) == pytest.approx(np.exp(-of_texts.sum() / T), rel=1e-12)
    of_corpus = logsumexp(w.sum(axis=0)) - np.log(40)
    assert corpus_log_likelihood(weights) == pytest.approx(of_corpus, rel=1e-12)
    assert corpus_perplexity(weights) == pytest.approx(np.exp(-of_corpus / T), rel=1e-12)


def test_the_released_console_subtracts_the_logarithm_of_the_batch():
    weights = some()
    w, T = weights.log_weights, weights.tokens.sum()
    for batch in (1, 10):
        printed = np.exp(-(logsumexp(w, axis=1) - np.log(batch)).sum() / T)
        assert instance_perplexity(weights, as_released=batch) == pytest.approx(printed, rel=1e-12)
    assert instance_perplexity(weights, as_released=40) == pytest.approx(instance_perplexity(weights), rel=1e-14)
    assert instance_perplexity(weights, as_released=1) < instance_perplexity(weights)


def test_curves_and_groups_by_plain_loops():
    weights = some(draws=12)
    rng = np.random.default_rng(5)
    orders = [rng.permuted(weights.log_weights, axis=1) for _ in range(3)]
    found = curves(weights, [1, 5, 12], repeats=3, seed=5)
    for repeat, order in enumerate(orders):
        for point, k in enumerate((1, 5, 12)):
            part = weights_of(order[:, :k], weights.tokens)
            assert found.instance.perplexities[repeat, point] == pytest.approx(instance_perplexity(part), rel=1e-12)
            assert found.corpus.perplexities[repeat, point] == pytest.approx(corpus_perplexity(part), rel=1e-12)
    np.testing.assert_allclose(found.instance.mean, found.instance.perplexities.mean(axis=0))
    band = found.corpus.bands[-1]
    assert (band.low, band.high) == (found.corpus.perplexities[:, -1].min(), found.corpus.perplexities[:, -1].max())
    assert corpus_over_pairings(weights, 3, seed=5).mean == pytest.approx(band.mean, rel=1e-12)
    in_order = [weights_of(weights.log_weights[:, start : start + 4], weights.tokens) for start in (0, 4, 8)]
    for level, estimate in (("instance", instance_perplexity), ("corpus", corpus_perplexity)):
        np.testing.assert_allclose(group_perplexities(weights, 4, 3, level), [estimate(part) for part in in_order])
    # 15 draws are more than there are: the groups are sub-samples.
    np.testing.assert_allclose(group_perplexities(weights, 5, 3, seed=5), found.instance.perplexities[:, 1])


def test_the_points_of_a_curve_have_half_and_all_of_the_draws():
    points = curves(some(draws=1000), repeats=1).instance.draws
    assert {1, 500, 1000} <= set(points.tolist())
    assert curves(some(draws=1), repeats=2).instance.draws.tolist() == [1]


def test_the_jackknife_by_plain_loops():
    weights = some(draws=6, spread=1)
    w = weights.log_weights
    without = np.stack([logsumexp(np.delete(w, k, axis=1), axis=1) - np.log(5) for k in range(6)], axis=1)
    np.testing.assert_allclose(without_each(weights.log_weights), without, rtol=1e-12)
    corrected = 6 * log_likelihoods(weights) - 5 * without.mean(axis=1)
    np.testing.assert_allclose(jackknife_log_likelihoods(weights), corrected, rtol=1e-12)


def test_without_a_draw_that_has_nearly_all_the_weight_nothing_is_lost():
    found = without_each(np.array([[0.0, -800.0, -801.0]]))[0]
    np.testing.assert_allclose(found[0], logsumexp([-800, -801]) - np.log(2), rtol=1e-14)
    alone = weights_of([[0.0, -np.inf, -np.inf], [0.0, -1.0, -2.0]])
    assert np.isnan(jackknife_log_likelihoods(alone)).tolist() == [True, False]


# By enumeration of everything that may be drawn, on a toy with three states.

P = np.array([[0.02, 0.07, 0.01], [0.05, 0.01, 0.12]])  # p(x_n, z)
Q = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]])
OTHER = np.array([[0.1, 0.8, 0.1], [0.6, 0.1, 0.3]])


def expectation(statistic, draws, rows=(0,)):
    """Of a statistic of log weights [rows, K] over all K-tuples of draws of each row."""
    total = 0.0
    for states in product(product(range(3), repeat=draws), repeat=len(rows)):
        chosen = [(row, list(of_row)) for row, of_row in zip(rows, states, strict=True)]
        probability = np.prod([Q[row, of_row].prod() for row, of_row in chosen])
        total += probability * statistic(weights_of([np.log(P[row, z] / Q[row, z]) for row, z in chosen]))
    return total


@pytest.mark.parametrize("draws", [1, 2, 3, 4])
def test_p_hat_is_unbiased_and_its_logarithm_too_low(draws):
    assert expectation(lambda w: np.exp(log_likelihoods(w)[0]), draws) == pytest.approx(P[0].sum(), rel=1e-12)
    too_low = [expectation(lambda w: log_likelihoods(w)[0], k) for k in range(1, draws + 1)]
    assert (np.diff([*too_low, np.log(P[0].sum())]) > 0).all(), "it rises with K, and stays below log p"


def test_p_hat_of_a_corpus_is_unbiased_at_both_levels_and_for_every_pairing():
    both = P[0].sum() * P[1].sum()
    for statistic in (
        lambda w: np.exp(corpus_log_likelihood(w)),
        lambda w: np.exp(log_likelihoods(w).sum()),
        lambda w: corpus_over_pairings(w, 1, seed=3).mean ** -2.0,  # two tokens
    ):
        assert expectation(statistic, 2, (0, 1)) == pytest.approx(both, rel=1e-12)


def test_the_jackknife_takes_most_of_the_bias_off():
    truth = np.log(P[0].sum())
    plain = expectation(lambda w: log_likelihoods(w)[0], 5)
    corrected = expectation(lambda w: jackknife_log_likelihoods(w)[0], 5)
    assert abs(corrected - truth) < 0.3 * (truth - plain)


def test_mixture_weights_are_unbiased_and_bounded():
    """One draw from the first proposal and two from the second."""
    total, largest = 0.0, 0.0
    for states in product(range(3), repeat=3):
        z = list(states)
        probability = Q[0, z[0]] * OTHER[0, z[1]] * OTHER[0, z[2]]
        log_q = np.log(np.stack([Q[0, z], OTHER[0, z]], axis=1))[None]
        weights = mixture_weights(np.log(P[0, z])[None], log_q, [1, 2], 1.0, ("a",))
        total += probability * np.exp(log_likelihoods(weights)[0])
        largest = max(largest, np.exp(weights.log_weights).max())
    assert total == pytest.approx(P[0].sum(), rel=1e-12)
    assert largest <= min(3 * (P[0] / Q[0]).max(), 1.5 * (P[0] / OTHER[0]).max())


def test_at_corpus_level_a_mixture_is_unbiased_over_pairings_alone():
    """Draw 1 of both texts is from the first proposal, draw 2 from the second."""
    in_order, over_pairings = 0.0, 0.0
    for states in product(range(3), repeat=4):
        z = np.array(states).reshape(2, 2)
        rows = [[0], [1]]
        probability = Q[[0, 1], z[:, 0]].prod() * OTHER[[0, 1], z[:, 1]].prod()
        log_q = np.log(np.stack([Q[rows, z], OTHER[rows, z]], axis=2))
        weights = mixture_weights(np.log(P[rows, z]), log_q, [1, 1], 1.0, ("a", "b"))
        crossed = weights_of([weights.log_weights[0], weights.log_weights[1, ::-1]])
        pair = [np.exp(corpus_log_likelihood(one)) for one in (weights, crossed)]
        in_order += probability * pair[0]
        over_pairings += probability * np.mean(pair)
    assert over_pairings == pytest.approx(P.sum(axis=1).prod(), rel=1e-12)
    assert abs(in_order / P.sum(axis=1).prod() - 1) > 0.01


def test_a_mixture_does_not_mind_a_proposal_that_misses_a_state():
    """Alone its mean is that of the states it draws; the other proposal makes up for it."""
    misses = np.array([0.9, 0.0, 0.1])
    total = 0.0
    for states in product(range(3), repeat=2):
        z = list(states)
        with np.errstate(divide="ignore"):
            log_q = np.log(np.stack([misses[z], Q[0, z]], axis=1))[None]
        if misses[z[0]] > 0:
            weights = mixture_weights(np.log(P[0, z])[None], log_q, [1, 1], 1.0, ("a",))
            total += misses[z[0]] * Q[0, z[1]] * np.exp(log_likelihoods(weights)[0])
    assert total == pytest.approx(P[0].sum(), rel=1e-12)


def test_a_beam_is_a_bound_and_exact_with_all_states():
    exact = np.exp(-np.log(P.sum(axis=1)).sum() / 2)
    with np.errstate(divide="ignore"):
        beams = [np.log(np.where(np.arange(3) < k, -np.sort(-P, axis=1), 0)) for k in (1, 2, 3)]
    found = [beam_perplexity(beam, [1, 1]) for beam in beams]
    assert found[0] > found[1] > found[2] == pytest.approx(exact, rel=1e-12)
    assert beam_perplexity(beams[2], 2.0, [["a", "b", "c"]] * 2) == found[2]


def test_pareto_smoothing_is_steadier_where_weights_are_uneven():
    rng = np.random.default_rng(4)
    w = weights_of(2 * rng.standard_normal((2000, 200)) - 2)
    plain, smoothed = np.exp(log_likelihoods(w)), np.exp(pareto_smoothed_log_likelihoods(w))
    assert np.abs(smoothed - 1).mean() < np.abs(plain - 1).mean()


# Properties.

values = st.floats(-50, 50) | st.just(-np.inf)
matrices = st.tuples(st.integers(1, 4), st.integers(1, 6)).flatmap(
    lambda shape: st.lists(
        st.lists(values, min_size=shape[1], max_size=shape[1]).filter(lambda row: max(row) > -np.inf),
        min_size=shape[0],
        max_size=shape[0],
    )
)


@settings(max_examples=60, deadline=None)
@given(matrices, st.randoms(use_true_random=False), st.floats(-1000, 1000))
def test_order_does_not_matter_and_a_constant_shifts(rows, random, constant):
    whole = instance_perplexity(weights_of(rows))
    mixed = [random.sample(row, len(row)) for row in random.sample(rows, len(rows))]
    assert instance_perplexity(weights_of(mixed)) == pytest.approx(whole, rel=1e-9)
    together = list(zip(*rows, strict=True))
    random.shuffle(together)
    both = [corpus_log_likelihood(weights_of(one)) for one in (rows, list(zip(*together, strict=True)))]
    assert both[0] == pytest.approx(both[1], rel=1e-9, abs=1e-9)
    shifted = [[value + constant for value in rows[0]], *rows[1:]]
    moved = log_likelihoods(weights_of(shifted)) - log_likelihoods(weights_of(rows))
    np.testing.assert_allclose(moved, [constant, *[0.0] * (len(rows) - 1)], atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-500, 500), min_size=1, max_size=6))
def test_with_one_draw_both_levels_are_the_same(column):
    weights = weights_of(np.array(column)[:, None])
    assert corpus_log_likelihood(weights) == pytest.approx(log_likelihoods(weights).sum(), rel=1e-12, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(matrices, st.integers(1, 5))
def test_shards_together_are_the_whole(rows, size):
    whole = weights_of(rows)
    shards = [weights_of(whole.log_weights[:, start : start + size]) for start in range(0, whole.draws, size)]
    joined = shards[0].joined(shards[1:])
    np.testing.assert_array_equal(joined.log_weights, whole.log_weights)
    running = RunningEstimates()
    for shard in shards:
        running.add(shard)
    assert running.draws == whole.draws
    np.testing.assert_allclose(running.log_likelihoods(), log_likelihoods(whole), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(running.effective_sample_sizes(), effective_sample_sizes(whole), rtol=1e-9)
    for level in ("instance_perplexity", "corpus_perplexity"):
        of_whole = {"instance_perplexity": instance_perplexity, "corpus_perplexity": corpus_perplexity}[level](whole)
        assert getattr(running, level)() == pytest.approx(of_whole, rel=1e-9)


def test_dead_draws_count_as_draws():
    dead = weights_of([[0.0, -np.inf, -np.inf, 0.0]])
    assert instance_perplexity(dead) == pytest.approx(2.0)
    apart = weights_of([[0.0, -np.inf], [-np.inf, 0.0]])
    assert corpus_perplexity(apart) == np.inf
    found = curves(apart, [1, 2], repeats=50)
    assert np.isinf(found.instance.mean[0])
    assert found.instance.mean[1] == pytest.approx(2.0)
    assert not np.isnan([(band.low, band.high) for band in found.corpus.bands]).any()
