"""The order of sentences in a study: rows, what is said of them and when, and documents of all kinds."""

import math

import numpy as np
import pyarrow as pa
import pytest
from report_html import Page
from report_jobs import Made, make_study

from experiments.order.tiny import BRIEF, GAME, LIFE, UNREAD, articles, build_order
from textcritic.corpora import Article, Section, read_articles, write_articles
from textcritic.corpora.intruders.sentences import split_sentences
from textcritic.critics.order import ORDER_SCHEMA, TOO_SHORT, OrderCritic, fit_order, score_order
from textcritic.errors import TextcriticError
from textcritic.experiments.order.rows import ORDERED, order_rows, pair_rows
from textcritic.experiments.order.words import (
    HIGHER_SAYS,
    OTHER_WORDS,
    OUT_OF_ORDER,
    TOO_FEW,
    causes,
    is_without_order,
)
from textcritic.files import read_json, read_table
from textcritic.measures.causes import comparisons
from textcritic.measures.material import Material
from textcritic.measures.names import Names
from textcritic.measures.score import scores_of

GENERATORS = ["shuffler", "writer", "reporter"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    root = tmp_path_factory.mktemp("order")
    return build_order(root, generators=[*GENERATORS, BRIEF], drawn=110, real=60)


@pytest.fixture(scope="module")
def material(files):
    return Material(files)


@pytest.fixture(scope="module")
def rows(material):
    return order_rows(material)


def test_a_shuffler_has_no_order_a_writer_that_of_real_text_and_a_reporter_its_own(rows):
    by = rows.set_index("generator")
    assert by.loc["data", "ordered"] > 100 * by.loc["shuffler", "p_value"]
    assert by.loc[["shuffler", "reporter"], "p_value"].max() < 0.02
    assert by.loc["writer", "p_value"] > 0.05
    assert by.loc["shuffler", "own_low"] < 0 < by.loc["shuffler", "own_high"] < by.loc["data", "ordered"] / 2
    assert by.loc["reporter", "own_low"] > 0
    assert abs(by.loc["shuffler", "accuracy"] - 0.5) < 0.1
    assert by.loc["writer", "accuracy"] > 0.8
    assert by.loc["writer", "sentences"] == 5 * by.loc["writer", "documents"] == 550


def test_documents_of_one_sentence_are_counted(rows):
    (row,) = rows[rows["generator"] == BRIEF].to_dict("records")
    assert (row["documents"], row["rejected"]) == (0, 110 + UNREAD)
    assert row["rejected_by_reason"] == f"{TOO_SHORT}: 110; malformed: {UNREAD}"
    assert math.isnan(row["ordered"])


def test_what_is_wrong_is_said_as_far_as_it_is_known(files, rows):
    said = {test.generator: test.says for test in comparisons(scores_of(rows, ORDERED, _name(files)), causes(rows))}
    assert said["shuffler"].startswith(OUT_OF_ORDER)
    assert said["reporter"].startswith("less of real text’s order")
    assert said["reporter"].endswith(OTHER_WORDS)
    few = rows.copy()
    few["documents"] = few["documents"].clip(upper=99).astype("Int64")
    card = scores_of(few, ORDERED, _name(files))
    few_said = {test.generator: test.says for test in comparisons(card, causes(few))}
    assert few_said["shuffler"].endswith(TOO_FEW)
    turned = rows.copy()
    for column in ("ordered", "ci_low", "ci_high"):
        turned.loc[turned["generator"] == "shuffler", column] += 1000
    card = scores_of(turned, ORDERED, _name(files))
    assert next(t.says for t in comparisons(card, causes(turned)) if t.generator == "shuffler").startswith(HIGHER_SAYS)


def _name(files):
    return Names.of(files.samples).source


@pytest.mark.parametrize(
    ("low", "high", "named"),
    [
        (None, None, False),
        (math.nan, math.nan, False),
        (-2.0, 4.9, True),
        (-2.0, 5.0, False),
        (0.1, 4.9, False),
        (-3.0, -1.0, True),
    ],
)
def test_out_of_order_needs_no_order_in_common_and_half_of_real_texts_at_most(low, high, named):
    assert is_without_order(low, high, 10.0) is named


def test_pairs_are_those_that_stand_in_the_article(files, material):
    table = pair_rows(material)
    source = next(one for one in files.samples if one.generator == "shuffler")
    known = {article.id: article for article in read_articles(source.articles)}
    of_source = table[table["generator"] == "shuffler"]
    assert of_source["by"].is_monotonic_increasing
    assert len(of_source) == 5
    for row in of_source.to_dict("records"):
        sentences = [s for section in known[row["article"]].sections for s in split_sentences(section.text)]
        assert sentences[row["sentence"] - 1 : row["sentence"] + 1] == [row["first"], row["second"]]


def test_the_report_marks_the_weakest_pair(files, material, tmp_path):
    text = make_study(tmp_path, Made("order", files))
    assert {"order-values", "order-pairs", "order-left-out"} <= set(Page(text).ids)
    first = pair_rows(material).iloc[0]
    assert f"<mark>{first['first']}</mark> <mark>{first['second']}</mark>" in text
    facts = read_json(tmp_path / "order/section.json")
    assert next(one["says"] for one in facts["tests"] if one["generator"] == "shuffler").startswith(OUT_OF_ORDER)


def test_a_critic_is_the_same_from_its_file(tmp_path):
    rng = np.random.default_rng(1)
    write_articles(tmp_path / "train.parquet", articles(rng, "t", 20, LIFE, 0.2))
    fit_order(tmp_path / "train.parquet", tmp_path / "critic.npz")
    critic = OrderCritic.load(tmp_path / "critic.npz")
    score_order(critic, tmp_path / "train.parquet", tmp_path / "one.parquet")
    critic.save(tmp_path / "again.npz")
    score_order(OrderCritic.load(tmp_path / "again.npz"), tmp_path / "train.parquet", tmp_path / "two.parquet")
    one, two = (read_table(tmp_path / f"{name}.parquet") for name in ("one", "two"))
    assert one.equals(two)
    assert one.schema.equals(ORDER_SCHEMA)
    (tmp_path / "critic.npz").write_bytes(b"no critic")
    with pytest.raises(TextcriticError, match=r"critic\.npz: not a critic of the order of sentences"):
        OrderCritic.load(tmp_path / "critic.npz")


HOSTILE = {
    "empty": [""],
    "one": ["One sentence."],
    "in-two-sections": ["One sentence.", "Another one."],
    "two": ["It began. It ended."],
    "same": ["It is so. " * 12],
    "list": ["- one\n- two\n- three"],
    "verse": ["Roses are red\nViolets are blue\nSugar is sweet\nAnd so are you"],
    "unpunctuated": ["and so it goes on and on " * 200],
    "marks": ['? ! ... ?! " ( . ) . ; .'],
    "long": [" ".join(f"Sentence number {n} is here." for n in range(5000))],
    "breaks": ["He said\x85so.\u2028She\nsaid no. \x00 Nobody cared."],
    "scripts": ["我去。你来。他走了。", "Это дом. Он стар. В 1950 году его продали."],
}


def test_hostile_documents_are_scored_or_left_out_for_a_reason(tmp_path):
    rng = np.random.default_rng(2)
    write_articles(tmp_path / "train.parquet", articles(rng, "t", 40, LIFE, 0.2))
    fit_order(tmp_path / "train.parquet", tmp_path / "critic.npz")
    made = [
        Article(name, None, tuple(Section(None, text) for text in texts), "made up") for name, texts in HOSTILE.items()
    ]
    write_articles(tmp_path / "hostile.parquet", made)
    critic = OrderCritic.load(tmp_path / "critic.npz")
    score_order(critic, tmp_path / "hostile.parquet", tmp_path / "scores.parquet")
    scores = {row["id"]: row for row in read_table(tmp_path / "scores.parquet").to_pylist()}
    left_out = {name for name, row in scores.items() if row["rejected"]}
    assert {"empty", "one", "in-two-sections", "list", "verse", "unpunctuated"} <= left_out
    assert {scores[name]["why"] for name in left_out} == {TOO_SHORT}
    kept = [row for name, row in scores.items() if name not in left_out]
    assert all(np.isfinite([row["evidence"], row["own"], row["pair_evidence"]]).all() for row in kept)
    assert scores["long"]["sentences"] == 5000
    same = scores["same"]
    assert (same["evidence"], same["accuracy"]) == (pytest.approx(0, abs=1e-9), 0.5)


@pytest.mark.parametrize("texts", [["One."], ["One.", "Two."], [""]])
def test_text_without_order_is_refused_in_a_line(tmp_path, texts):
    write_articles(
        tmp_path / "train.parquet", [Article(f"{n}", None, (Section(None, t),), "x") for n, t in enumerate(texts)]
    )
    with pytest.raises(TextcriticError, match=r"train\.parquet: no document has two sentences in a section; there is"):
        fit_order(tmp_path / "train.parquet", tmp_path / "critic.npz")
    assert not (tmp_path / "critic.npz").exists()


def test_a_critic_of_one_document_scores(tmp_path):
    rng = np.random.default_rng(3)
    write_articles(tmp_path / "train.parquet", articles(rng, "t", 1, GAME, 0.0))
    fit_order(tmp_path / "train.parquet", tmp_path / "critic.npz")
    score_order(OrderCritic.load(tmp_path / "critic.npz"), tmp_path / "train.parquet", tmp_path / "scores.parquet")
    (row,) = read_table(tmp_path / "scores.parquet").to_pylist()
    assert row["evidence"] > 0
    assert row["own"] is None  # there is no other document
    assert pa.types.is_float64(read_table(tmp_path / "scores.parquet").schema.field("own").type)
