"""The LDA critic's fit, its files and its jobs."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

from textcritic.corpora import Article, Section, write_articles
from textcritic.critics.lda import LDA, Posterior, Posteriors, infer, topic_languages
from textcritic.critics.lda.fit import EVERY, fit_lda
from textcritic.critics.lda.job import FITTED_BY, InferFiles, infer_mixing, train_lda
from textcritic.critics.lda.scoring import UNKNOWN, score_lda
from textcritic.critics.scores import document_columns, latent_nll, rejections
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table, write_table
from textcritic.latents.bags import count_corpus
from textcritic.plan.entries import Lda

WORDS = {
    "de": ["der", "die", "und", "das", "nicht"],
    "es": ["el", "los", "una", "pero", "muy"],
    "fr": ["les", "une", "est", "pas", "du"],
}
ENTRY = Lda(kind="lda", iterations=60, optimise_every=10, burn_in=20, draws=3)
CRITIC = LDA(np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]), np.array([0.5, 1.5]))


def documents(number, seed):
    """(language, tokens): each in one language, but for a name and a full stop that all have."""
    rng = np.random.default_rng(seed)
    for place in range(number):
        language = list(WORDS)[place % 3]
        words = rng.choice(WORDS[language], 8)
        yield language, [*words, "Merkel", "."]


def matrix(number=90, seed=1):
    words = [word for own in WORDS.values() for word in own] + ["Merkel", "."]
    index = {word: place for place, word in enumerate(words)}
    rows = np.zeros((number, len(words)), dtype=np.int32)
    for row, (_, tokens) in zip(rows, documents(number, seed), strict=True):
        np.add.at(row, [index[token] for token in tokens], 1)
    return csr_matrix(rows)


def articles(path, number, seed, texts=()):
    made = [
        Article(
            f"{place:06d}-{language}",
            "an English sentence",
            (Section(language, " ".join(tokens)),),
            "made up",
            str(place // 3),
        )
        for place, (language, tokens) in enumerate(documents(number, seed))
    ]
    made += [Article(f"x{place}", None, (Section(None, text),), "made up") for place, text in enumerate(texts)]
    write_articles(path, made)


def test_topics_become_the_languages():
    fit = fit_lda(matrix(), Lda(kind="lda", iterations=300, optimise_every=50, burn_in=50))
    own = fit.critic.phi[:, :15].reshape(3, 3, 5).sum(axis=2)
    assert sorted(own.argmax(axis=1)) == [0, 1, 2]
    assert (own.max(axis=1) > 0.75).all()
    assert (fit.critic.alpha < 0.2).all(), "alpha is optimised: documents keep to one topic"
    assert fit.log_probs[0][-1] > fit.log_probs[0][0]
    assert len(fit.log_probs[0]) == 300 // EVERY


def test_a_fit_goes_on_until_its_chains_have_come_to_rest():
    options = {"optimise_every": 10, "burn_in": 50, "starts": 3}
    fit = fit_lda(matrix(), Lda(kind="lda", iterations=5000, **options))
    assert fit.convergence.converged
    sweeps = fit.convergence.sweeps
    assert sweeps < 5000
    assert [len(chain) for chain in fit.log_probs] == [sweeps // EVERY] * 3
    at_most = fit_lda(matrix(), Lda(kind="lda", iterations=sweeps, **options))
    assert at_most.log_probs == fit.log_probs, "the most that is allowed changes nothing before"
    short = fit_lda(matrix(), Lda(kind="lda", iterations=sweeps - 100, **options))
    assert not short.convergence.converged
    assert short.convergence.sweeps == sweeps - 100


def test_phi_is_the_smoothed_share_of_the_counts_of_one_state():
    counts, beta = matrix(), 0.25
    phi = fit_lda(counts, Lda(kind="lda", iterations=5, beta=beta)).critic.phi
    # n_kw = phi_kw (n_k + V beta) - beta, for the n_k that makes all of them whole.
    totals = np.arange(1, counts.sum() + 1)[:, None] + counts.shape[1] * beta
    tokens = np.zeros(counts.shape)[:3]
    for topic in range(3):
        each = phi[topic] * totals - beta
        fits = np.abs(each - np.rint(each)).max(axis=1) < 1e-7
        assert fits.sum() == 1
        tokens[topic] = np.rint(each[fits][0])
    np.testing.assert_array_equal(tokens.sum(axis=0), np.asarray(counts.sum(axis=0)).ravel())


def test_two_fits_agree_to_the_bit_whatever_the_threads():
    options = Lda(kind="lda", iterations=50, optimise_every=10, burn_in=10, starts=3, seed=4)
    one, two = fit_lda(matrix(), options), fit_lda(matrix(), options, workers=3)
    np.testing.assert_array_equal(one.critic.phi, two.critic.phi)
    np.testing.assert_array_equal(one.critic.alpha, two.critic.alpha)
    assert one.log_probs == two.log_probs
    other = fit_lda(matrix(), Lda(kind="lda", iterations=50, optimise_every=10, burn_in=10, seed=9))
    assert not np.array_equal(one.critic.phi, other.critic.phi)


def test_of_several_chains_the_most_probable_is_kept():
    options = {"iterations": 40, "optimise_every": 0, "topics": 2}
    several = fit_lda(matrix(), Lda(kind="lda", starts=4, seed=3, **options))
    assert several.kept == int(np.argmax([chain[-1] for chain in several.log_probs]))
    alone = fit_lda(matrix(), Lda(kind="lda", seed=3 + several.kept, **options))
    np.testing.assert_array_equal(alone.critic.phi, several.critic.phi)
    assert alone.critic.alpha.tolist() == pytest.approx([0.5, 0.5], rel=1e-6), "it is not optimised"


def test_a_word_that_no_document_has_and_documents_without_words():
    counts = csr_matrix([[2, 0, 1, 0], [0, 0, 0, 0], [0, 0, 3, 1]])
    fit = fit_lda(counts, Lda(kind="lda", topics=2, iterations=10))
    assert (fit.documents, fit.empty) == (2, 1)
    assert fit.critic.phi.shape == (2, 4)
    assert (fit.critic.phi[:, 1] > 0).all()
    with pytest.raises(TextcriticError, match="none has a word"):
        fit_lda(csr_matrix((3, 4), dtype=np.int32), Lda(kind="lda"))


def test_the_jobs_of_a_corpus_and_a_sample(tmp_path):
    articles(tmp_path / "train.parquet", 90, 1)
    articles(tmp_path / "sample.parquet", 12, 2, texts=["unseen words", "der el"])
    rejected = pa.table({"id": ["bad"], "text": ["?"], "why": ["no translation"]})
    write_table(tmp_path / "rejected.parquet", rejected)
    folder = tmp_path / "counts"
    vocabulary, report = tmp_path / "vocabulary.parquet", tmp_path / "vocabulary.json"
    count_corpus(tmp_path / "train.parquet", ENTRY.vocabulary, vocabulary, report, folder)
    assert read_json(report)["words"] == 17, "by default every word counts"
    critic = tmp_path / "critic.npz"
    train_lda(folder, critic, tmp_path / "training.json", ENTRY)
    training = read_json(tmp_path / "training.json")
    assert training["documents"] == 90
    assert training["tokens"] == 900
    assert len(training["log_probs"]) * training["every"] == ENTRY.iterations
    assert training["convergence"]["sweeps"] == ENTRY.iterations
    assert not training["convergence"]["converged"]
    files = InferFiles(
        articles=tmp_path / "sample.parquet",
        vocabulary=vocabulary,
        critic=critic,
        posteriors=tmp_path / "posteriors.npz",
        scores=tmp_path / "scores.parquet",
        rejected=tmp_path / "rejected.parquet",
    )
    infer_mixing(files, ENTRY)
    found, scores = Posteriors.load(files.posteriors), read_table(files.scores)
    assert len(found.ids) == 13
    assert "x0" not in found.ids
    assert found.draws.shape == (13, 3, 3)
    assert found.draws.dtype == found.counts.dtype == np.float32
    np.testing.assert_allclose(found.counts.sum(axis=1), found.tokens, rtol=1e-6)
    assert scores.num_rows == 15
    assert scores["group"].to_pylist() == [*(str(n // 3) for n in range(12)), None, None, None]
    assert rejections(scores) == {UNKNOWN: 1, "no translation": 1}
    assert document_columns(scores)[:, 1].tolist() == [1.0] * 13
    assert np.isfinite(latent_nll(scores))
    languages = [id_[-2:] for id_ in found.ids[:12].tolist()]
    assert set(topic_languages(some(found, slice(12)), languages)) == set(WORDS)


def some(posteriors, rows):
    return Posteriors(*(getattr(posteriors, name)[rows] for name in ("ids", "mean", "draws", "counts", "tokens")))


def test_files_that_do_not_belong_together_or_are_damaged(tmp_path):
    articles(tmp_path / "train.parquet", 9, 1)
    paths = (tmp_path / name for name in ("train.parquet", "v.parquet", "v.json", "c"))
    count_corpus(next(paths), ENTRY.vocabulary, *paths)
    CRITIC.save(tmp_path / "critic.npz")
    files = InferFiles(
        *(tmp_path / name for name in ("train.parquet", "v.parquet", "critic.npz", "p.npz", "s.parquet"))
    )
    with pytest.raises(TextcriticError, match=r"critic.npz: the critic knows 3 words, but .*v.parquet has 17"):
        infer_mixing(files, ENTRY)
    (tmp_path / "critic.npz").write_bytes(b"PK")
    with pytest.raises(TextcriticError, match=r"critic.npz: not a whole LDA model"):
        LDA.load(tmp_path / "critic.npz")
    with pytest.raises(TextcriticError, match=r"none.npz: no such file"):
        Posteriors.load(tmp_path / "none.npz")


def test_a_critic_is_read_as_it_was_written(tmp_path):
    CRITIC.save(tmp_path / "critic.npz")
    read = LDA.load(tmp_path / "critic.npz")
    np.testing.assert_array_equal(read.phi, CRITIC.phi)
    np.testing.assert_array_equal(read.alpha, CRITIC.alpha)
    assert CRITIC.top_words(["a", "b", "c"], 2) == [["a", "b"], ["c", "b"]]
    with pytest.raises(TextcriticError, match="2 words for a critic of 3"):
        CRITIC.top_words(["a", "b"])


@pytest.mark.parametrize(
    ("phi", "alpha", "says"),
    [
        ([[1.0, 0.0], [0.5, 0.5]], [1, 1], "phi: has values that are not finite and above 0"),
        ([[0.5, 0.5], [0.5, 0.4]], [1, 1], "phi: the probabilities of a topic's words do not add up to 1"),
        ([[0.5, 0.5], [0.5, 0.5]], [1, 1, 1], r"alpha: of shape \(3,\); with 2 topics"),
        ([[0.5, 0.5], [0.5, 0.5]], [1, np.nan], "alpha: has values"),
        ([[0.5, 0.5]], [1], r"phi: an array of shape \(1, 2\)"),
    ],
)
def test_a_critic_that_is_none(phi, alpha, says):
    with pytest.raises(TextcriticError, match=says):
        LDA(np.array(phi), np.array(alpha, dtype=float))


def test_posteriors_that_cannot_be_drawn():
    with pytest.raises(TextcriticError, match="counts over 2 words for a critic of 3"):
        infer(CRITIC, csr_matrix([[1, 1]]), ENTRY)
    five = LDA(np.full((5, 3), 1 / 3), np.ones(5))
    with pytest.raises(
        TextcriticError, match="document 1 has 100 tokens, too many for the exact posterior of 5 topics"
    ):
        infer(five, csr_matrix([[1, 0, 0], [100, 0, 0]]), Lda(kind="lda", posterior="exact"))


@pytest.mark.parametrize("method", ["gibbs", "exact"])
def test_documents_without_words_have_no_posterior(method):
    found = infer(CRITIC, csr_matrix([[0, 0, 0], [2, 0, 1]]), Lda(kind="lda", draws=2, sweeps=2, posterior=method))
    assert np.isnan(found.mean[0]).all()
    assert np.isnan(found.draws[0]).all()
    assert np.isfinite(found.draws[1]).all()
    assert found.tokens.tolist() == [0, 3]
    scores = score_lda(["none", "some"], found)
    assert scores["rejected"].to_pylist() == [True, False]
    assert scores["why"].to_pylist() == [UNKNOWN, None]
    with pytest.raises(TextcriticError, match="1 ids for 2 documents"):
        score_lda(["one"], found)


def test_the_rules_know_which_keys_decide_a_fit():
    others = {"kind", "topics", "vocabulary", "posterior", "draws", "sweeps", "threads", "mem_mb", "runtime"}
    assert {*FITTED_BY, *others} == set(Lda.model_fields)


def test_the_language_of_each_topic():
    counts = np.array([[9, 0, 1], [0, 1, 9], [1, 8, 1], [0, 0, 10], [5, 5, 0]], dtype=np.float32)
    ids = np.array(list("abcde"))
    found = Posteriors(ids, counts / 10, counts[:, None] / 10, counts, np.full(5, 10))
    assert topic_languages(found, ["de", "fr", "es", "fr", "de"]) == ("de", "es", "fr")
    assert topic_languages(found, ["de", "fr", "de", "fr", "de"]) == ("de", "", "fr")
    with pytest.raises(TextcriticError, match="languages: 1 for 5 documents"):
        topic_languages(found, ["de"])


def test_nothing_is_read_of_posteriors_but_what_is_theirs(tmp_path):
    none = Posterior(*(np.zeros((0, 2)), np.zeros((0, 1, 2)), np.zeros((0, 2)), np.zeros(0, np.int64), np.zeros(0)))
    empty = Posteriors.of(pa.array([], pa.string()), none)
    empty.save(tmp_path / "p.npz")
    assert Posteriors.load(tmp_path / "p.npz").draws.shape == (0, 1, 2)
