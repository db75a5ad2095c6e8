import json
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from samples import LARGE, SMALL, of_large

from textcritic.corpora import Article, Section, build_corpus, extract_corpus, read_articles, words_of, write_articles
from textcritic.corpora.build import corpus_statistics
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.plan.checks.corpora import given_paths
from textcritic.plan.entries import Corpus

SPLITS = ("train", "validation", "test")


def spec(**sections) -> Corpus:
    entry = {
        "extractor": "jsonl",
        "splits": {"validation": 0.2, "test": 0.2},
        "titles": {"drop": ["references"]},
        "sections": {"minimum": 2, "minimum_tokens": 1, "maximum_tokens": 100, **sections},
    }
    return Corpus.read(entry, "test")


def reading(kind: str = "jsonl", **options) -> Corpus:
    return Corpus.read({"extractor": kind, "options": options}, "test")


def write_jsonl(path: Path, articles: list[dict[str, str]]) -> str:
    """Each article is {title: text}; its id is its position."""
    lines = [
        json.dumps({"id": f"{path.stem}{n}", "sections": [{"title": t, "text": x} for t, x in sections.items()]})
        for n, sections in enumerate(articles)
    ]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def build(tmp_path: Path, paths, settings: Corpus) -> tuple[dict[str, list[Article]], dict]:
    """Extract and build corpus `tiny`; the splits and the statistics."""
    folder = tmp_path / "tiny"
    inputs = list(paths.values()) if isinstance(paths, dict) else paths
    extract_corpus(reading(paths=paths), inputs, folder / "extracted.parquet", folder / "extracted.json")
    build_corpus(folder / "extracted.parquet", folder, settings, words_of)
    return {split: read_articles(folder / f"{split}.parquet") for split in SPLITS}, read_json(
        folder / "statistics.json"
    )


def given(tmp_path: Path, train: list[dict], validation: list[dict], test: list[dict]) -> dict[str, str]:
    parts = {"test": test, "train": train, "validation": validation}
    return {split: write_jsonl(tmp_path / f"{split}.jsonl", articles) for split, articles in parts.items()}


PLAIN = {"Plot": "a b", "Cast": "c"}


def test_statistics_of_a_hand_computed_corpus(tmp_path):
    train = [
        {"1. Plot": "a b c", "Cast": "d", "References": "x"},
        {"plot": "a", "cast:": "b c", "Reception": "e f g h"},
        {"plot": "only one section"},
    ]
    paths = given(tmp_path, train, [{"cast": "a a a a a", "plot": "b"}], [{"plot": "a", "music": "b"}, PLAIN])
    splits, statistics = build(tmp_path, paths, spec())
    assert splits["train"][0].sections == (Section("plot", "a b c"), Section("cast", "d"))
    assert [article.id for article in splits["test"]] == ["test1"]
    assert statistics["corpus"] == "tiny"
    assert statistics["length_unit"] == "words"
    assert statistics["splits"] == {
        "train": {"articles": 2, "sections": 5, "tokens": 11},
        "validation": {"articles": 1, "sections": 2, "tokens": 6},
        "test": {"articles": 1, "sections": 2, "tokens": 3},
    }
    assert statistics["titles"] == {"cast": 2, "plot": 2, "reception": 1}
    assert statistics["section_types"] == 3
    assert statistics["median_sections"] == 2
    assert statistics["median_section_length"] == 2  # of 1 1 1 1 2 2 3 4 5
    assert statistics["max_section_length"] == 5
    assert statistics["rejected"] == {"too few sections": 1, "a title too rare in train": 1}
    assert statistics["dropped_sections"] == {"title in titles.drop": 1}
    assert statistics["extracted"] == 6
    assert len(statistics["provenance"]["harvest_sha256"]) == 64
    assert statistics["provenance"]["sources"] == {"test.jsonl": 2, "train.jsonl": 3, "validation.jsonl": 1}


def test_medians_pool_all_splits():
    outline = (("a", "b"), (1, 10))
    found = corpus_statistics({"train": [outline], "validation": [outline], "test": [(("a",) * 4, (2, 3, 4, 5))]})
    assert (found["median_sections"], found["median_section_length"], found["max_section_length"]) == (2, 3.5, 10)


