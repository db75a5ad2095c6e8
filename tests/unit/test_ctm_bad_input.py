"""What a correlated topic model makes of counts and files that are not as they should be."""

import math

import numpy as np
import pytest
from ctm_bounds import bounds, bounds_and_gradients
from ctm_oracle import documents, draw_documents, random_critic, slow_climb, tight_bound
from scipy.sparse import csr_matrix

from textcritic.critics.ctm import CTM, fit_ctm, infer
from textcritic.critics.ctm.batches import document_lengths, word_counts
from textcritic.errors import TextcriticError
from textcritic.plan.entries import Ctm

TOPICS, WORDS = 4, 12


@pytest.fixture(scope="module")
def critic():
    return random_critic(1, TOPICS, WORDS)


@pytest.fixture(scope="module")
def counts(critic):
    return draw_documents(critic, [30] * 40, 1).counts


def test_word_ids_beyond_the_vocabulary(critic):
    wider = csr_matrix(([2, 1], ([0, 0], [0, WORDS])), shape=(1, WORDS + 1))
    with pytest.raises(TextcriticError, match=rf"{WORDS + 1}.*{WORDS}"):
        infer(critic, wider)
    narrower = csr_matrix(np.ones((1, WORDS - 1), np.int32))
    with pytest.raises(TextcriticError, match=rf"{WORDS - 1}.*{WORDS}"):
        infer(critic, narrower)


@pytest.mark.parametrize("count", [-1, 0.5, math.nan, math.inf])
def test_counts_that_are_none(critic, count):
    wrong = csr_matrix(np.array([[3] + [0] * (WORDS - 1), [3, count, *[0] * (WORDS - 2)]]))
    for use in (lambda: infer(critic, wrong), lambda: fit_ctm(wrong, Ctm(kind="ctm", topics=2))):
        with pytest.raises(
            TextcriticError, match=rf"document 2 has a count of {count}; counts are whole numbers from 1"
        ):
            use()


@pytest.mark.parametrize("piece", [1, 2, 7, 100])
def test_sums_do_not_depend_on_the_pieces(monkeypatch, piece):
    monkeypatch.setattr("textcritic.critics.ctm.batches.PIECE", piece)
    rng = np.random.default_rng(piece)
    for shape in ((1, 1), (9, 4), (4, 9), (12, 1)):
        dense = rng.poisson(0.4, shape)
        matrix = csr_matrix(dense)
        assert document_lengths(matrix).tolist() == dense.sum(axis=1).tolist()
        assert word_counts(matrix).tolist() == dense.sum(axis=0).tolist()


def test_another_sparse_format_is_read_as_what_it_is(critic, counts):
    square = counts[:WORDS]
    np.testing.assert_array_equal(infer(critic, square.tocsc()).bounds, infer(critic, square).bounds)


@pytest.mark.parametrize("times", [1e3, 1e8, 1e12])
def test_a_word_that_no_topic_emits_says_nothing_about_topics(times):
    log_topics = np.log([[0.5, 0.5, 1e-300], [0.3, 0.7, 1e-300]])
    critic = CTM(log_topics, np.zeros(1), np.eye(1))
    without, among = (csr_matrix(np.array([[0, 0, times], [3, 1, times]]))[row] for row in (0, 1))
    alone, both = infer(critic, without), infer(critic, among)
    # Its shares are those of the prior's words: it pulls towards no topic, and the more of it the surer it is.
    assert np.isfinite([alone.means, both.means]).all()
    gradient = bounds_and_gradients(critic, among, both.means, both.variances)[1]
    assert abs(gradient).max() * math.sqrt(both.variances.max()) < 1e-3


def test_posteriors_that_are_not_found_are_told(critic, counts, monkeypatch, caplog):
    monkeypatch.setattr("textcritic.critics.ctm.posterior.MOST_EVALUATIONS", 3)
    infer(critic, counts)
    assert f"the posteriors of {counts.shape[0]} documents are not exact after 3 evaluations" in caplog.text


