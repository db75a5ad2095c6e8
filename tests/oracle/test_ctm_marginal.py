"""The bound and the posterior against integrals of the marginal likelihood, which two or three topics allow."""

import math

import numpy as np
import pytest
from ctm_bounds import bounds
from ctm_oracle import documents, draw_documents, integrate, proportions, random_critic
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from textcritic.critics.ctm import CTM, infer

LENGTHS = [0, 1, 3, 6, 12, 40]


def exact_and_found(critic, counts):
    return [integrate(critic, document) for document in documents(counts)], infer(critic, counts)


def test_the_grid_is_the_integral():
    critic = random_critic(3, 2, 4)
    variance = critic.covariance[0, 0]
    for document in documents(draw_documents(critic, LENGTHS, 3).counts):

        def joint(eta, document=document):
            words = np.exp(critic.log_topics).T @ proportions(np.array([eta]))
            prior = math.exp(-((eta - critic.mean[0]) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
            return prior * math.prod(words[word] ** count for word, count in document)

        ends = critic.mean[0] - 12 * variance**0.5, critic.mean[0] + 12 * variance**0.5
        total = quad(joint, *ends, epsabs=0, epsrel=1e-11, limit=400)[0]
        mean = quad(lambda eta, joint=joint: eta * joint(eta), *ends, epsabs=1e-14 * total, limit=400)[0] / total
        exact = integrate(critic, document)
        assert exact.log_marginal == pytest.approx(math.log(total), abs=1e-9)
        assert exact.mean[0] == pytest.approx(mean, abs=1e-8)


def test_probabilities_of_all_documents_of_a_length_sum_to_one():
    critic = random_critic(5, 3, 3)
    length = 4
    total = 0.0
    for a in range(length + 1):
        for b in range(length + 1 - a):
            document = [(0, a), (1, b), (2, length - a - b)]
            orders = math.factorial(length) / math.prod(math.factorial(count) for _, count in document)
            total += orders * math.exp(integrate(critic, document).log_marginal)
    assert total == pytest.approx(1, abs=1e-9)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.integers(0, 10**6), st.integers(2, 3), st.integers(3, 5), st.floats(0.2, 3), st.floats(0.1, 3), st.floats(-3, 3)
)
def test_the_bound_is_below_the_marginal_likelihood(seed, topics, words, sharpness, spread, shift):
    critic = random_critic(seed, topics, words, sharpness, spread)
    counts = draw_documents(critic, LENGTHS, seed).counts
    exact, found = exact_and_found(critic, counts)
    marginal = np.array([one.log_marginal for one in exact])
    assert (found.bounds <= marginal + 1e-9).all()
    elsewhere = bounds(critic, counts, found.means + shift, found.variances * math.exp(shift))
    assert (elsewhere <= found.bounds + 1e-9).all()


def rare_topics(seed, topics):
    """Topics that share no word, all but the last rare: the counts are then almost Poisson in exp(coefficient).

    Nothing is then lost by the bound but what a Gaussian is unlike the posterior, and that is little.
    """
    drawn = random_critic(seed, topics, 5, spread=0.7)
    weights = np.zeros((topics, 5))
    weights[np.arange(5) % topics, np.arange(5)] = np.random.default_rng(seed).uniform(0.1, 1.1, 5)
    log_topics = np.log(np.maximum(weights / weights.sum(1, keepdims=True), 1e-300))
    return CTM(log_topics, np.full(topics - 1, -3.5), drawn.covariance)


@pytest.mark.parametrize("topics", [2, 3])
def test_the_posterior_is_the_integrals_where_topics_are_rare(topics):
    """Tolerances are twice what is measured; without the 1/2 of nu in the normaliser the log variances are 0.7 off."""
    for seed in range(8):
        critic = rare_topics(seed, topics)
        exact, found = exact_and_found(critic, draw_documents(critic, [1000, 4000], seed).counts)
        for number, one in enumerate(exact):
            deviations = np.sqrt(one.variance)
            assert 0 < one.log_marginal - found.bounds[number] < 0.07 * (topics - 1)
            assert (np.abs(found.means[number] - one.mean) < 0.011 * deviations).all()
            assert (np.abs(np.log(found.variances[number] / one.variance)) < 0.25).all()


@pytest.mark.parametrize("topics", [2, 3])
def test_posterior_is_near_the_integrals_elsewhere(topics):
    """The tangents at phi and zeta cost up to 3 nats here and make variances too small, but hardly move the mean."""
    for seed in range(12):
        critic = random_critic(seed, topics, 5, sharpness=2.0)
        exact, found = exact_and_found(critic, draw_documents(critic, [40, 80, 160], seed).counts)
        for number, one in enumerate(exact):
            assert 0 < one.log_marginal - found.bounds[number] < 3
            assert (np.abs(found.means[number] - one.mean) < 0.5 * np.sqrt(one.variance)).all()
            assert (found.variances[number] < one.variance).all()
