"""Recitation in a study: rows, what is said of them, passages as they are written, and the rows of the section."""

from collections import Counter

import pytest
from report_html import Page
from report_jobs import Made, make_study

from experiments.recitation.tiny import BRIEF, UNREAD, build_recitation
from textcritic.corpora import read_articles
from textcritic.critics.recitation import LENGTHS, MAIN_LENGTH
from textcritic.errors import TextcriticError
from textcritic.experiments.recitation.rows import (
    RECITED,
    length_rows,
    passage_rows,
    quoted,
    recitation_rows,
    spans_of,
)
from textcritic.experiments.recitation.words import directions
from textcritic.files import read_json
from textcritic.measures.material import Material
from textcritic.measures.names import Names
from textcritic.measures.score import scores_of
from textcritic.plan.entries import Recitation
from textcritic.report.tables import read_rows


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return build_recitation(tmp_path_factory.mktemp("recitation"), generators=["parrot", "writer", "inventor", BRIEF])


@pytest.fixture(scope="module")
def material(files):
    return Material(files)


def words_of(article):
    return " ".join(section.text for section in article.sections).lower()


def cut(text):
    """The words of a text: marks are words of their own."""
    return [text[start:end].lower() for start, end in spans_of(text, Recitation(kind="recitation"))]


def shares_by_hand(articles, train, n):
    """(n-grams seen, all) of each document, by sets of Python."""

    def grams(article):
        words = cut(words_of(article))
        return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]

    known = {gram for article in train for gram in grams(article)}
    return [(sum(gram in known for gram in grams(article)), len(grams(article))) for article in articles]


@pytest.mark.parametrize("generator", ["data", "parrot", "writer"])
def test_shares_are_those_of_sets_of_n_grams(files, material, generator):
    rows = recitation_rows(material).set_index("generator")
    lengths = length_rows(material)
    source = next(one for one in (*files.data, *files.samples) if one.keys["generator"] == generator)
    train = read_articles(files.data[0].articles.parent / "train.parquet")
    for n in (4, MAIN_LENGTH, 16):
        counts = shares_by_hand(read_articles(source.articles), train, n)
        seen, every = map(sum, zip(*counts, strict=True))
        (row,) = lengths[(lengths["generator"] == generator) & (lengths["n"] == n)].to_dict("records")
        assert row["share"] == pytest.approx(100 * seen / every)
        assert row["ngrams"] == every
        if n == MAIN_LENGTH:
            assert rows.loc[generator, "recited"] == row["share"]
            assert rows.loc[generator, "ci_low"] == row["ci_low"] < row["share"] < row["ci_high"]


def test_a_parrot_is_above_real_text_an_inventor_below_and_a_like_writer_neither(material):
    rows = recitation_rows(material).set_index("generator")
    assert rows.loc["parrot", "recited"] > rows.loc["data", "recited"] > rows.loc["inventor", "recited"] == 0
    assert rows.loc[["parrot", "inventor"], "p_value"].max() < 0.02
    assert rows.loc["writer", "p_value"] > 0.05
    assert rows.loc["parrot", "longest"] > rows.loc["inventor", "longest"]
    assert rows["p_value"].isna().tolist() == [True, False, False, False, True]


def test_documents_without_so_many_words_are_counted_by_reason(material):
    rows = recitation_rows(material).set_index("generator")
    assert rows.loc[BRIEF, "rejected_by_reason"] == f"malformed: {UNREAD}; fewer than {MAIN_LENGTH} words: 30"
    assert rows.loc[BRIEF, "documents"] == 0
    lengths = length_rows(material)
    brief = lengths[lengths["generator"] == BRIEF]
    assert brief["n"].tolist() == list(LENGTHS)
    assert brief["share"].isna().all()
    assert (brief["documents"] == 0).all()