def test_a_word_id_beyond_the_matrix_itself(critic, counts):
    """As of a file that was damaged: scipy does not look again."""
    broken = counts.copy()
    broken.indices[broken.indptr[2]] = WORDS + 7
    with pytest.raises(TextcriticError, match=r"document 3\b.*vocabulary"):
        infer(critic, broken)
    with pytest.raises(TextcriticError, match=r"document 3\b.*vocabulary"):
        fit_ctm(broken, Ctm(kind="ctm", topics=2))


def test_the_document_of_a_wrong_count_is_named(critic):
    rows = np.zeros((4, WORDS), np.int32)
    rows[0, :2], rows[3, 1:4] = 1, (2, -1, 5)
    with pytest.raises(TextcriticError, match=r"document 4\b"):
        infer(critic, csr_matrix(rows))


def test_a_corpus_of_one_document(critic, counts):
    with pytest.raises(TextcriticError, match="document"):
        fit_ctm(counts[:1], Ctm(kind="ctm", topics=2))


def test_more_topics_than_documents(counts):
    with pytest.raises(TextcriticError, match=r"5.*topics|topics.*5"):
        fit_ctm(counts[:4], Ctm(kind="ctm", topics=5))


@pytest.mark.parametrize("shape", [(0, WORDS), (5, WORDS), (5, 0)])
def test_a_corpus_without_a_word(shape):
    with pytest.raises(TextcriticError, match=r"word|document"):
        fit_ctm(csr_matrix(shape, dtype=np.int32), Ctm(kind="ctm", topics=2))


