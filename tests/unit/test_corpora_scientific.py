import json
from collections import Counter
from pathlib import Path

import pytest

from textcritic.corpora import Section
from textcritic.corpora.scientific import UNEVEN, read_scientific
from textcritic.errors import TextcriticError

DATA = Path(__file__).parents[3] / "shared" / "data" / "scientific"
RECORD = {
    "article_id": "p1",
    "abstract_text": ["<S> we study x . </S>", "<S> it holds . </S>"],
    "article_text": ["a b .", "c d ."],
    "labels": None,
    "section_names": ["introduction", "1 results"],
    "sections": [["a b .", "", " c d ."], ["e ."]],
}


def file_of(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_sections_are_joined_sentences(tmp_path):
    path = file_of(tmp_path / "train.txt", RECORD)
    (article,) = read_scientific(path)
    assert (article.id, article.title, article.source) == ("p1", None, "train.txt")
    assert article.sections == (Section("introduction", "a b . c d ."), Section("1 results", "e ."))
    (with_abstract,) = read_scientific(path, keep_abstract=True)
    assert with_abstract.sections == (Section("abstract", "we study x . it holds ."), *article.sections)


def test_uneven_records_are_counted_and_left_out(tmp_path):
    skipped = Counter()
    path = file_of(tmp_path / "val.txt", {**RECORD, "section_names": ["introduction"]}, {**RECORD, "article_id": "p2"})
    assert [article.id for article in read_scientific(path, skipped=skipped)] == ["p2"]
    assert skipped == {UNEVEN: 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"section_names": None}, "`section_names` is missing or not a list of strings"),
        ({"sections": ["a b ."] * 2}, "`sections` is missing or not a list of lists of strings"),
        ({"article_id": 3}, "`article_id` is missing or not a string"),
        ({"abstract_text": "x"}, "`abstract_text` is missing or not a list of strings"),
    ],
)
def test_faults_name_file_and_line(tmp_path, change, message):
    path = file_of(tmp_path / "test.txt", RECORD, {**RECORD, **change})
    with pytest.raises(TextcriticError, match=r"test\.txt:2: " + message):
        list(read_scientific(path, keep_abstract=True))


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the articles in {DATA} are not there")
@pytest.mark.parametrize(("name", "sizes"), [("arxiv", [30, 6, 7]), ("pubmed", [75, 16, 17])])
def test_real_articles(name, sizes):
    skipped = Counter()
    for split, size in zip(["train", "val", "test"], sizes, strict=True):
        articles = list(read_scientific(DATA / f"{name}.{split}.txt", keep_abstract=True, skipped=skipped))
        assert len(articles) == size
        for article in articles:
            assert article.sections[0].title == "abstract"
            assert all("<S>" not in section.text and "\n\n" not in section.text for section in article.sections)
    assert not skipped
