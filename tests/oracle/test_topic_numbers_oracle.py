"""How many topics: held-out words by models of several sizes, and which of these is taken."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from textcritic.critics.ctm import held_out
from textcritic.critics.ctm.held_out import (
    DRAWS,
    Completed,
    _halved,
    compared,
    completed,
    predicted_under,
)
from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.posterior import infer
from textcritic.errors import TextcriticError
from textcritic.plan.checks.critics import PARTS
from textcritic.plan.entries import Ctm


def drawn(topics, documents, words, rng, size=60):
    """Documents of a correlated topic model whose topics are far from each other: [documents, words]."""
    free = topics - 1
    betas = rng.dirichlet(np.full(words, 0.05), topics)
    eta = np.concatenate([rng.normal(0, 1.5, (documents, free)), np.zeros((documents, 1))], axis=1)
    theta = np.exp(eta)
    theta /= theta.sum(axis=1, keepdims=True)
    return csr_matrix(np.stack([rng.multinomial(size, row @ betas) for row in theta]).astype(np.int32))


def test_what_is_predicted_is_the_mean_over_draws_of_the_posterior():
    rng = np.random.default_rng(1)
    counts = drawn(3, 9, 20, rng)
    log_topics = np.log(rng.dirichlet(np.ones(20), 3))
    critic = CTM(log_topics, np.array([0.3, -0.2]), np.array([[1.0, 0.4], [0.4, 2.0]]))
    read, predicted = _halved(counts, rng)
    assert np.array_equal((read + predicted).toarray(), counts.toarray())
    assert {*np.ravel(read.sum(axis=1))} == {30}
    posterior = infer(critic, read)
    noise = np.random.default_rng(7).standard_normal((DRAWS // 2, 2))
    expected = np.zeros(9)
    for row in range(9):
        mixture = np.zeros(20)
        for one in (*noise, *-noise):
            eta = np.append(posterior.means[row] + np.sqrt(posterior.variances[row]) * one, 0)
            mixture += np.exp(eta) / np.exp(eta).sum() @ np.exp(log_topics) / DRAWS
        assert mixture.sum() == pytest.approx(1, abs=1e-12)
        expected[row] = predicted.toarray()[row] @ np.log(mixture)
    assert predicted_under(critic, read, predicted, 7) == pytest.approx(expected, rel=1e-12)


def test_the_number_of_topics_that_drew_the_documents_is_taken():
    counts = drawn(4, 150, 120, np.random.default_rng(2))
    entry = Ctm(kind="ctm", topics=2, iterations=60, seed=3)
    found = completed(counts, (8, 2, 4), entry)
    assert found.numbers == (2, 4, 8)
    assert found.documents.tolist() == list(range(150))
    assert found.tokens.sum() + found.unknown == 150 * 30
    rows = compared(found, resamples=999)
    assert [row.num_topics for row in rows if row.taken] == [4]
    two, four, _ = rows
    assert two.below_best.low > 0
    assert four.log_likelihood.estimate == pytest.approx(found.log_likelihoods[1].sum() / found.tokens.sum())
    again = completed(counts, (8, 2, 4), entry).log_likelihoods
    assert again == pytest.approx(found.log_likelihoods, abs=0)


def test_of_two_as_good_numbers_the_smaller_is_taken():
    """Each is better by luck alone: in 200 data sets the larger is taken in at most 2.5%, and 2 standard errors."""
    rng, taken = np.random.default_rng(4), []
    for _ in range(200):
        tokens = rng.integers(20, 60, 80).astype(float)
        both = np.stack([-6 * tokens + rng.normal(0, 4, 80) for _ in range(2)])
        rows = compared(Completed((5, 10), both, tokens, np.arange(80), 0), resamples=299)
        taken.append(next(row.num_topics for row in rows if row.taken))
    assert taken.count(10) <= 200 * (0.025 + 2 * 0.011)


def test_a_better_number_is_taken_and_a_worse_one_never():
    rng = np.random.default_rng(5)
    tokens = rng.integers(20, 60, 80).astype(float)
    base = -6 * tokens + rng.normal(0, 4, 80)
    values = np.stack([base, base + 2 + rng.normal(0, 1, 80), base + 1.99])
    rows = compared(Completed((5, 10, 20), values, tokens, np.arange(80), 0), resamples=999)
    assert [row.taken for row in rows] == [False, True, False]


def test_documents_of_a_group_are_in_one_part(monkeypatch):
    """Whatever is held out, no document of its groups is among those that models are fitted on."""
    counts = drawn(2, 70, 30, np.random.default_rng(6))
    counts.data[counts.indptr[:-1]] += 1000 * np.arange(1, 71, dtype=np.int32)  # known by size
    sizes = np.asarray(counts.sum(axis=1)).ravel()
    groups = [None if i % 7 == 0 else f"g{i % 11}" for i in range(70)]
    fitted = []
    fit = held_out.fit_ctm
    monkeypatch.setattr(held_out, "fit_ctm", lambda rows, *how, **more: fitted.append(rows) or fit(rows, *how, **more))
    completed(counts, (2,), Ctm(kind="ctm", topics=2, iterations=1), groups)
    assert len(fitted) == PARTS
    left_out = []
    for rows in fitted:
        there = np.isin(sizes, np.asarray(rows.sum(axis=1)).ravel())
        assert not {groups[i] for i in np.flatnonzero(there)} & {groups[i] for i in np.flatnonzero(~there)} - {None}
        left_out += np.flatnonzero(~there).tolist()
    assert sorted(left_out) == list(range(70))


def test_documents_without_words_are_named():
    with pytest.raises(TextcriticError, match=r"^topics: 2, and 0 documents are left"):
        completed(csr_matrix((4, 8), dtype=np.int32), (2,), Ctm(kind="ctm", topics=2))


def test_too_few_documents_are_named():
    counts = drawn(2, 20, 30, np.random.default_rng(8))
    with pytest.raises(TextcriticError, match=r"^topics: 17, and 16 documents are left where a part of them is held"):
        completed(counts, (2, 17), Ctm(kind="ctm", topics=2))