BROKEN = {
    "singular": lambda covariance: np.ones_like(covariance),
    "indefinite": lambda covariance: covariance - 5 * np.eye(len(covariance)),
    "lopsided": lambda covariance: covariance + np.triu(np.full_like(covariance, 0.01), 1),
    "not a number": lambda covariance: np.where(np.eye(len(covariance)) == 1, math.nan, covariance),
    "of another size": lambda covariance: covariance[:-1, :-1],
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_critic_file_with_a_broken_covariance(critic, tmp_path, how):
    path = tmp_path / "critic.npz"
    np.savez(path, log_topics=critic.log_topics, mean=critic.mean, covariance=BROKEN[how](critic.covariance))
    with pytest.raises(TextcriticError, match=r"critic\.npz.*covariance") as caught:
        CTM.load(path)
    assert "\n" not in str(caught.value)


def test_a_critic_file_with_other_faults(critic, tmp_path):
    path = tmp_path / "critic.npz"
    whole = {"log_topics": critic.log_topics, "mean": critic.mean, "covariance": critic.covariance}
    faults = [
        whole | {"mean": critic.mean * math.nan},
        whole | {"log_topics": critic.log_topics * math.nan},
        whole | {"log_topics": critic.log_topics + 1},
        {"log_topics": critic.log_topics, "mean": critic.mean},
    ]
    for arrays in faults:
        np.savez(path, **arrays)
        with pytest.raises(TextcriticError, match=r"critic\.npz"):
            CTM.load(path)
    critic.save(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(TextcriticError, match=r"critic\.npz"):
        CTM.load(path)
    path.unlink()
    with pytest.raises(TextcriticError, match=r"critic\.npz"):
        CTM.load(path)


def test_a_critic_file_is_the_critic(critic, tmp_path):
    critic.save(tmp_path / "critic.npz")
    again = CTM.load(tmp_path / "critic.npz")
    for field in ("log_topics", "mean", "covariance"):
        np.testing.assert_array_equal(getattr(again, field), getattr(critic, field))
    assert (again.num_topics, again.num_words) == (TOPICS, WORDS)
    np.testing.assert_allclose(again.precision, np.linalg.inv(critic.covariance), rtol=1e-10, atol=1e-12)


def test_an_empty_document_has_the_prior(critic):
    found = infer(critic, csr_matrix((3, WORDS), dtype=np.int32))
    precision = np.linalg.inv(critic.covariance)
    np.testing.assert_allclose(found.means, [critic.mean] * 3, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.variances, [1 / np.diag(precision)] * 3, rtol=1e-10)
    bound = 0.5 * (np.linalg.slogdet(precision)[1] - np.log(np.diag(precision)).sum())
    np.testing.assert_allclose(found.bounds, bound, rtol=1e-10)
    np.testing.assert_array_equal(found.words, 0)


def test_zeros_that_are_stored_are_no_words(critic, counts):
    """As a matrix has them after words were taken away from it."""
    zeroed = counts[:10].copy()
    zeroed.data[zeroed.indptr[4] : zeroed.indptr[6]] = 0
    clean = zeroed.copy()
    clean.eliminate_zeros()
    ours, theirs = infer(critic, zeroed), infer(critic, clean)
    np.testing.assert_allclose(ours.bounds, theirs.bounds, rtol=1e-9)
    np.testing.assert_array_equal(ours.words, theirs.words)
    options = Ctm(kind="ctm", topics=3, iterations=7, tolerance=0.0)
    ours, theirs = fit_ctm(zeroed, options), fit_ctm(clean, options)
    assert (ours.documents, ours.empty) == (theirs.documents, theirs.empty) == (8, 2)
    np.testing.assert_allclose(ours.critic.covariance, theirs.critic.covariance, rtol=1e-6)
    zeroed.data[:] = 0
    with pytest.raises(TextcriticError, match="documents"):
        fit_ctm(zeroed, options)


def test_no_document_at_all(critic):
    found = infer(critic, csr_matrix((0, WORDS), dtype=np.int32))
    assert found.means.shape == found.variances.shape == (0, TOPICS - 1)
    assert found.bounds.shape == found.words.shape == (0,)


@pytest.mark.parametrize("length", [100_000, 2_000_000_000])
def test_a_document_of_very_many_words(critic, length):
    """Also one that repeats a single word: its topic's coefficient goes far."""
    drawn = np.random.default_rng(1).multinomial(length, np.exp(critic.log_topics).mean(0))
    counts = csr_matrix(np.array([drawn, np.eye(WORDS)[3] * length], np.int32))
    found = infer(critic, counts)
    np.testing.assert_array_equal(found.words, length)
    for number, document in enumerate(documents(counts)):
        at = found.means[number], found.variances[number]
        assert tight_bound(critic, document, *at) == pytest.approx(found.bounds[number], rel=1e-10)
        assert slow_climb(critic, document, *at).bound <= found.bounds[number] * (1 - 1e-9)


def test_empty_documents_in_train_are_left_out_and_counted(counts):
    padded = csr_matrix(np.concatenate([np.zeros((5, WORDS), np.int32), counts.toarray()]))
    options = Ctm(kind="ctm", topics=3, iterations=6, tolerance=0.0)
    fit, plain = fit_ctm(padded, options), fit_ctm(counts, options)
    assert (fit.documents, fit.empty) == (counts.shape[0], 5)
    assert (plain.documents, plain.empty) == (counts.shape[0], 0)
    assert fit.bounds == pytest.approx(plain.bounds, rel=1e-9)
    np.testing.assert_allclose(fit.critic.covariance, plain.critic.covariance, rtol=1e-6)


def test_words_that_train_never_had(counts):
    wider = csr_matrix((counts.data, counts.indices, counts.indptr), shape=(counts.shape[0], WORDS + 2))
    fit = fit_ctm(wider, Ctm(kind="ctm", topics=3, iterations=5))
    known, unknown = np.zeros((2, WORDS + 2), np.int32)
    known[:3] = 2
    unknown[-1] = 4
    both = csr_matrix(np.array([known, unknown, known + unknown]))
    found = infer(fit.critic, both)
    assert np.isfinite(found.bounds).all()
    assert np.isfinite(found.means).all()
    np.testing.assert_allclose(bounds(fit.critic, both, found.means, found.variances), found.bounds)
