"""The posterior of topic shares against a sum over all assignments of topics to tokens."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import digamma, gammaln
from scipy.stats import chisquare, dirichlet

from textcritic.critics.lda import LDA, infer
from textcritic.critics.lda.posterior import _probabilities, _Vectors, dirichlet_nll
from textcritic.plan.entries import Lda

PHI = np.array([[0.5, 0.3, 0.15, 0.05], [0.1, 0.1, 0.2, 0.6], [0.05, 0.45, 0.45, 0.05]])
CRITIC = LDA(PHI, np.array([0.3, 0.1, 0.7]))
PAIR = LDA(PHI[:2] / PHI[:2].sum(axis=1, keepdims=True), np.array([0.05, 2.0]))
DOCUMENTS = [[0], [0, 1, 3], [3, 3, 1, 2, 0, 0, 1], [2, 2, 2, 2, 0], [1, 2]]


def counts_of(documents, words=4):
    return csr_matrix(np.stack([np.bincount(document, minlength=words) for document in documents]))


def enumerated(critic, document):
    """P(n | x) by counts n: the sum over all K^N assignments."""
    alpha, topics = critic.alpha, critic.num_topics
    weights: dict[tuple[int, ...], float] = {}
    for assignment in product(range(topics), repeat=len(document)):
        counts = np.bincount(assignment, minlength=topics)
        prior = gammaln(alpha.sum()) - gammaln(alpha.sum() + len(document))
        prior += (gammaln(alpha + counts) - gammaln(alpha)).sum()
        words = np.log(critic.phi[list(assignment), document]).sum()
        weights[tuple(counts)] = weights.get(tuple(counts), 0.0) + np.exp(prior + words)
    evidence = sum(weights.values())
    return {counts: weight / evidence for counts, weight in weights.items()}


def expected(critic, document):
    """Counts, theta, Latent NLL of theta: each in expectation."""
    posterior = enumerated(critic, document)
    counts = sum(np.array(n) * p for n, p in posterior.items())
    nll = sum(p * expected_nll(critic.alpha, np.array(n)) for n, p in posterior.items())
    return counts, (critic.alpha + counts) / (critic.alpha.sum() + len(document)), nll


def expected_nll(alpha, counts):
    logs = digamma(alpha + counts) - digamma(alpha.sum() + counts.sum())
    return gammaln(alpha).sum() - gammaln(alpha.sum()) - ((alpha - 1) * logs).sum()


@pytest.mark.parametrize("critic", [CRITIC, PAIR], ids=["three", "two"])
def test_the_exact_posterior_is_the_sum_over_all_assignments(critic):
    found = infer(critic, counts_of(DOCUMENTS), Lda(kind="lda", draws=1, posterior="exact"))
    for place, document in enumerate(DOCUMENTS):
        counts, mean, nll = expected(critic, document)
        np.testing.assert_allclose(found.counts[place], counts, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found.mean[place], mean, rtol=1e-12)
        np.testing.assert_allclose(found.nll[place], nll, rtol=1e-10)
        vectors = _Vectors.of(critic.alpha, len(document))
        probabilities = _probabilities(vectors, critic.phi[:, document].T)
        by_counts = {tuple(map(int, n)): p for n, p in zip(vectors.counts, probabilities, strict=True)}
        assert by_counts == pytest.approx(enumerated(critic, document), rel=1e-11)


def test_a_long_document_neither_overflows_nor_underflows():
    rng = np.random.default_rng(5)
    phi = np.stack(
        [np.r_[np.full(50, 1e-7), np.full(50, 0.02)], np.full(100, 0.01), np.r_[np.full(50, 0.02), np.full(50, 1e-9)]]
    )
    critic = LDA(phi / phi.sum(axis=1, keepdims=True), np.array([0.5, 0.02, 0.5]))
    document = np.r_[rng.integers(50, 100, 150), rng.integers(0, 50, 50)]
    counts = counts_of([document], words=100)
    exact = infer(critic, counts, Lda(kind="lda", draws=300, posterior="exact"))
    gibbs = infer(critic, counts, Lda(kind="lda", draws=300, sweeps=100))
    assert exact.counts.sum() == pytest.approx(200, rel=1e-12)
    assert exact.counts[0, 1] > 0.5
    for found in (gibbs.mean, exact.draws.mean(axis=1)):
        assert (np.abs(found - exact.mean) < 5 * exact.draws[0].std(axis=0) / np.sqrt(300)).all()


@pytest.mark.parametrize("method", ["gibbs", "exact"])
def test_means_of_draws_agree_to_monte_carlo_error(method):
    draws = 20_000
    options = Lda(kind="lda", draws=draws, sweeps=30, posterior=method, seed=3)
    found = infer(CRITIC, counts_of(DOCUMENTS), options)
    for place, document in enumerate(DOCUMENTS):
        counts, mean, nll = expected(CRITIC, document)
        posterior = enumerated(CRITIC, document)
        spread = sum(p * (np.array(n) - counts) ** 2 for n, p in posterior.items())
        assert (np.abs(found.counts[place] - counts) < 4.5 * np.sqrt(spread / draws) + 1e-9).all()
        error = found.draws[place].std(axis=0) / np.sqrt(draws)
        assert (np.abs(found.draws[place].mean(axis=0) - mean) < 4.5 * error).all()
        logs = -dirichlet(CRITIC.alpha).logpdf(np.maximum(found.draws[place], 1e-300).T)
        assert abs(logs.mean() - nll) < 4.5 * logs.std() / np.sqrt(draws)
        values = [expected_nll(CRITIC.alpha, np.array(n)) for n in posterior]
        deviation = np.sqrt(sum(p * (v - nll) ** 2 for p, v in zip(posterior.values(), values, strict=True)) / draws)
        assert abs(found.nll[place] - nll) < 4.5 * deviation + 1e-9


@pytest.mark.parametrize("method", ["gibbs", "exact"])
def test_counts_drawn_have_their_probabilities(method):
    """Chi-square of the draws of counts: of theta, given one draw a chain, the counts are what decides."""
    from textcritic.critics.lda.posterior import _of_chunk

    document = DOCUMENTS[2]
    posterior = enumerated(CRITIC, document)
    options = Lda(kind="lda", draws=20_000, sweeps=30, posterior=method)
    work = [CRITIC.phi[:, document].T], [np.random.default_rng(7)], options, int
    drawn, _, _ = _of_chunk(CRITIC.alpha, *work)
    common = [counts for counts, p in posterior.items() if p > 5e-4]
    observed = [int((drawn[0] == counts).all(axis=1).sum()) for counts in common]
    probabilities = [posterior[counts] for counts in common]
    assert len(common) > 10
    rest = (20_000 - sum(observed), 1 - sum(probabilities))
    test = chisquare([*observed, rest[0]], 20_000 * np.array([*probabilities, rest[1]]))
    assert 1e-3 < test.pvalue < 1 - 1e-9


def test_theta_given_its_counts_is_a_dirichlet():
    """One topic is certain, so that the posterior of theta is one Dirichlet: its moments."""
    phi = np.array([[1 - 2e-12, 1e-12, 1e-12], [1e-12, 1 - 2e-12, 1e-12]])
    critic = LDA(phi, np.array([0.4, 0.2]))
    found = infer(critic, csr_matrix([[2, 1, 0]]), Lda(kind="lda", draws=20_000, sweeps=2))
    reference = dirichlet([2.4, 1.2])
    np.testing.assert_allclose(found.mean[0], reference.mean(), rtol=1e-9)
    np.testing.assert_allclose(found.draws[0].var(axis=0), reference.var(), rtol=0.05)


def test_dirichlet_nll_by_integration():
    """Two topics: theta_1 ~ Beta, on a grid."""
    alpha, counts = np.array([0.7, 1.6]), np.array([2.0, 1.0])
    nodes, weights = np.polynomial.legendre.leggauss(400)
    theta = (nodes + 1) / 2
    posterior, prior = dirichlet(alpha + counts), dirichlet(alpha)
    points = np.stack([theta, 1 - theta])
    integral = -(weights / 2 * posterior.pdf(points) * prior.logpdf(points)).sum()
    assert dirichlet_nll(alpha, counts, 3) == pytest.approx(integral, rel=1e-6)


@pytest.mark.parametrize("method", ["gibbs", "exact"])
def test_a_document_is_drawn_alike_in_any_company(method):
    options = Lda(kind="lda", draws=4, sweeps=5, posterior=method)
    together = infer(CRITIC, counts_of(DOCUMENTS), options)
    for place, document in enumerate(DOCUMENTS):
        alone = infer(CRITIC, counts_of([document]), options, first=place)
        np.testing.assert_array_equal(alone.draws[0], together.draws[place])
        np.testing.assert_array_equal(alone.counts[0], together.counts[place])