def test_a_rare_title_in_test_alone_is_no_reason_to_lower_the_least_possible(tmp_path):
    paths = given(tmp_path, [PLAIN] * 3, [PLAIN], [{"a": "b", "c": "d"}])
    with pytest.raises(TextcriticError, match=r"too rare in train 1; set sections\.rare_title to drop-section$"):
        build(tmp_path, paths, spec())


def test_empty_sections_may_go_without_their_articles(tmp_path):
    box, short = {**PLAIN, "Box": ""}, {"Plot": "a b", "Cast": "c", "Box": ""}
    articles = [box, {"Plot": "a b", "Box": ""}, {**short, "Plot": "a " * 5}, PLAIN]
    paths = given(tmp_path, articles, [box], [PLAIN])
    splits, statistics = build(tmp_path, paths, spec(maximum_tokens=4, out_of_range="drop-empty"))
    assert [[section.title for section in article.sections] for article in splits["train"]] == [["plot", "cast"]] * 2
    assert len(splits["validation"]) == 1
    assert statistics["dropped_sections"] == {"a section without text": 4}
    assert statistics["rejected"] == {"too few sections": 1, "a section too long": 1}


@pytest.mark.parametrize(
    ("text", "unit", "warned"),
    [
        ("これは日本語の文章です。単語の間に空白はありません。", "words", True),
        ("这是一个没有空格的句子。", "words", True),
        ("ภาษาไทยไม่มีช่องว่างระหว่างคำ", "words", True),
        ("これは日本語の文章です。", "gpt2", False),
        ("한국어는 띄어쓰기를 한다", "words", False),
        ("the name 東京 means eastern capital", "words", False),
    ],
)
def test_words_of_a_text_without_spaces_are_warned_of_once(text, unit, warned, tmp_path, caplog):
    path = write_jsonl(tmp_path / "own.jsonl", [{"plot": text, "cast": text}] * 10)
    build(tmp_path, [path], spec(length_unit=unit))
    assert caplog.text.count("tiny: sections.length_unit is words, split at white space") == warned


def test_sections_out_of_range(tmp_path):
    odd = [PLAIN, {"plot": "a b", "cast": "c d", "music": "e"}, {"plot": "a b", "cast": "c d", "music": "e f g h i"}]
    odd.append({"plot": "a b", "cast": "c d"})
    paths = given(tmp_path, odd, [{"plot": "a b", "cast": "c d"}], [{"plot": "a b", "cast": "c d"}])
    splits, statistics = build(tmp_path, paths, spec(minimum_tokens=2, maximum_tokens=4))
    assert [article.id for article in splits["train"]] == ["train3"]
    assert statistics["rejected"] == {"a section too short": 2, "a section too long": 1}
    splits, statistics = build(tmp_path, paths, spec(minimum_tokens=2, maximum_tokens=4, out_of_range="drop-section"))
    assert [article.id for article in splits["train"]] == ["train1", "train2", "train3"]
    assert all([section.title for section in article.sections] == ["plot", "cast"] for article in splits["train"])
    assert statistics["rejected"] == {"too few sections": 1}
    assert statistics["dropped_sections"] == {"a section too short": 2, "a section too long": 1}


def test_rare_titles_are_counted_once_and_in_train_only(tmp_path):
    """Removing the article with the rare title leaves `cast` with one section; as published, it stays."""
    train = [{"plot": "a", "cast": "b"}, {"plot": "a", "cast": "b", "rare": "c"}, {"plot": "a", "plot.": "b"}]
    other = [{"plot": "a", "cast": "b"}, {"plot": "a", "rare": "b", "rare.": "b"}]
    splits, statistics = build(tmp_path, given(tmp_path, train, other, other), spec(minimum_title_count=2))
    assert [[article.id for article in splits[split]] for split in SPLITS] == [
        ["train0", "train2"],
        ["validation0"],
        ["test0"],
    ]
    assert statistics["titles"] == {"plot": 3, "cast": 1}
    assert statistics["rejected"] == {"a title too rare in train": 3}


