"""Topic scores as tables, their summaries, what topics are about, outliers, and the job that makes the files."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textcritic.corpora import Article, Section, write_articles
from textcritic.critics.ctm import project as project_module
from textcritic.critics.ctm import scoring as scoring_module
from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.posterior import infer
from textcritic.critics.ctm.project import TOPICS_SCHEMA, ProjectedFiles, project_articles, topics_table
from textcritic.critics.ctm.scoring import (
    EMPTY,
    TOPIC_SCORES_SCHEMA,
    Projected,
    document_nll,
    latent_nll,
    outliers,
    score_topics,
    top_words,
    topic_shares,
)
from textcritic.critics.scores import rejections
from textcritic.errors import TextcriticError
from textcritic.files import read_table, write_table
from textcritic.inference import aggregated_covariance
from textcritic.latents.bags import Vocabulary, count_articles

WORDS = ("poet", "verse", "publisher", "football", "goal", "team", "the")


def critic():
    """Three topics: poets, football, and words of all texts."""
    topics = np.array([[8, 8, 8, 1, 1, 1, 9], [1, 1, 1, 8, 8, 8, 9], [2, 2, 2, 2, 2, 2, 20.0]])
    covariance = np.array([[2.0, -0.5], [-0.5, 1.0]])
    return CTM(np.log(topics / topics.sum(axis=1, keepdims=True)), np.array([0.5, -0.5]), covariance)


def vocabulary(words=WORDS):
    return Vocabulary(words, np.arange(len(words), 0, -1), np.ones(len(words), np.int64))


def topics_of(means, words=None, variance=0.5):
    words = [10] * len(means) if words is None else words
    rows = [
        {
            "id": f"d{n}",
            "words": count,
            "tokens": 20,
            "mean": list(mean) if count else None,
            "variance": [variance] * 2 if count else None,
            "bound": -1.0,
        }
        for n, (mean, count) in enumerate(zip(means, words, strict=True))
    ]
    return pa.Table.from_pylist(rows, schema=TOPICS_SCHEMA)


def article(name, *texts):
    return Article(name, None, tuple(Section(None, text) for text in texts), "test")


def same(one, two):
    """NaN equals NaN here."""
    return one.schema.equals(two.schema) and repr(one.to_pylist()) == repr(two.to_pylist())


def test_scores_keep_every_document():
    means = [[0.0, 1.0], [0.0, 0.0], [3.0, -2.0]]
    scores = score_topics(critic(), topics_of(means, [10, 0, 4]), [("x", "empty section")])
    assert scores.schema.equals(TOPIC_SCORES_SCHEMA)
    assert scores["id"].to_pylist() == ["d0", "d1", "d2", "x"]
    assert scores["words"].to_pylist() == [10, 0, 4, 0]
    assert scores["rejected"].to_pylist() == [False, True, False, True]
    assert scores["why"].to_pylist() == [None, EMPTY, None, "empty section"]
    expected = latent_nll(critic(), np.array(means)[[0, 2]], np.full((2, 2), 0.5))
    for column, values in zip(("nll", "nll_at_mean"), expected, strict=True):
        found = scores[column].to_numpy()
        assert found[[0, 2]].tolist() == values.tolist()
        assert np.isnan(found[[1, 3]]).all()
    assert rejections(scores) == {"empty section": 1, EMPTY: 1}


def test_scores_of_no_document():
    assert score_topics(critic(), TOPICS_SCHEMA.empty_table()).num_rows == 0
    scores = score_topics(critic(), topics_of([[0.0, 0.0]], [0]), [("x", "empty")])
    with pytest.raises(TextcriticError, match=r"no document is left after rejection \(empty: 1; no word of the voc"):
        document_nll(scores)


def test_a_table_in_chunks_scores_the_same():
    table = topics_of(np.random.default_rng(0).normal(size=(9, 2)).tolist(), [3, 0, 2, 0, 0, 5, 1, 1, 0])
    parts = pa.concat_tables([table[:3], table[3:5], table[5:]])
    assert same(score_topics(critic(), parts), score_topics(critic(), table))


def test_bad_posteriors():
    with pytest.raises(TextcriticError, match=r"for a critic of 3 topics; both must be \[documents, 2\]"):
        latent_nll(critic(), np.zeros((1, 3)), np.ones((1, 3)))
    with pytest.raises(TextcriticError, match="a posterior has infinite"):
        latent_nll(critic(), np.array([[0.0, np.inf]]), np.ones((1, 2)))
    uneven = topics_of([[0.0, 0.0], [0.0, 0.0]]).set_column(3, TOPICS_SCHEMA.field(3), pa.array([[0.0], [0.0, 1.0]]))
    with pytest.raises(TextcriticError, match="column 'mean' has lists of"):
        score_topics(critic(), uneven)


def test_documents_with_words_have_an_nll():
    rng = np.random.default_rng(1)
    near, far = (score_topics(critic(), topics_of(rng.normal(m, 1, (60, 2)).tolist(), [5] * 59 + [0])) for m in (0, 3))
    assert len(document_nll(near)) == 59
    for column in ("nll", "nll_at_mean"):
        assert document_nll(near, column).tolist() == near[column].to_numpy()[:59].tolist()
        assert document_nll(far, column).mean() > document_nll(near, column).mean()


def test_top_words():
    words = top_words(critic(), WORDS, 4)
    assert words[0] == ["the", "poet", "verse", "publisher"]
    assert words[2][0] == "the"
    with pytest.raises(TextcriticError, match="2 words for a critic of 7"):
        top_words(critic(), WORDS[:2])


def test_topic_shares():
    assert topic_shares([[0.0, 0.0], [math.log(2), 0.0]]).tolist() == pytest.approx([5 / 12, 7 / 24, 7 / 24])
    assert topic_shares([[1000.0, 0.0]]).tolist() == [1, 0, 0]
    with pytest.raises(TextcriticError, match=r"must be \[documents, K - 1\]"):
        topic_shares(np.empty((0, 2)))


def test_outliers_are_shown_where_they_are_odd(tmp_path):
    usual = ["the poet the team"] * 60
    articles = [
        article("d0", *usual),
        article("d1", *usual[:30], "goal football " * 40 + "goal", *usual[30:]),
        article("d2", "the", "odd words"),
    ]
    write_articles(tmp_path / "sample.parquet", articles)
    topics = topics_of([[0.0, 0.0], [-4.0, 6.0], [0.0, 0.1]])
    scores = score_topics(critic(), topics, [("x", "empty")])
    found = outliers(
        critic(), vocabulary(), Projected(topics, scores, tmp_path / "sample.parquet"), [0.4, 0.2, 0.4], most=2
    )
    assert [row["id"] for row in found] == ["d1", "d2" if scores["nll"][2].as_py() > scores["nll"][0].as_py() else "d0"]
    worst = found[0]
    assert (worst["nll"], worst["nll_at_mean"]) == (scores["nll"][1].as_py(), scores["nll_at_mean"][1].as_py())
    assert worst["excerpt"].startswith("… team goal football goal")
    assert worst["excerpt"].endswith("football goal …")
    assert len(worst["excerpt"].split()) == scoring_module.EXCERPT_WORDS + 2
    assert worst["topics"][0]["topic"] == 1
    assert worst["topics"][0]["z"] == pytest.approx(6.5)
    assert worst["topics"][0]["share"] > 0.99
    assert worst["topics"][0]["usual_share"] == 0.2
    assert [topic["z"] for topic in worst["topics"] if topic["topic"] == 2] == [None]


def test_a_short_document_is_shown_whole_and_a_long_word_cut(tmp_path):
    write_articles(tmp_path / "s.parquet", [article("d0", "The poet", "the GOAL"), article("d1", "goal" * 1000)])
    topics = topics_of([[0.0, 0.0], [1.0, 1.0]])
    rows = outliers(
        critic(),
        vocabulary(),
        Projected(topics, score_topics(critic(), topics), tmp_path / "s.parquet"),
        np.full(3, 1 / 3),
    )
    excerpts = {row["id"]: row["excerpt"] for row in rows}
    assert excerpts["d0"] == "The poet the GOAL"
    assert len(excerpts["d1"]) == scoring_module.EXCERPT_CHARACTERS + 2
    assert excerpts["d1"].endswith("goal …")


def test_outliers_of_another_sample(tmp_path):
    write_articles(tmp_path / "s.parquet", [article("other", "the")])
    topics = topics_of([[0.0, 0.0]])
    with pytest.raises(TextcriticError, match=r"s\.parquet: document 'd0' has a score and no text"):
        outliers(
            critic(),
            vocabulary(),
            Projected(topics, score_topics(critic(), topics), tmp_path / "s.parquet"),
            np.ones(3) / 3,
        )


@pytest.fixture
def files(tmp_path):
    """A sample, what did not parse of it, vocabulary and critic."""
    rng = np.random.default_rng(3)
    articles = [article(f"a{n}", " ".join(rng.choice([*WORDS, "rare"], 30)), "the team") for n in range(25)]
    articles[7] = article("a7", "nothing known", "")
    articles = [replace(one, group=f"site {n // 2}") for n, one in enumerate(articles)]
    write_articles(tmp_path / "sample.parquet", articles)
    rejected = pa.table({"id": ["r0"], "text": [""], "why": ["empty"]})
    write_table(tmp_path / "sample.rejected.parquet", rejected)
    vocabulary().save(tmp_path / "vocabulary.parquet")
    critic().save(tmp_path / "critic.npz")
    return tmp_path, articles


def project(folder, rejected=True, **options):
    names = ("sample.parquet", "vocabulary.parquet", "critic.npz", "out/topics.parquet", "out/scores.parquet")
    files = ProjectedFiles(*(folder / name for name in names), folder / "sample.rejected.parquet" if rejected else None)
    project_articles(files, **options)
    return read_table(folder / "out/topics.parquet"), read_table(folder / "out/scores.parquet")


def test_the_job_writes_what_inference_gives(files):
    folder, articles = files
    topics, scores = project(folder)
    assert topics.schema.equals(TOPICS_SCHEMA)
    assert scores.schema.equals(TOPIC_SCORES_SCHEMA)
    counts = next(count_articles(articles, vocabulary()))
    posterior = infer(critic(), counts.matrix)
    assert topics["id"].to_pylist() == [a.id for a in articles]
    assert topics["tokens"].to_pylist() == [2 if n == 7 else 32 for n in range(25)]
    assert topics["words"].to_pylist() == counts.matrix.sum(axis=1).ravel().tolist()[0]
    assert topics["mean"][7].as_py() is None
    assert topics["variance"][7].as_py() is None
    filled = [n for n in range(25) if n != 7]
    assert [topics["mean"][n].as_py() for n in filled] == posterior.means[filled].tolist()
    assert [topics["variance"][n].as_py() for n in filled] == posterior.variances[filled].tolist()
    expected = score_topics(critic(), topics_table(counts, posterior), [("r0", "empty")])
    assert scores["group"].to_pylist() == [*(f"site {n // 2}" for n in range(25)), None]
    assert same(scores.drop(["group"]), expected.drop(["group"]))
    assert rejections(scores) == {"empty": 1, EMPTY: 1}
    assert aggregated_covariance(posterior.means[filled]).shape == (2, 2)


def test_chunks_change_nothing_but_the_row_groups(files, monkeypatch):
    folder, _ = files
    whole = project(folder, rejected=False)
    monkeypatch.setattr(project_module, "CHUNK_DOCUMENTS", 4)
    parts = project(folder, rejected=False)
    assert pq.read_metadata(folder / "out/topics.parquet").num_row_groups == 7
    inferred = ["mean", "variance", "bound"]
    assert whole[0].drop_columns(inferred).equals(parts[0].drop_columns(inferred))
    assert whole[1]["why"].equals(parts[1]["why"])
    # Inference stops a little short of the maximum, where exactly depends on the documents beside.
    nll = [scores["nll"].to_numpy() for _, scores in (whole, parts)]
    assert nll[0] == pytest.approx(nll[1], abs=1e-3, nan_ok=True)


def test_a_sample_of_which_nothing_parsed(files):
    folder, _ = files
    write_articles(folder / "sample.parquet", [])
    topics, scores = project(folder)
    assert (topics.num_rows, scores["why"].to_pylist()) == (0, ["empty"])
    with pytest.raises(TextcriticError, match=r"sample\.parquet: holds no articles"):
        project(folder, rejected=False)


def test_a_critic_of_another_vocabulary(files):
    folder, _ = files
    vocabulary(WORDS[:5]).save(folder / "vocabulary.parquet")
    with pytest.raises(
        TextcriticError, match=r"critic\.npz: the critic knows 7 words, but .*vocabulary\.parquet has 5"
    ):
        project(folder)


def test_a_fault_leaves_no_file(files):
    folder, _ = files
    whole = (folder / "sample.parquet").read_bytes()
    (folder / "sample.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TextcriticError, match=r"sample\.parquet: not whole Parquet"):
        project(folder)
    assert list((folder / "out").iterdir()) == []


def test_a_critic_that_is_singular(files):
    folder, _ = files
    broken = {"log_topics": critic().log_topics, "mean": critic().mean, "covariance": np.ones((2, 2))}
    np.savez(folder / "critic.npz", **broken)
    with pytest.raises(TextcriticError, match=r"critic\.npz: covariance: is singular"):
        project(folder)
