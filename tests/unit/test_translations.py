"""Samples of parallel corpora: which sentence each translates, what is rejected, and translations from a file."""

import gzip
import json

import pyarrow as pa
import pytest

from textcritic.corpora import Article, Section, read_articles, write_articles
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table, write_table
from textcritic.generators.collect import Limit, SampleFiles
from textcritic.generators.shards import Draw, write_shard
from textcritic.generators.translations import collect_translations, import_translations, sources_of

SOURCES = ["a cat", "two dogs"]


@pytest.fixture
def files(tmp_path):
    return SampleFiles(tmp_path / "s.parquet", tmp_path / "s.rejected.parquet", tmp_path / "s.json")


def imported(files):
    return [(article.id, article.title, article.sections[0].text) for article in read_articles(files.sample)]


def test_sentences_are_those_of_the_split_each_once(tmp_path):
    titles = ["two dogs", "a cat", "two dogs", "a cat", "one more"]
    articles = [Article(f"{n:06d}-de", title, (Section("de", "x"),), "s") for n, title in enumerate(titles)]
    write_articles(tmp_path / "test.parquet", articles)
    assert sources_of(tmp_path / "test.parquet") == ["two dogs", "a cat", "one more"]


@pytest.mark.parametrize(
    ("articles", "message"),
    [
        ([], r"test.parquet: holds no articles$"),
        ([Article("7", None, (Section(None, "x"),), "s")], r"test.parquet: article '7' has no title, the sentence it"),
    ],
)
def test_a_split_without_sentences(tmp_path, articles, message):
    write_articles(tmp_path / "test.parquet", articles)
    with pytest.raises(TextcriticError, match=message):
        sources_of(tmp_path / "test.parquet")


def test_draws_become_articles_with_their_sentences(tmp_path, files):
    write_shard(tmp_path / "a.parquet", [Draw(0, "eine  Katze", 3, "end"), Draw(1, "", 1, "end")])
    write_shard(tmp_path / "b.parquet", [Draw(2, "un chat", 3, "end"), Draw(3, "un perro un perro", 4, "length")])
    counts = collect_translations([tmp_path / "a.parquet", tmp_path / "b.parquet"], SOURCES, Limit(4), "nat", files)
    assert read_articles(files.sample) == [
        Article("nat-000000", "a cat", (Section(None, "eine Katze"),), "nat"),
        Article("nat-000002", "a cat", (Section(None, "un chat"),), "nat"),
    ]
    assert [(row["id"], row["why"]) for row in read_table(files.rejected).to_pylist()] == [
        ("nat-000001", "empty"),
        ("nat-000003", "no end within 4 tokens"),
    ]
    assert counts == {
        **{"drawn": 4, "kept": 2, "tokens": 11, "unfinished": 0},
        "rejected": {"empty": 1, "no end within 4 tokens": 1},
    }


def test_lines_are_in_the_order_of_the_sentences(tmp_path, files):
    given = tmp_path / "theirs.de"
    given.write_bytes("\ufeffeine\u2028Katze\r\n\nun chat\nzwei Hunde".encode())
    counts = import_translations(given, SOURCES, files)
    assert imported(files) == [
        ("line-1", "a cat", "eine Katze"),
        ("line-3", "a cat", "un chat"),
        ("line-4", "two dogs", "zwei Hunde"),
    ]
    assert read_articles(files.sample)[0].source == "theirs.de"
    assert counts == read_json(files.counts)
    assert counts == {"drawn": 4, "kept": 3, "rejected": {"empty": 1}, "tokens": None, "unfinished": 0}


def test_json_and_tables_name_the_sentence(tmp_path, files):
    rows = [{"source": "two dogs", "text": "zwei Hunde", "id": "x"}, {"source": "two dogs", "text": "deux chiens"}]
    with gzip.open(tmp_path / "theirs.jsonl.gz", "wt") as handle:
        handle.writelines(json.dumps(row) + "\n" for row in rows)
    expected = [("x", "two dogs", "zwei Hunde"), ("line-2", "two dogs", "deux chiens")]
    import_translations(tmp_path / "theirs.jsonl.gz", SOURCES, files)
    assert imported(files) == expected
    write_table(tmp_path / "theirs.parquet", pa.Table.from_pylist(rows))
    import_translations(tmp_path / "theirs.parquet", SOURCES, files)
    assert imported(files) == [expected[0], ("row-2", *expected[1][1:])]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "t.txt",
            "eins\n",
            r"t.txt: has 1 translations of the 2 distinct sentences of the test split; give one a line",
        ),
        ("t.txt", "eins\nzwei\ndrei\n", r"t.txt: has 3 translations of the 2 distinct"),
        ("t.txt", "", r"t.txt: has 0 translations"),
        ("t.txt", "\n\n", r"of 2 articles none can be used \(empty: 2\); give translations that are not empty"),
        ("t.txt", b"eins\n\xff\n", r"t.txt:2: not UTF-8"),
        ("t.jsonl", '{"text": "x"}\n{"txt": "x"}\n', r"t.jsonl:2: should be an object with `text`"),
        ("t.jsonl", "[1]\n", r"t.jsonl:1: should be an object with `text`"),
        ("t.jsonl", '{"text": 3}\n', r"t.jsonl:1: `text` is .*; it should be a string"),
        ("t.jsonl", '{"text": "x", "source": 3}\n', r"t.jsonl:1: `source` is .*; it should be a string or be left out"),
        (
            "t.jsonl",
            '{"text": "x", "source": "A cat"}\n',
            r"t.jsonl:1: `source` is no sentence of the test split: 'A cat'",
        ),
        ("t.jsonl", '{"text": "x", "id": "1"}\n' * 2, r"t.jsonl:2: id '1' was used at .*t.jsonl:1; give each its own"),
        (
            "t.jsonl",
            '{"text": "x", "source": "a cat"}\n{"text": "y"}\n',
            r"t.jsonl:2: give `source` everywhere or nowhere",
        ),
        ("t.jsonl", '{"text": "x"\n', r"t.jsonl:1: not JSON"),
    ],
)
def test_faults_of_a_file_name_its_line(tmp_path, files, name, content, message):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(TextcriticError, match=message) as refused:
        import_translations(tmp_path / name, SOURCES, files)
    assert "\n" not in str(refused.value)
    assert not files.sample.exists()


def test_a_file_that_is_not_there(tmp_path, files):
    with pytest.raises(TextcriticError, match=r"t.txt: no such file"):
        import_translations(tmp_path / "t.txt", SOURCES, files)