def test_sections_with_rare_titles_may_go_alone(tmp_path):
    """`rare_title: drop-section`: the rest of the article stays if that is enough of it; titles are counted once."""
    train = [{"plot": "a", "cast": "b"}, {"plot": "a", "rare": "b b", "cast": "c"}, {"plot": "a", "odd": "b"}]
    other = [{"rare": "a", "plot": "b", "cast": "c c c"}, {"plot": "a", "unknown": "b"}]
    limits = {"minimum_title_count": 2, "rare_title": "drop-section"}
    splits, statistics = build(tmp_path, given(tmp_path, train, other, other), spec(**limits))
    for split, ids in zip(SPLITS, (["train0", "train1"], ["validation0"], ["test0"]), strict=True):
        assert [article.id for article in splits[split]] == ids
        assert all([s.title for s in article.sections] == ["plot", "cast"] for article in splits[split])
    assert [s.text for s in splits["test"][0].sections] == ["b", "c c c"]
    assert statistics["titles"] == {"cast": 2, "plot": 2}
    assert statistics["splits"]["test"] == {"articles": 1, "sections": 2, "tokens": 4}
    assert statistics["rejected"] == {"too few sections": 3}
    assert statistics["dropped_sections"] == {"a title too rare in train": 6}


def test_articles_without_titles_are_given_one(tmp_path):
    path = tmp_path / "bare.jsonl"
    sections = [[{"text": "a b"}, {"title": "Plot", "text": "c"}], [{"text": "d"}]]
    path.write_text("".join(json.dumps({"sections": both}) + "\n" for both in sections))
    out = tmp_path / "extracted.parquet", tmp_path / "extracted.json"
    for title, expected in (("text", [["text", "text"], ["text"]]), (None, [[None, "Plot"], [None]])):
        options = {"only_title": title} if title else {}
        extract_corpus(reading(paths=[str(path)], **options), [path], *out)
        articles = pq.read_table(out[0])["sections"].to_pylist()
        assert [[section["title"] for section in article] for article in articles] == expected
        assert [[section["text"] for section in article] for article in articles] == [["a b", "c"], ["d"]]


def test_random_splits_are_a_seeded_partition(tmp_path):
    path = write_jsonl(tmp_path / "own.jsonl", [PLAIN] * 50)
    splits, _ = build(tmp_path, [path], spec())
    assert [len(splits[split]) for split in SPLITS] == [30, 10, 10]
    ids = {split: [article.id for article in splits[split]] for split in SPLITS}
    assert sorted(name for members in ids.values() for name in members) == sorted(f"own{n}" for n in range(50))
    assert all(members == sorted(members, key=lambda name: int(name[3:])) for members in ids.values())
    again, _ = build(tmp_path, [path], spec())
    assert again == splits
    other, _ = build(tmp_path, [path], spec().changed(splits={"validation": 0.2, "test": 0.2, "seed": 2}))
    assert other["train"] != splits["train"]


def grouped(tmp_path, groups, name="grouped"):
    lines = [{"group": group, "sections": [{"title": "Plot", "text": "a"}] * 2} for group in groups]
    path = tmp_path / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_documents_of_a_group_stay_in_one_split_and_keep_its_name(tmp_path):
    groups = [f"book {n // 5}" if n < 150 else None for n in range(200)]
    splits, _ = build(tmp_path, [grouped(tmp_path, groups)], spec())
    assert {split: len(articles) for split, articles in splits.items()} == {"train": 120, "validation": 40, "test": 40}
    names = [{article.group for article in articles} - {None} for articles in splits.values()]
    assert all(names)
    assert sum(map(len, names)) == len(set.union(*names)) == 30
    assert {article.id: article.group for articles in splits.values() for article in articles} == {
        f"line-{n}": group for n, group in enumerate(groups, start=1)
    }


def test_large_groups_are_one_line(tmp_path, caplog):
    message = "splits: group 'a' has 60 of 100 documents, and a group stays in one split, so that one split is empty"
    with pytest.raises(TextcriticError, match=message):
        build(tmp_path, [grouped(tmp_path, ["a"] * 60 + ["b"] * 40)], spec())
    splits, _ = build(tmp_path, [grouped(tmp_path, ["a"] * 60 + [None] * 40)], spec())
    assert {article.group for article in splits["train"]} == {"a"}
    assert "group 'a' has 60 of 100 documents" in caplog.text