def test_a_passage_is_quoted_as_it_is_written_and_stands_in_the_training_document(files, material):
    rows = passage_rows(material)
    every = {a.id: a for one in (*files.data, *files.samples) for a in read_articles(one.articles)}
    train = {a.id: a for a in read_articles(files.data[0].articles.parent / "train.parquet")}
    for row in rows.to_dict("records"):
        text = "\n".join(section.text for section in every[row["article"]].sections)
        words, begin, end = cut(text), row["begin"], row["begin"] + row["words"]
        if row["words"] <= 80:
            assert row["before"] + row["passage"] + row["after"] in text
            assert cut(row["passage"]) == words[begin:end]
        of_train = cut("\n".join(section.text for section in train[row["train_article"]].sections))
        assert of_train[row["train_begin"] :][: row["words"]] == words[begin:end]
    assert Counter(rows["generator"])["parrot"] == 5
    parrot = rows[rows["generator"] == "parrot"]
    assert parrot["words"].is_monotonic_decreasing
    assert parrot["train_article"].is_unique


def test_long_passages_lose_their_middle():
    words = " ".join(f"w{n}" for n in range(300))
    found = quoted(words, 100, 150, Recitation(kind="recitation"))
    assert found["passage"].startswith("w100 w101 ")
    assert found["passage"].endswith(" w248 w249")
    assert len(found["passage"].split(" ")) == 81
    assert found["before"] == " ".join(f"w{n}" for n in range(85, 100)) + " "
    assert found["after"] == "".join(f" w{n}" for n in range(250, 265))


def test_the_section_says_who_recites_and_who_repeats_less_than_people(files, tmp_path):
    page = Page(make_study(tmp_path, Made("recitation", files)))
    assert {"recitation-values", "recitation-passages"} <= set(page.ids)
    findings = {one["about"]: one["says"] for one in read_json(tmp_path / "recitation/section.json")["findings"]}
    assert findings["a parrot"].endswith(
        "It recites: it repeats its training text more than people repeat one another."
    )
    assert "It repeats its training text less than people repeat one another." in findings["an inventor"]
    assert "a writer" not in findings
    assert findings["Longest passage"].split(" by ")[1].startswith("a parrot, in document parrot-wo-title-1-")


def test_where_a_sample_repeats_more_of_short_runs_and_less_of_long_ones_both_is_said(files, tmp_path):
    made = Made("recitation", files)
    made.tables(tmp_path)
    rows, lengths = (read_rows(tmp_path, name) for name in ("recitation", "recitation-lengths"))
    short = (lengths["generator"] == "inventor") & (lengths["n"] < 7)
    lengths.loc[short, ["ci_low", "ci_high"]] = 98.0, 99.0
    card = scores_of(rows, RECITED, Names.of(files.samples).source)
    says = {one.about: one.says for one in directions(card, lengths)}
    assert says["an inventor"].endswith("repeat one another. Of runs of 4 to 6 words it repeats more than people do.")
    assert says["a parrot"].endswith("repeat one another.")


def test_several_corpora_settings_and_seeds_have_rows_and_lines_of_their_own(tmp_path):
    files = build_recitation(
        tmp_path / "files",
        corpora=("first", "second"),
        generators=["parrot"],
        settings=("w-title", "wo-title"),
        seeds=(1, 2),
    )
    text = make_study(tmp_path / "study", Made("recitation", files))
    rows = read_rows(tmp_path / "study/recitation/tables", "recitation")
    assert rows.groupby("corpus").size().tolist() == [5, 5]
    assert rows["seeds"].dropna().unique().tolist() == [2]
    assert "first: 4" in text
    findings = [one["about"] for one in read_json(tmp_path / "study/recitation/section.json")["findings"]]
    assert "a parrot, with titles on second" in findings


def test_real_text_of_short_documents_is_refused_in_one_line(files, tmp_path):
    (brief,) = (sample for sample in files.samples if sample.generator == BRIEF)
    text = files.to_json().replace(str(files.data[0].scores), str(brief.scores))
    with pytest.raises(TextcriticError, match=r"scores\.parquet: no document could be scored \(malformed: 3; fewer"):
        recitation_rows(Material(type(files).from_json(text)))
