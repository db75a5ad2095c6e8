"""The bound, its gradients and its maximum against Blei and Lafferty's bound written in loops, and a slow search."""

import math

import numpy as np
import pytest
from ctm_bounds import bounds, bounds_and_gradients
from ctm_oracle import (
    best_phi,
    best_zeta,
    documents,
    draw_documents,
    random_critic,
    slow_bound,
    slow_climb,
    slow_infer,
    tight_bound,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, vstack

from textcritic.critics.ctm import CTM, infer
from textcritic.latents.bags import read_ldac

LENGTHS = [0, 1, 2, 7, 40, 300]
CASES = pytest.mark.parametrize(
    ("seed", "topics", "words"), [(0, 2, 3), (1, 2, 12), (2, 3, 5), (3, 4, 20), (4, 7, 30), (5, 12, 10)]
)


def random_case(seed, topics, words, sharpness=1.0, spread=1.0):
    """A critic, documents drawn from it (an empty one too), and any means and variances."""
    critic = random_critic(seed, topics, words, sharpness, spread)
    counts = draw_documents(critic, LENGTHS, seed).counts
    rng = np.random.default_rng(seed)
    means = 2 * rng.standard_normal((len(LENGTHS), topics - 1))
    return critic, counts, means, np.exp(1.5 * rng.standard_normal(means.shape))


@CASES
def test_document_bounds_are_the_papers_at_the_best_phi_and_zeta(seed, topics, words):
    critic, counts, means, variances = random_case(seed, topics, words)
    slow = [tight_bound(critic, *one) for one in zip(documents(counts), means, variances, strict=True)]
    np.testing.assert_allclose(bounds(critic, counts, means, variances), slow, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(bounds_and_gradients(critic, counts, means, variances)[0], slow, rtol=1e-11, atol=1e-11)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(2, 5), st.floats(0.01, 3))
def test_no_other_phi_or_zeta_gives_a_higher_bound(seed, topics, step):
    critic, counts, means, variances = random_case(seed, topics, 8)
    rng = np.random.default_rng(seed)
    fast = bounds(critic, counts, means, variances)
    for document, mean, variance, bound in zip(documents(counts), means, variances, fast, strict=True):
        phi = best_phi(critic, document, mean)
        other = phi * np.exp(step * rng.standard_normal(phi.shape))
        other /= other.sum(1, keepdims=True)
        zeta = best_zeta(mean, variance)
        for phi_of, zeta_of in ((other, zeta), (phi, zeta * math.exp(step)), (other, zeta * math.exp(-step))):
            value = slow_bound(critic, document, mean, variance, phi_of, zeta_of)
            assert value < bound if document else value == pytest.approx(bound, rel=1e-11)


@CASES
def test_gradients_against_differences_of_the_papers_bound(seed, topics, words):
    critic, counts, means, variances = random_case(seed, topics, words)
    _, by_mean, by_variance = bounds_and_gradients(critic, counts, means, variances)
    for number, document in enumerate(documents(counts)):
        for found, values, name in ((by_mean, means, "mean"), (by_variance, variances, "variance")):
            slope = []
            for k in range(topics - 1):
                step = 1e-5 * (1 if name == "mean" else values[number, k])
                ends = []
                for sign in (1, -1):
                    at = {"mean": means[number].copy(), "variance": variances[number].copy()}
                    at[name][k] += sign * step
                    ends.append(tight_bound(critic, document, at["mean"], at["variance"]))
                slope.append((ends[0] - ends[1]) / (2 * step))
            np.testing.assert_allclose(found[number], slope, rtol=1e-6, atol=1e-6 * (1 + np.abs(slope).max()))


def shortfall(critic, counts, **search):
    """How far each document's bound is below the slow search's, relative; nats below it where the bound is near 0."""
    fast = infer(critic, counts).bounds
    slow = np.array([slow_infer(critic, document, **search).bound for document in documents(counts)])
    return (slow - fast) / np.maximum(1, np.abs(slow))


def assert_stationary(critic, counts, tolerance=1e-3):
    """In nats a standard deviation of the posterior, and nats by log variance: a step would gain some 1e-6 nats."""
    found = infer(critic, counts)
    _, by_mean, by_variance = bounds_and_gradients(critic, counts, found.means, found.variances)
    assert np.abs(by_mean * np.sqrt(found.variances)).max() < tolerance
    assert np.abs(by_variance * found.variances).max() < tolerance


@pytest.mark.parametrize("sharpness", [0.5, 2.0])
@pytest.mark.parametrize("spread", [0.3, 1.0])
@CASES
def test_inference_finds_what_a_slow_search_finds(seed, topics, words, sharpness, spread):
    critic, counts, *_ = random_case(seed, topics, words, sharpness, spread)
    assert shortfall(critic, counts, seed=seed).max() < 1e-6
    assert_stationary(critic, counts)
    found = infer(critic, counts)
    slow = [tight_bound(critic, *one) for one in zip(documents(counts), found.means, found.variances, strict=True)]
    np.testing.assert_allclose(found.bounds, slow, rtol=1e-11, atol=1e-11)


@CASES
def test_inference_where_a_bound_has_several_peaks(seed, topics, words):
    """As it has under a wide prior."""
    critic, counts, *_ = random_case(seed, topics, words, spread=3.0)
    assert_peaks(critic, counts)


def assert_peaks(critic, counts, **search):
    """No search from where inference ends gets higher, nor the best of several searches much higher."""
    assert_stationary(critic, counts)
    found = infer(critic, counts)
    for number, document in enumerate(documents(counts)):
        end = slow_climb(critic, document, found.means[number] + 0.01, found.variances[number] * 1.01)
        assert end.bound < found.bounds[number] + 1e-6 * max(1, abs(end.bound))
    assert shortfall(critic, counts, **search).max() < 0.1


def test_inference_on_documents_of_wikipedia(wiki_counts):
    """A critic of 20 topics, each made of some documents' words; the shortest, the longest and some other documents."""
    counts = read_ldac(wiki_counts)
    rng = np.random.default_rng(1)
    topics = np.array([counts[rng.integers(0, counts.shape[0], 40)].sum(0) for _ in range(20)], float).squeeze() + 0.01
    root = rng.standard_normal((19, 19)) / 4
    critic = CTM(np.log(topics / topics.sum(1, keepdims=True)), rng.standard_normal(19), root @ root.T + np.eye(19) / 4)
    order = np.argsort(np.asarray(counts.sum(1)).squeeze(), kind="stable")
    assert_peaks(critic, counts[[order[0], order[-1], *order[1::200]]], starts=3)


def test_a_document_does_not_depend_on_the_others():
    critic, counts, *_ = random_case(3, 4, 20)
    together = infer(critic, vstack([counts, counts, counts], format="csr"))
    alone = [infer(critic, csr_matrix(row)) for row in counts]
    for field, tolerance in (("means", 1e-4), ("variances", 1e-4), ("bounds", 1e-8)):
        repeated = np.concatenate([getattr(one, field) for one in alone] * 3)
        np.testing.assert_allclose(getattr(together, field), repeated, rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(together.words, LENGTHS * 3)