def test_given_splits_that_share_a_group_are_said(tmp_path, caplog):
    paths = {split: grouped(tmp_path, ["a", split], name=split) for split in SPLITS}
    build(tmp_path, paths, spec())
    assert "given splits: 1 groups have documents in several, such as 'a'" in caplog.text


def test_each_random_split_has_its_own_share(tmp_path):
    path = write_jsonl(tmp_path / "own.jsonl", [PLAIN] * 50)
    splits, _ = build(tmp_path, [path], spec().changed(splits={"validation": 0.1, "test": 0.33}))
    assert {split: len(splits[split]) for split in SPLITS} == {"train": 29, "validation": 5, "test": 16}  # 16.5 is even


def test_articles_beyond_one_row_group_keep_their_own_sections(tmp_path):
    articles = [{"plot": f"text {n}", "cast": f"cast {n}"} if n % 3 else {"plot": "short"} for n in range(10_000)]
    splits, statistics = build(tmp_path, [write_jsonl(tmp_path / "own.jsonl", articles)], spec())
    kept = [article for members in splits.values() for article in members]
    assert len(kept) == 10_000 - 3_334 == statistics["extracted"] - statistics["rejected"]["too few sections"]
    for article in kept:
        number = article.id[3:]
        assert article.sections == (Section("plot", f"text {number}"), Section("cast", f"cast {number}"))


@pytest.mark.parametrize(
    ("articles", "sections", "message"),
    [
        (
            [PLAIN] * 10,
            {"minimum": 3},
            "no article is left in train, validation, test; .*too few sections 10; lower sections.minimum",
        ),
        ([PLAIN] * 10, {"minimum_tokens": 2}, "a section too short 10; lower sections.minimum_tokens"),
        (
            [{**PLAIN, "Box": ""}] * 10,
            {},
            "a section too short 10; set sections.out_of_range to drop-empty, so that sections without text go",
        ),
        (
            [{"Plot": ""}] * 10,
            {"minimum": 1, "out_of_range": "drop-empty"},
            "too few sections 10; give articles with sections",
        ),
        ([PLAIN] * 10, {"maximum_tokens": 1}, "a section too long 10; raise sections.maximum_tokens"),
        ([PLAIN] * 10, {"minimum_title_count": 7}, "a title too rare in train 10; lower sections.minimum_title_count"),
        ([{"1": "a", "2": "b"}] * 10, {}, "a section without title 10; give every section a title"),
        ([PLAIN] * 2, {}, "no article is left in validation, test; articles rejected: none; give more articles"),
    ],
)
def test_a_corpus_that_cannot_be_is_explained(tmp_path, articles, sections, message):
    path = write_jsonl(tmp_path / "own.jsonl", articles)
    with pytest.raises(TextcriticError, match=r"corpus 'tiny': .*" + message):
        build(tmp_path, [path], spec(**sections))
    assert not (tmp_path / "tiny" / "statistics.json").exists()


def test_one_section_type_is_enough(tmp_path):
    """Critics of section order need more, and say so; those of who is who, or of topics, do not."""
    path = write_jsonl(tmp_path / "own.jsonl", [{"Plot": "a"}] * 10)
    build(tmp_path, [path], spec(minimum=1))
    assert read_json(tmp_path / "tiny" / "statistics.json")["section_types"] == 1


def test_shares_that_leave_no_train_split(tmp_path):
    path = write_jsonl(tmp_path / "own.jsonl", [PLAIN] * 10)
    with pytest.raises(TextcriticError, match="splits: validation and test together should be less than 1"):
        build(tmp_path, [path], spec().changed(splits={"validation": 0.5, "test": 0.5}))


def test_the_length_unit_is_the_caller_s(tmp_path):
    folder, path = tmp_path / "tiny", write_jsonl(tmp_path / "own.jsonl", [PLAIN] * 10)
    extract_corpus(reading(paths=[path]), [path], folder / "extracted.parquet", folder / "extracted.json")
    build_corpus(folder / "extracted.parquet", folder, spec(), lambda texts: [len(text) for text in texts])
    assert read_json(folder / "statistics.json")["max_section_length"] == len("a b")


