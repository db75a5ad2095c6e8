import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from textcritic.corpora import Article, Section, build_corpus, extract_corpus, read_articles, words_of, write_articles
from textcritic.corpora.extract import OPENING, read_derived
from textcritic.corpora.titles import Titles
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.plan.entries import Corpus
from textcritic.plan.entries.corpora import TitleOptions
from textcritic.plan.paths import Paths
from textcritic.plan.project import Project

ROOT = Path(__file__).parents[2]
SPLITS = ("train", "validation", "test")
FILMS = ".*is a.*film.*"
# Standardised again, `1990s` would lose its number, and `note` goes by default.
TITLES = ("abstract", "note", "us", "release in 1990s")


def article(number: int, opening: str, *lengths: int) -> Article:
    texts = [opening, *(" ".join(["word"] * length) for length in lengths)]
    sections = (Section(title, text) for title, text in zip(TITLES, texts, strict=False))
    return Article(f"a{number}", f"Title {number}", tuple(sections), "dump")


ARTICLES = [
    article(0, "Alien is a\nscience fiction film by R. Scott.", 3, 4),
    article(1, "Alien is an animal.", 3, 9),
    article(2, "It was a film.", 2, 3, 4),
    article(3, "This is a film .", 3, 30),
]


@pytest.fixture
def base(tmp_path, monkeypatch):
    """The splits of the corpus `base`, one shifted against the other, as built."""
    monkeypatch.chdir(tmp_path)
    for shift, split in enumerate(SPLITS):
        rows = [Article(f"{split}-{a.id}", a.title, a.sections, a.source) for a in ARTICLES[shift:] + ARTICLES[:shift]]
        write_articles(f"results/corpora/base/{split}.parquet", rows)
    return tmp_path


def derive(name, entry, base="base", **options):
    spec = Corpus.read({"extractor": "derived", "options": {"corpus": base, **options}, **entry}, name)
    folder = Path("results/corpora") / name
    inputs = [f"results/corpora/{base}/{split}.parquet" for split in SPLITS]
    extract_corpus(spec, inputs, folder / "extracted.parquet", folder / "extracted.json")
    build_corpus(folder / "extracted.parquet", folder, spec, words_of)
    return {split: read_articles(folder / f"{split}.parquet") for split in SPLITS}, read_json(
        folder / "statistics.json"
    )


LOOSE = {"sections": {"minimum": 1, "minimum_tokens": 1}}


def test_splits_titles_texts_and_order_are_the_base_s(base):
    splits, statistics = derive("same", LOOSE)
    for split in SPLITS:
        assert splits[split] == read_articles(f"results/corpora/base/{split}.parquet")
    assert statistics["provenance"]["derived_from"] == "base"
    assert statistics["rejected"] == statistics["skipped"] == statistics["dropped_sections"] == {}


def test_short_sections_are_those_of_a_plain_filter(base):
    limits = {"sections": {"minimum": 1, "minimum_tokens": 1, "maximum_tokens": 9}}
    splits, statistics = derive("short", limits)
    for split in SPLITS:
        whole = read_articles(f"results/corpora/base/{split}.parquet")
        assert splits[split] == [a for a in whole if all(len(s.text.split()) <= 9 for s in a.sections)]
    assert statistics["rejected"] == {"a section too long": 3}
    assert statistics["extracted"] == 12
    assert sum(part["articles"] for part in statistics["splits"].values()) == 9


def test_films_are_those_whose_first_section_matches(base):
    splits, statistics = derive("films", LOOSE, opening=FILMS)
    for split in SPLITS:
        assert sorted(a.id for a in splits[split]) == [f"{split}-a0", f"{split}-a3"]
    assert statistics["skipped"] == {OPENING: 6}
    assert statistics["extracted"] == 6


@pytest.mark.parametrize(
    ("opening", "kept"),
    [(None, "0123"), ("", "0123"), ("Alien", "01"), ("film", ""), (".*film", "023"), ("(?i).*FILM by", "0")],
)
def test_openings_match_from_the_beginning_of_the_first_section(base, opening, kept):
    skipped = Counter()
    found = list(read_derived(Path("results/corpora/base/train.parquet"), opening, skipped))
    assert "".join(a.id[-1] for a in found) == kept
    assert skipped[OPENING] == 4 - len(kept)


def test_a_corpus_derived_from_a_derived_one(base):
    derive("films", LOOSE, opening=FILMS)
    limits = {"sections": {"minimum": 1, "minimum_tokens": 1, "maximum_tokens": 9}}
    splits, statistics = derive("short-films", limits, base="films")
    assert [a.id for a in splits["test"]] == ["test-a0"]
    assert statistics["provenance"]["derived_from"] == "films"
    assert statistics["extracted"] == 6


def test_the_titles_are_such_that_standardising_them_again_would_do_harm():
    """What the first test above shows is not trivial."""
    titles = Titles(TitleOptions())
    assert titles.standardise("release in 1990s") != "release in 1990s"
    assert "note" in titles.drop


