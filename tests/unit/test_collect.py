"""From raw draws to a sample: parsed, counted, and nothing silently left out."""

import json
from pathlib import Path

import pytest

from textcritic.corpora import Section, read_articles
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table
from textcritic.generators.collect import Limit, SampleFiles, collect_samples, import_samples
from textcritic.generators.shards import Draw, write_shard
from textcritic.plan.entries import Corpus, Decoding

DRAWS = [
    Draw(0, "Abstract: one two\n\nMethods : three", 9, "end"),
    Draw(1, "", 1, "end"),
    Draw(2, "no title here", 4, "end"),
    Draw(3, "a: b\n\n\n\nc: d", 8, "end"),
    Draw(4, "a: b and on and on", 12, "length"),
    Draw(5, "abstract: x", 5, "end"),
]

CORPUS = Corpus.read({"extractor": "jsonl", "titles": {"spelling": {"&": "and"}, "drop": ["see also"]}}, "test")


@pytest.fixture
def outputs(tmp_path: Path) -> tuple[Path, Path, Path]:
    return tmp_path / "demo.parquet", tmp_path / "demo.rejected.parquet", tmp_path / "demo.json"


def shards_of(folder: Path, *parts: list[Draw]) -> list[Path]:
    paths = [folder / "demo" / f"shard{number}.parquet" for number in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        write_shard(path, part)
    return paths


def test_with_titles_malformed_and_endless_draws_are_kept_apart(tmp_path, outputs):
    counts = collect_samples(
        shards_of(tmp_path, DRAWS[:2], DRAWS[2:]), "w-title", Limit(12), "gpt2-demo", SampleFiles(*outputs)
    )
    kept = read_articles(outputs[0])
    assert [article.id for article in kept] == ["gpt2-demo-000000", "gpt2-demo-000005"]
    assert kept[0].sections == (Section("abstract", "one two"), Section("methods", "three"))
    assert (kept[0].title, kept[0].source) == (None, "gpt2-demo")
    assert [(row["id"], row["text"], row["why"]) for row in read_table(outputs[1]).to_pylist()] == [
        ("gpt2-demo-000001", "", "empty"),
        ("gpt2-demo-000002", "no title here", "section without title"),
        ("gpt2-demo-000003", "a: b\n\n\n\nc: d", "empty section"),
        ("gpt2-demo-000004", "a: b and on and on", "no end within 12 tokens"),
    ]
    assert counts == read_json(outputs[2])
    assert counts == {
        "drawn": 6,
        "kept": 2,
        "rejected": {
            "empty": 1,
            "section without title": 1,
            "empty section": 1,
            "no end within 12 tokens": 1,
        },
        "tokens": 39,
        "unfinished": 0,
    }


def test_without_titles_sections_have_none(tmp_path, outputs):
    counts = collect_samples(shards_of(tmp_path, DRAWS), "wo-title", Limit(12), "g", SampleFiles(*outputs))
    kept = {article.id: article.sections for article in read_articles(outputs[0])}
    assert kept["g-000000"] == (Section(None, "Abstract: one two"), Section(None, "Methods : three"))
    assert counts["rejected"] == {"empty": 1, "no end within 12 tokens": 1}


def test_texts_that_did_not_end_are_kept_where_the_decoding_says_so(tmp_path, outputs):
    limit = Limit.of(Decoding(max_tokens=12, unfinished="keep"))
    counts = collect_samples(shards_of(tmp_path, DRAWS), "wo-title", limit, "g", SampleFiles(*outputs))
    kept = {article.id: article.sections for article in read_articles(outputs[0])}
    assert kept["g-000004"] == (Section(None, "a: b and on and on"),)
    assert counts == {"drawn": 6, "kept": 5, "rejected": {"empty": 1}, "tokens": 39, "unfinished": 1}
    malformed = [DRAWS[0], Draw(1, "no title here", 12, "length")]
    counts = collect_samples(shards_of(tmp_path, malformed), "w-title", limit, "g", SampleFiles(*outputs))
    assert counts["rejected"] == {"section without title": 1}
    assert counts["unfinished"] == 0


def test_a_sample_without_rejections_has_an_empty_table_of_them(tmp_path, outputs):
    collect_samples(shards_of(tmp_path, DRAWS[:1]), "w-title", Limit(12), "g", SampleFiles(*outputs))
    assert read_table(outputs[1]).num_rows == 0
    assert read_table(outputs[1]).column_names == ["id", "text", "why"]
    assert read_json(outputs[2])["rejected"] == {}


def test_nothing_is_written_when_every_article_is_rejected(tmp_path, outputs):
    with pytest.raises(TextcriticError, match=r"of 3 articles none can be used \(empty: 1, .*section without title: 1"):
        collect_samples(shards_of(tmp_path, DRAWS[1:4]), "w-title", Limit(12), "g", SampleFiles(*outputs))
    assert not any(path.exists() for path in outputs)


@pytest.mark.parametrize("shards", [2, 5])
def test_the_number_of_shards_changes_no_byte(tmp_path, outputs, shards):
    cut = [DRAWS[n * len(DRAWS) // shards : (n + 1) * len(DRAWS) // shards] for n in range(shards)]
    made = []
    for parts in ([DRAWS], cut):
        collect_samples(shards_of(tmp_path, *parts), "w-title", Limit(12), "gpt2-demo", SampleFiles(*outputs))
        made.append([path.read_bytes() for path in outputs])
    assert made[0] == made[1]


def test_an_article_in_two_shards(tmp_path, outputs):
    with pytest.raises(TextcriticError, match=r"shard1.parquet: article 1 was drawn in another shard too"):
        collect_samples(shards_of(tmp_path, DRAWS[:2], DRAWS[1:3]), "w-title", Limit(12), "g", SampleFiles(*outputs))


def test_a_missing_shard(tmp_path, outputs):
    with pytest.raises(TextcriticError, match=r"shard7.parquet: no such file"):
        collect_samples([tmp_path / "shard7.parquet"], "w-title", Limit(12), "g", SampleFiles(*outputs))


def test_imported_articles_have_the_same_outcome(tmp_path, outputs):
    lines = [
        {"id": "a", "sections": [{"title": " Abstract ", "text": " x \n y"}, {"text": "z"}], "source": "model"},
        {"id": "b", "sections": []},
        {"id": "c", "sections": [{"title": "abstract", "text": "x"}, {"title": "notes", "text": "  "}]},
    ]
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    counts = import_samples(path, "wo-title", CORPUS, SampleFiles(*outputs))
    (kept,) = read_articles(outputs[0])
    assert (kept.id, kept.source) == ("a", "model")
    assert [section.title for section in kept.sections] == ["abstract", None]
    assert counts == {
        "drawn": 3,
        "kept": 1,
        "rejected": {"empty": 1, "empty section": 1},
        "tokens": None,
        "unfinished": 0,
    }
    assert [row["why"] for row in read_table(outputs[1]).to_pylist()] == ["empty", "empty section"]


def test_an_import_with_a_fault_names_the_line(tmp_path, outputs):
    path = tmp_path / "own.jsonl"
    path.write_text('{"sections": [{"text": "x"}]}\n{"sections": \n')
    with pytest.raises(TextcriticError, match=r"own.jsonl:2: not JSON"):
        import_samples(path, "wo-title", CORPUS, SampleFiles(*outputs))
    assert not any(written.exists() for written in outputs)


def test_imported_titles_that_count_are_treated_as_the_corpus_treats_its_own(tmp_path, outputs):
    titles = {
        "a": ["1. Methods & Data:", "See Also", "RESULTS"],
        "b": ["methods", "2."],
        "c": ["methods", None],
        "d": ["see also", "SEE ALSO."],
        "e": ["see also", "notes"],
    }
    path = tmp_path / "own.jsonl"
    lines = [{"id": i, "sections": [{"title": t, "text": f"{t}?"} for t in ts]} for i, ts in titles.items()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    counts = import_samples(path, "w-title", CORPUS, SampleFiles(*outputs))
    kept = {article.id: article.sections for article in read_articles(outputs[0])}
    assert kept == {
        "a": (Section("methods and data", "1. Methods & Data:?"), Section("results", "RESULTS?")),
        "e": (Section("notes", "notes?"),),
    }
    why = {"section without title": 2, "only sections that the corpus leaves out": 1}
    assert counts == {"drawn": 5, "kept": 2, "rejected": why, "tokens": None, "unfinished": 0}
    assert [row["id"] for row in read_table(outputs[1]).to_pylist()] == ["b", "c", "d"]
