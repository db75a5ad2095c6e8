import gzip
import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from samples import LARGE, SMALL, of_large

from textcritic.corpora import Section, build_corpus, extract_corpus, read_articles, words_of
from textcritic.corpora.readers.jsonl import UNEVEN, read_scientific
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.plan.entries import Corpus

sys.path.insert(0, str(Path(__file__).parents[1] / "scientific"))

from count import FILES, numbers_of, outlines_of, path_of, records_of

SIZES = {SMALL: {"arxiv": [24, 6, 7], "pubmed": [48, 10, 12]}, LARGE: {"arxiv": [30, 6, 7], "pubmed": [75, 16, 17]}}
SAMPLES = pytest.mark.parametrize("sample", [pytest.param(SMALL, id="small"), of_large(LARGE)])
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


def corpus_of(folder, paths, options=None, **changes):
    """Extract and build with the schema's defaults and `changes`; the splits and the statistics."""
    entry = {"extractor": "scientific", "options": {"paths": paths, **(options or {})}, **changes}
    spec = Corpus.read(entry, "a test")
    extract_corpus(spec, list(paths.values()), folder / "extracted.parquet", folder / "extracted.json")
    build_corpus(folder / "extracted.parquet", folder, spec, words_of)
    splits = {split: read_articles(folder / f"{split}.parquet") for split in paths}
    return splits, read_json(folder / "statistics.json")


def test_what_a_corpus_leaves_out_is_counted_by_reason(tmp_path):
    """Ids seen before, empty sections, titles that are only numbers, no sections, uneven records."""
    good = {**RECORD, "section_names": ["introduction", "results"]}
    records = {
        "train": [
            {**good, "article_id": "same"},
            {**good, "article_id": "same"},
            {**good, "article_id": "empty", "sections": [["a b ."], []]},
            {**good, "article_id": "blank", "sections": [["a b ."], ["", " "]]},
            {**good, "article_id": "number", "section_names": ["introduction", "2.1"]},
            {**good, "article_id": "untitled", "section_names": ["introduction", ""]},
            {**good, "article_id": "bare", "section_names": [], "sections": []},
            {**good, "article_id": "uneven", "sections": [["a b ."]]},
        ],
        "validation": [{**good, "article_id": "v"}],
        "test": [{**good, "article_id": "same"}, {**good, "article_id": "t"}],
    }
    paths = {split: str(file_of(tmp_path / f"{split}.txt", *found)) for split, found in records.items()}
    splits, found = corpus_of(tmp_path / "c", paths, sections={"minimum": 2, "minimum_tokens": 1})
    assert {split: [a.id for a in articles] for split, articles in splits.items()} == {
        "train": ["same"],
        "validation": ["v"],
        "test": ["t"],
    }
    assert found["skipped"] == {"article_id seen before": 2, UNEVEN: 1}
    assert found["rejected"] == {"a section too short": 2, "a section without title": 2, "too few sections": 1}
    assert found["extracted"] == 8


def test_a_file_may_be_gzipped_and_a_cut_one_is_named(tmp_path):
    whole = gzip.compress((json.dumps(RECORD) + "\n").encode() * 50)
    (tmp_path / "train.txt.gz").write_bytes(whole)
    assert len(list(read_scientific(tmp_path / "train.txt.gz"))) == 50
    (tmp_path / "train.txt.gz").write_bytes(whole[:-20])
    with pytest.raises(TextcriticError, match=r"train\.txt\.gz:\d+: the gzip data end early or are broken"):
        list(read_scientific(tmp_path / "train.txt.gz"))


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


@SAMPLES
@pytest.mark.parametrize("name", ["arxiv", "pubmed"])
def test_real_articles(name, sample):
    skipped = Counter()
    for split, size in zip(["train", "val", "test"], SIZES[sample][name], strict=True):
        path = path_of(sample / "scientific", name, split)
        articles = list(read_scientific(path, keep_abstract=True, skipped=skipped))
        assert len(articles) == size
        for article in articles:
            assert article.sections[0].title == "abstract"
            assert all("<S>" not in section.text and "\n\n" not in section.text for section in article.sections)
    assert not skipped


@pytest.mark.parametrize(
    ("sample", "name", "least"),
    [
        (SMALL, "arxiv", 1_000),
        (SMALL, "pubmed", 0),
        of_large(LARGE, "arxiv", 10_000, id="large-arxiv"),
        of_large(LARGE, "pubmed", 0, id="large-pubmed"),
    ],
)
def test_placeholders_stay_as_published(sample, name, least):
    """Every `@xmath12` and `@xcite` of the sections is in the extracted text, in the same order."""
    placeholder, found = re.compile(r"@x(?:math\d*|cite)"), 0
    folder = sample / "scientific"
    for split in ("train", "val", "test"):
        pairs = zip(records_of(folder, name, split), read_scientific(path_of(folder, name, split)), strict=True)
        for record, article in pairs:
            for sentences, section in zip(record["sections"], article.sections, strict=True):
                published = placeholder.findall(" ".join(sentences))
                assert placeholder.findall(section.text) == published
                found += len(published)
    assert found >= least


@SAMPLES
@pytest.mark.parametrize("keep_abstract", [False, True])
@pytest.mark.parametrize("name", ["arxiv", "pubmed"])
def test_statistics_equal_a_plain_count(tmp_path, name, keep_abstract, sample):
    """Table 11's numbers, counted once more from the published records."""
    folder = sample / "scientific"
    outlines = outlines_of(folder, name, longest=8000, least_count=2, keep_abstract=keep_abstract)
    limits = {"minimum": 2, "minimum_tokens": 5, "maximum_tokens": 8000, "minimum_title_count": 2}
    limits |= {"out_of_range": "drop-section", "rare_title": "drop-section"}
    paths = {split: str(path_of(folder, name, file)) for split, file in FILES.items()}
    _, found = corpus_of(tmp_path / name, paths, {"keep_abstract": keep_abstract}, sections=limits)
    expected = numbers_of(outlines)
    assert {key: found[key] for key in expected} == expected
    assert found["extracted"] == sum(SIZES[sample][name])
    assert found["extracted"] - sum(found["rejected"].values()) == sum(map(len, outlines.values()))
