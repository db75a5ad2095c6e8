"""A known correlated topic model is found again from documents drawn from it."""

import numpy as np
import pytest
from ctm_oracle import aligned, draw_documents

from textcritic.critics.ctm import CTM, fit_ctm, infer
from textcritic.plan.entries import Ctm

TOPICS, WORDS, DOCUMENTS, LENGTH = 5, 300, 2000, 150
DEVIATIONS = np.array([2.0, 1.5, 1.7, 1.4])
CORRELATION = np.array([[1, 0.7, 0.2, -0.3], [0.7, 1, 0.2, -0.2], [0.2, 0.2, 1, 0.5], [-0.3, -0.2, 0.5, 1]])


def known_critic() -> CTM:
    weights = np.exp(2.5 * np.random.default_rng(1).standard_normal((TOPICS, WORDS)))
    mean = np.array([0.5, -0.5, 0.3, -0.3])
    covariance = CORRELATION * np.outer(DEVIATIONS, DEVIATIONS)
    return CTM(np.log(weights / weights.sum(1, keepdims=True)), mean, covariance)


def correlation(covariance):
    deviations = np.sqrt(np.diag(covariance))
    return covariance / np.outer(deviations, deviations)


@pytest.fixture(scope="module")
def refit():
    """What was drawn, with which critic, and what was fitted."""
    true = known_critic()
    draw = draw_documents(true, [LENGTH] * DOCUMENTS, 1)
    return true, draw, fit_ctm(draw.counts, Ctm(kind="ctm", topics=TOPICS, tolerance=1e-5, seed=2))


def test_the_fit_is_no_worse_than_the_truth(refit):
    true, draw, fit = refit
    assert fit.bounds[-1] > infer(true, draw.counts).bounds.sum()


def test_topics(refit):
    """In total variation; two documents' words are 0.8 apart."""
    true, _, fit = refit
    assert aligned(fit.critic, true)[1].max() < 0.12


def test_mean_and_covariance(refit):
    """In standard deviations of the coefficients that were drawn; tolerances are some 1.5 times the errors.

    The variational variances are too small, so that the covariance is too: by 13% of a deviation at most, by 4% in the
    mean. An M-step that forgets them altogether has 10% in the mean.
    """
    true, draw, fit = refit
    found, _ = aligned(fit.critic, true)
    drawn = np.cov(draw.coefficients.T)
    deviations = np.sqrt(np.diag(drawn))
    assert (np.abs(found.mean - draw.coefficients.mean(0)) < 0.32 * deviations).all()
    ratio = np.sqrt(np.diag(found.covariance)) / deviations
    assert ((ratio > 0.8) & (ratio < 1.05)).all()
    assert 0.93 < ratio.mean() < 1.02
    assert np.abs(correlation(found.covariance) - correlation(drawn)).max() < 0.15


def test_coefficients_of_documents(refit):
    """By their correlation over documents with those drawn."""
    true, draw, fit = refit
    means = infer(aligned(fit.critic, true)[0], draw.counts).means
    assert all(np.corrcoef(*pair)[0, 1] > 0.9 for pair in zip(means.T, draw.coefficients.T, strict=True))
