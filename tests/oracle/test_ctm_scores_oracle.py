"""Scores, covariances and orders of topics against scipy, numpy and exact sums over the posterior."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.cluster.hierarchy import dendrogram, linkage

from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.scoring import cluster_order, latent_nll
from textcritic.inference import aggregated_covariance, covariance_distance, covariance_test


def critic_of(topics, seed=0, words=7):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(topics - 1, topics + 1))
    weights = rng.gamma(1.0, size=(topics, words))
    return CTM(
        np.log(weights / weights.sum(axis=1, keepdims=True)),
        rng.normal(size=topics - 1),
        root @ root.T + 0.1 * np.eye(topics - 1),
    )


def posteriors(documents, free, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 3, (documents, free)), rng.gamma(1.0, 1.0, (documents, free))


def cubature(means, variances):
    """Points of equal weight, mean +- one deviation in every dimension: exact for polynomials up to degree 3."""
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=means.shape[1])))
    return means[:, None, :] + signs[None] * np.sqrt(variances)[:, None, :]


@pytest.mark.parametrize("topics", [2, 3, 20, 100])
def test_at_the_mean_it_is_the_density_of_scipy(topics):
    critic = critic_of(topics)
    means, variances = posteriors(50, topics - 1)
    expected = -stats.multivariate_normal(critic.mean, critic.covariance).logpdf(means)
    assert latent_nll(critic, means, variances)[1] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("topics", [2, 3, 6])
def test_the_expectation_is_that_of_the_density_under_the_posterior(topics):
    critic = critic_of(topics)
    means, variances = posteriors(20, topics - 1)
    points = cubature(means, variances)
    density = stats.multivariate_normal(critic.mean, critic.covariance).logpdf(points.reshape(-1, topics - 1))
    expected = -density.reshape(points.shape[:2]).mean(axis=1)
    assert latent_nll(critic, means, variances)[0] == pytest.approx(expected, rel=1e-10)


def test_a_document_drawn_from_the_prior_scores_its_entropy():
    # If the posterior is the prior, the expectation is the entropy: here the variances are on the diagonal alone.
    critic = CTM(np.log(np.full((4, 2), 0.5)), np.array([1.0, -2.0, 0.5]), np.diag([0.5, 2.0, 7.0]))
    expectation, _ = latent_nll(critic, critic.mean[None], np.array([[0.5, 2.0, 7.0]]))
    assert expectation[0] == pytest.approx(stats.multivariate_normal(critic.mean, critic.covariance).entropy())


@pytest.mark.parametrize("free", [1, 2, 5])
def test_the_aggregated_covariance_is_that_of_the_mixture(free):
    means, variances = posteriors(30, free)
    points = cubature(means, variances).reshape(-1, free)
    expected = np.atleast_2d(np.cov(points.T, bias=True))
    assert aggregated_covariance(means, variances) == pytest.approx(expected, abs=1e-10)
    assert aggregated_covariance(means) == pytest.approx(np.atleast_2d(np.cov(means.T, bias=True)), abs=1e-10)


@pytest.mark.parametrize("topics", [2, 3, 20, 99])
def test_topics_are_ordered_as_the_leaves_of_the_dendrogram(topics):
    covariance = critic_of(topics + 1, seed=topics).covariance
    tree = linkage(covariance, method="average", metric="euclidean")
    leaves = dendrogram(tree, no_plot=True, color_threshold=-np.inf)["leaves"] if topics > 1 else [0]
    assert cluster_order(covariance).tolist() == leaves


@pytest.mark.parametrize("sizes", [(40, 25), (25, 40)])
@pytest.mark.parametrize("with_variances", [False, True])
def test_resampled_distances_equal_those_of_the_documents_themselves(sizes, with_variances):
    first, second = posteriors(sizes[0], 4, seed=3), posteriors(sizes[1], 4, seed=4)
    resamples = 60
    found = covariance_test(
        first[0],
        second[0],
        (first[1], second[1]) if with_variances else (None, None),
        resamples=resamples,
        seed=5,
    )

    centring = np.eye(4) - 1 / 4

    def distance(one, two):
        matrices = [
            centring @ (np.cov(means.T, bias=True) + with_variances * np.diag(variances.mean(axis=0))) @ centring
            for means, variances in (one, two)
        ]
        return covariance_distance(*matrices)

    # The same splits, on documents that are laid out.
    rng = np.random.default_rng(5).spawn(2)[1]
    means = np.concatenate([first[0] - first[0].mean(axis=0), second[0] - second[0].mean(axis=0)])
    variances = np.concatenate([first[1], second[1]])
    distances = []
    for _ in range(resamples):
        smaller = np.isin(np.arange(65), rng.choice(65, 25, replace=False, shuffle=False))
        sides = (smaller, ~smaller) if sizes[0] == 25 else (~smaller, smaller)
        distances.append(distance(*((means[side], variances[side]) for side in sides)))
    assert found.distance == pytest.approx(distance(first, second), rel=1e-12)
    assert found.by_chance == pytest.approx(np.mean(distances), rel=1e-12)
    assert found.p == (1 + np.sum(np.array(distances) >= found.distance)) / (1 + resamples)


@pytest.mark.parametrize("with_variances", [False, True])
def test_what_finite_sets_add_is_the_variance_of_the_matrices_entries(with_variances):
    sets = [tuple(3 * rows for rows in posteriors(40, 4, seed=3)), posteriors(25, 4, seed=4)]
    centring = np.eye(4) - 1 / 4
    matrices, noise = [], []
    for means, variances in sets:
        rows = (means - means.mean(axis=0)) @ centring
        spread = with_variances * np.stack([centring @ np.diag(row) @ centring for row in variances])
        single = np.einsum("dk,dl->dkl", rows, rows) + spread
        matrices.append(single.mean(axis=0))
        noise.append(single.var(axis=0, ddof=1).sum() / len(single))
    apart, size = np.sum((matrices[0] - matrices[1]) ** 2), np.sum(matrices[1] ** 2)
    (first, second), spreads = (s[0] for s in sets), tuple(s[1] if with_variances else None for s in sets)
    found = covariance_test(first, second, spreads, resamples=2)
    assert found.corrected == pytest.approx(np.sqrt((apart - sum(noise)) / (size - noise[1])), rel=1e-9)