def test_extraction_report_and_ids_of_several_files(tmp_path):
    first, second = (tmp_path / name for name in ("a.jsonl", "b.jsonl"))
    for path in (first, second):
        path.write_text('{"sections": [{"text": "x"}]}\n')
    paths = [str(first), str(second)]
    extract_corpus(reading(paths=paths), paths, tmp_path / "e.parquet", tmp_path / "e.json")
    assert [article.id for article in read_articles(tmp_path / "e.parquet")] == ["a.jsonl:line-1", "b.jsonl:line-1"]
    report = read_json(tmp_path / "e.json")
    assert (report["extractor"], report["articles"], report["sections"], report["skipped"]) == ("jsonl", 2, 2, {})


def test_given_paths_come_in_the_order_of_the_splits():
    corpus = reading(paths={"test": "c", "train": "a", "validation": "b"})
    assert given_paths(corpus.options) == [("train", Path("a")), ("validation", Path("b")), ("test", Path("c"))]


@pytest.mark.parametrize(
    ("kind", "options", "inputs", "message"),
    [
        ("trees", {}, [], "extractor 'trees': is not one of bible, conll, derived, docstrings, jsonl, scientific"),
        ("jsonl", {}, [], "extractor 'jsonl': options.paths is missing"),
        ("scientific", {}, [], "extractor 'scientific': options.paths is missing"),
        ("jsonl", {"paths": ["a.jsonl"]}, ["b.jsonl"], "but the rule was given"),
        ("jsonl", {"paths": ["a.jsonl"]}, ["a.jsonl"], "a.jsonl: no such file"),
        ("docstrings", {"packages": []}, [], "extractor 'docstrings': found no article"),
    ],
)
def test_extraction_faults(tmp_path, kind, options, inputs, message):
    with pytest.raises(TextcriticError, match=message):
        extract_corpus(reading(kind, **options), inputs, tmp_path / "e.parquet", tmp_path / "e.json")
    assert list(tmp_path.iterdir()) == []


def test_an_id_in_two_files_is_a_fault(tmp_path):
    paths = given(tmp_path, [PLAIN], [PLAIN], [PLAIN])
    for path in paths.values():
        Path(path).write_text('{"id": "same", "sections": [{"text": "x"}]}\n')
    with pytest.raises(TextcriticError, match=r"validation\.jsonl: id 'same' occurs twice in the corpus"):
        build(tmp_path, paths, spec())


def test_a_corpus_file_in_place_of_an_extracted_one(tmp_path):
    write_articles(tmp_path / "extracted.parquet", [])
    (tmp_path / "extracted.json").write_text("{}")
    with pytest.raises(TextcriticError, match=r"extracted\.parquet: column 'split' should be string"):
        build_corpus(tmp_path / "extracted.parquet", tmp_path / "tiny", spec(), words_of)


@pytest.mark.parametrize(
    ("sample", "suffix", "size", "shortest"),
    [pytest.param(SMALL, ".gz", 70, 5, id="small"), of_large(LARGE, "", 108, 30)],
)
def test_real_articles_as_the_paper_prepares_them(tmp_path, sample, suffix, size, shortest):
    """PubMed-style articles, lemmatised titles, official splits, the paper's filters for so few articles."""
    names = {"train": "train", "validation": "val", "test": "test"}
    paths = {split: str(sample / f"scientific/pubmed.{name}.txt{suffix}") for split, name in names.items()}
    settings = spec(minimum=3, minimum_tokens=shortest, maximum_tokens=20_000, minimum_title_count=5)
    settings = settings.changed(titles={"lemmatise": True, "drop": ["references"]})
    folder = tmp_path / "p"
    corpus = reading("scientific", paths=paths)
    extract_corpus(corpus, list(paths.values()), folder / "extracted.parquet", folder / "extracted.json")
    build_corpus(folder / "extracted.parquet", folder, settings, words_of)
    statistics = read_json(folder / "statistics.json")
    splits = {split: read_articles(folder / f"{split}.parquet") for split in SPLITS}
    kept = sum(len(articles) for articles in splits.values())
    assert kept + sum(statistics["rejected"].values()) == statistics["extracted"] == size
    counts = Counter(section.title for article in splits["train"] for section in article.sections)
    assert counts == statistics["titles"]
    assert {"introduction", "result", "discussion", "material and method"} <= set(counts)
    assert {article.source for article in splits["test"]} == {f"pubmed.test.txt{suffix}"}