def test_nothing_that_matches_is_one_clear_line(base):
    with pytest.raises(TextcriticError, match=rf"'derived': found no article \(skipped: .*{OPENING}.*12"):
        derive("none", LOOSE, opening="opera")
    assert not Path("results/corpora/none").exists() or list(Path("results/corpora/none").iterdir()) == []


def test_a_base_that_is_not_whole_is_named(base):
    path = Path("results/corpora/base/test.parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(TextcriticError, match=r"results/corpora/base/test\.parquet: not whole Parquet"):
        derive("same", LOOSE)
    path.unlink()
    with pytest.raises(TextcriticError, match=r"results/corpora/base/test\.parquet: no such file"):
        derive("same", LOOSE)


def project(folder, corpora, **config):
    (folder / "registry").mkdir(exist_ok=True)
    (folder / "registry/corpora.yaml").write_text(yaml.safe_dump(corpora))
    settings = {"studies": ["demo"], "registry_folders": ["config/registry", "registry"], **config}
    return Project(settings, ROOT, folder)


def derived(base, **options):
    return {"extractor": "derived", "options": {"corpus": base, **options}}


@pytest.mark.parametrize(
    ("corpora", "message"),
    [
        ({"d": derived("docstringss")}, r"d: .*has no entry 'docstringss'; did you mean 'docstrings'\?"),
        ({"d": derived("process")}, "d: options.corpus: process is a process and has no sections"),
        ({"d": derived("d")}, "d: options.corpus: d derives from d; name a corpus that does not derive from it"),
        ({"a": derived("b"), "b": derived("a")}, "a: options.corpus: a derives from b derives from a; name"),
        ({"a": derived("b"), "b": derived("c"), "c": derived("b")}, "a: options.corpus: a derives from b derives from"),
        ({"a": derived("b"), "b": derived("process")}, "a: options.corpus: process is a process"),
        ({"d": {"extractor": "derived"}}, "d: options.corpus is missing; name the corpus"),
        ({"d": derived(["docstrings"])}, r"options.corpus: \['docstrings'\] should be text"),
        ({"d": derived("docstrings", opening=3)}, "options.opening: 3 should be text or null"),
        (
            {"d": derived("docstrings", opening="(a")},
            r"d: options.opening: '\(a' is not a regular expression \(missing",
        ),
        (
            {"d": derived("docstrings", paths=["x"])},
            "d: options.paths: has no effect on a derived corpus, whose .* doc",
        ),
        ({"d": derived("docstrings", keep_abstract=True)}, "d: options.keep_abstract: has no effect"),
        ({"d": {**derived("docstrings"), "titles": {"drop": []}}}, "d: titles: has no effect on a derived corpus"),
        ({"d": {**derived("docstrings"), "splits": {"seed": 2}}}, "d: splits: has no effect on a derived corpus"),
        ({"d": {"extractor": "docstrings", "options": {"opening": "x"}}}, "d: options.opening: is for the extractor d"),
        ({"d": {"extractor": "docstrings", "options": {"corpus": "docstrings"}}}, "d: options.corpus: is for the extr"),
    ],
)
def test_faults_at_configuration_time(tmp_path, corpora, message):
    with pytest.raises(TextcriticError, match=message) as caught:
        project(tmp_path, corpora)
    assert "\n" not in str(caught.value)


def test_the_base_s_splits_are_the_inputs_and_the_manifest_records_all_bases(tmp_path):
    corpora = {"short": derived("pubmed"), "my-films": derived("short", opening=FILMS)}
    (tmp_path / "studies").mkdir()
    block = {"corpora": ["my-films"], "settings": ["wo-title"], "generators": ["ngram-3"], "decodings": ["ancestral"]}
    study = {"title": "Own", "experiments": [{"kind": "coherence", "critic": "transitions-demo", "sources": [block]}]}
    (tmp_path / "studies/own.yaml").write_text(yaml.safe_dump(study))
    found = project(tmp_path, corpora, studies=["own"], study_folders=["studies"])
    assert Paths(found).corpus("my-films") == [f"results/corpora/short/{split}.parquet" for split in SPLITS]
    used = found.describe("own")["registry"]
    assert sorted(used["corpora"]) == ["my-films", "pubmed", "short"]
    assert sorted(used["downloads"]) == ["pubmed"]
    assert sorted(used["hub"]) == ["gpt2"]
    assert json.loads(found.registries.spec("corpora", "my-films", "options"))["options"]["opening"] == FILMS


def test_the_shipped_films_are_the_paper_s():
    corpora = Project({"studies": ["demo"]}, ROOT).registries.entries["corpora"]
    assert corpora["films"].options.opening == FILMS
    assert corpora["wiki-short"].sections.maximum_tokens == 500
    assert re.match(FILMS, "The Room is an American\ndrama film", re.DOTALL)
