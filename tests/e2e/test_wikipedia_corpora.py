"""From a real dump to a corpus, its short articles and its films: `snakemake data`, as a user runs it."""

import json
import re
import sys
from functools import partial

import pyarrow.parquet as pq
import pytest
import snake
from samples import SMALL

DUMP = SMALL / "wikipedia" / "enwiki-sample.xml.bz2"
SPLITS = ("train", "validation", "test")
PAGES, ARTICLES = 170, 66

snakemake = partial(snake.snakemake, configfile="tests/wikipedia/config.yaml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("wikipedia")
    (place / DUMP.name).symlink_to(DUMP)
    run = snakemake(place, "data")
    assert run.returncode == 0, run.stderr[-4000:]
    return place


def statistics(folder, corpus):
    return json.loads((folder / f"results/corpora/{corpus}/statistics.json").read_text())


def articles(folder, corpus):
    return {split: pq.read_table(folder / f"results/corpora/{corpus}/{split}.parquet").to_pylist() for split in SPLITS}


def texts(article):
    return [section["text"] for section in article["sections"]]


def test_the_jobs_for_dumps_were_run(folder):
    ran = {path.name for path in (folder / "results/benchmarks").iterdir()}
    assert {"extract_wikipedia", "join_wikipedia", "build_corpus"} <= ran
    assert not {"fit_ngram", "train_classifier"} & ran


def test_every_page_of_the_dump_is_an_article_or_left_out_for_a_reason(folder):
    found = statistics(folder, "wiki-sample")
    assert found["extracted"] + sum(found["skipped"].values()) == PAGES
    assert found["extracted"] <= ARTICLES
    kept = sum(part["articles"] for part in found["splits"].values())
    assert kept + sum(found["rejected"].values()) == found["extracted"]
    assert not list((folder / "results/corpora/wiki-sample").rglob("*-of-2.*"))


def test_without_wordnet_nothing_is_extracted(tmp_path):
    (tmp_path / DUMP.name).symlink_to(DUMP)
    nowhere = {"NLTK_DATA": str(tmp_path), "HOME": str(tmp_path)}
    run = snakemake(tmp_path, "corpora/wiki-sample", python=sys.executable, **nowhere)
    assert run.returncode
    logs = "".join(path.read_text() for path in (tmp_path / "results/logs/extract_wikipedia/wiki-sample").iterdir())
    assert "python -m nltk.downloader wordnet" in logs
    assert not list((tmp_path / "results/corpora").rglob("*.parquet"))


def test_the_statistics_are_those_of_the_files(folder):
    for corpus in ("wiki-sample", "wiki-sample-short", "films-sample", "lines-sample"):
        found = statistics(folder, corpus)
        for split, part in articles(folder, corpus).items():
            sections = [text for article in part for text in texts(article)]
            expected = {"articles": len(part), "sections": len(sections)}
            assert found["splits"][split] == expected | {"tokens": sum(len(text.split()) for text in sections)}


def test_lines_are_split_by_number(folder):
    found = statistics(folder, "lines-sample")
    assert found["provenance"]["dump"]["pages"] == PAGES
    assert found["extracted"] > 820
    assert {split: len(part) for split, part in articles(folder, "lines-sample").items()} == {
        "train": 500,
        "validation": 20,
        "test": 300,
    }
    assert {len(article["sections"]) for article in articles(folder, "lines-sample")["test"]} == {1}
    assert {path.name for path in (folder / "results/benchmarks").iterdir()} >= {"extract_lines", "build_lines"}


def test_the_audit_of_both_kinds_of_corpora(folder):
    files = [f"results/corpora/{corpus}/audit.json" for corpus in ("wiki-sample", "lines-sample")]
    run = snakemake(folder, *files)
    assert run.returncode == 0, run.stderr[-4000:]
    for path in files:
        found = json.loads((folder / path).read_text())
        assert 40 < found["articles"] <= PAGES
        parser, formulas, templates = found["switches"]
        assert parser["differing"] < found["articles"] / 20
        assert formulas["words_other"] > formulas["words_here"]
        assert (templates["here"], templates["words_here"] > templates["words_other"]) == ("shown", True)


def test_no_markup_is_left(folder):
    everything = "\n".join(
        text for part in articles(folder, "wiki-sample").values() for article in part for text in texts(article)
    )
    assert {mark: everything.count(mark) for mark in ("[[", "{{", "<ref", "|-")} == dict.fromkeys(
        ("[[", "{{", "<ref", "|-"), 0
    )


def test_short_articles_and_films_are_chosen_from_the_same_splits(folder):
    base, short, films = (articles(folder, name) for name in ("wiki-sample", "wiki-sample-short", "films-sample"))
    for split in SPLITS:
        by_id = {article["id"]: article for article in base[split]}
        chosen = [a["id"] for a in base[split] if all(len(text.split()) <= 600 for text in texts(a))]
        assert {a["id"] for a in short[split]} <= set(chosen)
        assert all(article == by_id[article["id"]] for article in short[split])
        about = [a["id"] for a in base[split] if re.search("is a.*film", texts(a)[0], re.DOTALL)]
        assert [article["id"] for article in films[split]] == about
    found = statistics(folder, "films-sample")
    assert found["skipped"] == {"the opening does not match": sum(map(len, base.values())) - found["extracted"]}
    assert found["provenance"]["derived_from"] == "wiki-sample"
    assert any("(film)" in article["title"] for part in films.values() for article in part)


def test_a_second_run_has_nothing_to_do(folder):
    run = snake.dry_run(folder, "--cores", "2", "data", configfile="tests/wikipedia/config.yaml")
    assert run.returncode == 0
    assert "Nothing to be done" in run.stdout + run.stderr
