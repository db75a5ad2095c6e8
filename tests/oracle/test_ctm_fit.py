"""The fit: its bounds are the slow reference's, never fall, and depend on seed and data alone."""

import numpy as np
import pytest
from ctm_oracle import documents, draw_documents, random_critic, tight_bound

from textcritic.critics.ctm import fit_ctm, infer
from textcritic.critics.ctm.batches import rows_of_batches
from textcritic.latents.bags import read_ldac
from textcritic.plan.entries import Ctm

CTM_C = {20: -1.19432e6, 50: -1.13249e6}  # the final bound of Blei's ctm-c on this file


def small_corpus(seed=1, lengths=(0, 1, 3, 20, 60, 60, 60, 80, 120, 200)):
    return draw_documents(random_critic(seed, 4, 60, sharpness=2.0), list(lengths) * 20, seed).counts


def same(first, second):
    fields = ("log_topics", "mean", "covariance")
    arrays = all(np.array_equal(getattr(first.critic, f), getattr(second.critic, f)) for f in fields)
    return arrays and first.bounds == second.bounds


@pytest.mark.parametrize("topics", [2, 4, 9])
def test_the_bound_never_falls(topics):
    options = Ctm(kind="ctm", topics=topics, iterations=40, tolerance=1e-9, seed=3)
    bounds = np.array(fit_ctm(small_corpus(), options).bounds)
    assert len(bounds) > 5
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[:-1])).all()
    assert bounds[-1] > bounds[0]


@pytest.fixture(scope="module")
def sixth(tmp_path_factory):
    """The models before and after the sixth iteration, and the posteriors in between."""
    counts, state = small_corpus(), tmp_path_factory.mktemp("state")
    common = {"topics": 4, "tolerance": 0.0}
    before, after = (fit_ctm(counts, Ctm(kind="ctm", iterations=n, **common), state=state) for n in (5, 6))
    assert after.bounds[:5] == before.bounds
    posteriors = np.fromfile(state / "posteriors-1.f8").reshape(counts.shape[0], -1)
    return counts, before, after, np.split(posteriors, 2, axis=1)


def test_the_bounds_are_those_of_the_documents_under_the_critic_in_force(sixth):
    counts, before, after, (means, variances) = sixth
    slow = [tight_bound(before.critic, *one) for one in zip(documents(counts), means, variances, strict=True) if one[0]]
    assert len(slow) == after.documents == counts.shape[0] - after.empty
    assert sum(slow) == pytest.approx(after.bounds[5], rel=1e-10)
    assert after.bounds[5] == pytest.approx(infer(before.critic, counts[filled(counts)]).bounds.sum(), rel=1e-4)


def test_an_m_step_is_the_papers(sixth):
    """Topics from the expected counts, mean and covariance from means and variances of the documents with words."""
    counts, before, after, posteriors = sixth
    rows = filled(counts)
    counts, (means, variances) = counts[rows].toarray(), (one[rows] for one in posteriors)
    full = np.exp(np.concatenate([means, np.zeros((len(rows), 1))], 1))
    topics = np.exp(before.critic.log_topics)
    expected = topics * (full.T @ (counts / (full @ topics)))
    new = after.critic
    np.testing.assert_allclose(np.exp(new.log_topics), expected / expected.sum(1, keepdims=True), atol=1e-12)
    np.testing.assert_allclose(new.mean, means.mean(0), rtol=1e-10, atol=1e-12)
    away = means - means.mean(0)
    covariance = away.T @ away / len(rows) + np.diag(variances.mean(0))
    np.testing.assert_allclose(new.covariance, covariance, rtol=1e-9, atol=1e-12)


def filled(counts):
    """Rows of documents with words."""
    return np.flatnonzero(np.asarray(counts.sum(1)).ravel())


def test_a_seed_decides_everything():
    counts = small_corpus()
    first, again, other = (
        fit_ctm(counts, Ctm(kind="ctm", topics=5, iterations=8, tolerance=1e-9, seed=s)) for s in (1, 1, 2)
    )
    assert same(first, again)
    assert not same(first, other)


def test_the_number_of_workers_changes_nothing():
    """Of a corpus that makes several batches, of documents of like length each, whatever order they come in."""
    lengths = np.random.default_rng(1).integers(1, 400, 800).tolist()
    counts = draw_documents(random_critic(1, 6, 300, sharpness=1.5), lengths, 1).counts
    assert len(rows_of_batches(counts, 40)) > 3
    options = Ctm(kind="ctm", topics=40, iterations=5, tolerance=0.0)
    one, two = (fit_ctm(counts, options, workers=n) for n in (1, 2))
    assert same(one, two)
    alone, together = (infer(one.critic, counts, workers=n) for n in (1, 2))
    for field in ("means", "variances", "bounds", "words"):
        np.testing.assert_array_equal(getattr(alone, field), getattr(together, field))
    some = slice(None, None, 80)
    columns = alone.means[some], alone.variances[some]
    slow = [tight_bound(one.critic, *of) for of in zip(documents(counts[some]), *columns, strict=True)]
    np.testing.assert_allclose(alone.bounds[some], slow, rtol=1e-10)
    np.testing.assert_array_equal(alone.words, lengths)


@pytest.mark.parametrize("topics", CTM_C)
def test_topics_of_wikipedia_reach_the_bound_of_the_released_code(topics, wiki_counts):
    counts = read_ldac(wiki_counts)
    fit = fit_ctm(counts, Ctm(kind="ctm", topics=topics))
    assert fit.converged
    assert fit.bounds[-1] >= CTM_C[topics]
    some, found = slice(None, None, 40), infer(fit.critic, counts)
    columns = found.means[some], found.variances[some]
    slow = [tight_bound(fit.critic, *one) for one in zip(documents(counts[some]), *columns, strict=True)]
    np.testing.assert_allclose(found.bounds[some], slow, rtol=1e-10)
