"""The whole coherence study on real scientific articles, from the published files to the report, as a user runs it."""

import csv
import json
import math
import sys
from functools import partial

import pyarrow.parquet as pq
import pytest
import snake
from nltk.stem import WordNetLemmatizer
from samples import SMALL

sys.path.insert(0, str(snake.ROOT / "tests" / "scientific"))

from count import numbers_of, outlines_of

ARTICLES = SMALL / "scientific"
SIZES = {"arxiv": 37, "pubmed": 70}
CORPORA = ("arxiv", "pubmed", "pubmed-short")
# The longest section that the registry keeps, and the longest of an article of the derived corpus.
LONGEST, SHORT = 240, 200

snakemake = partial(snake.snakemake, configfile="tests/scientific/config.yaml")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scientific")
    (folder / "articles").symlink_to(ARTICLES)
    run = snakemake(folder)
    assert run.returncode == 0, run.stderr[-4000:]
    return folder


def rows(folder, table, experiment="coherence"):
    path = folder / f"results/studies/scientific/{experiment}/tables/{table}.csv"
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def statistics(folder, corpus):
    return json.loads((folder / f"results/corpora/{corpus}/statistics.json").read_text())


def lemma(word):
    """A word of a title as the registry wants it: WordNet's lemma, and one spelling of an acknowledgment."""
    found = WordNetLemmatizer().lemmatize(word)
    return {"acknowledgement": "acknowledgment"}.get(found, found)


@pytest.mark.parametrize("corpus", ["arxiv", "pubmed"])
def test_statistics_equal_an_independent_count(study, corpus):
    outlines = outlines_of(ARTICLES, corpus, LONGEST, 3, keep_abstract=corpus == "pubmed", word=lemma)
    found, expected = statistics(study, corpus), numbers_of(outlines)
    assert {key: found[key] for key in expected} == expected
    assert found["extracted"] == SIZES[corpus]
    assert found["extracted"] - sum(found["rejected"].values()) == sum(map(len, outlines.values()))
    table = {
        row["metric"]: float(row["value"]) for row in rows(study, "statistics", "corpora") if row["corpus"] == corpus
    }
    assert table["articles_train"] == expected["splits"]["train"]["articles"]
    assert table["section_types"] == expected["section_types"]
    assert table["median_section_length"] == expected["median_section_length"]


def test_the_derived_corpus_holds_the_articles_without_a_long_section(study):
    """Its titles and splits are its base's."""

    def articles(corpus, split):
        return pq.read_table(study / f"results/corpora/{corpus}/{split}.parquet").to_pylist()

    kept = {
        split: [a for a in articles("pubmed", split) if all(len(s["text"].split()) <= SHORT for s in a["sections"])]
        for split in ("train", "validation", "test")
    }
    known = {s["title"] for article in kept["train"] for s in article["sections"]}
    kept = {split: [a for a in part if {s["title"] for s in a["sections"]} <= known] for split, part in kept.items()}
    assert {split: articles("pubmed-short", split) for split in kept} == kept
    found, base = statistics(study, "pubmed-short"), statistics(study, "pubmed")
    assert found["extracted"] == sum(part["articles"] for part in base["splits"].values())
    assert found["extracted"] - sum(found["rejected"].values()) == sum(map(len, kept.values()))
    assert found["rejected"]["a section too long"] > 0
    assert found["provenance"]["derived_from"] == "pubmed"


def test_every_row_of_the_table_is_there(study):
    found = {(row["corpus"], row["source"], row["setting"], row["generator"]): row for row in rows(study, "coherence")}
    expected = {(corpus, f"data-{kind}", "", "data") for corpus in CORPORA for kind in ("gold", "inferred")}
    expected |= {("arxiv", "sample", "w-title", "gpt2-tiny"), ("arxiv", "sample", "wo-title", "ngram-3")}
    expected |= {(corpus, "sample", "w-title", "ngram-3") for corpus in ("pubmed", "pubmed-short")}
    assert set(found) == expected
    for row in found.values():
        value = float(row["latent_ppl"])
        assert 1 <= value < math.inf
        if int(row["documents"]) < 20:
            assert row["ci_low"] == row["ci_high"] == ""
        else:
            assert 1 <= float(row["ci_low"]) <= value <= float(row["ci_high"]) < math.inf
    perplexities = {(row["corpus"], row["setting"]) for row in rows(study, "perplexity")}
    assert perplexities == {(corpus, setting) for corpus, _, setting, _ in expected if setting}


def test_every_drawn_article_is_accounted_for(study):
    for row in rows(study, "coherence"):
        if row["source"] == "sample":
            sample = f"{row['corpus']}/{row['setting']}/{row['generator']}/seed1/tiny/draw1"
            counts = json.loads((study / f"results/samples/{sample}.json").read_text())
            assert counts["drawn"] == 32
            assert counts["kept"] + sum(counts["rejected"].values()) == 32
            assert int(float(row["documents"])) + int(float(row["rejected"])) == 32
            assert pq.read_metadata(study / f"results/samples/{sample}.parquet").num_rows == counts["kept"]


def test_figures_report_and_manifest_are_there(study):
    folder = study / "results/studies/scientific"
    assert list((folder / "coherence/figures").glob("*.svg"))
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")[:500]
    used = json.loads((folder / "manifest.json").read_text())["configuration"]["registry"]
    assert sorted(used["corpora"]) == sorted(CORPORA)


def test_a_second_run_has_nothing_to_do(study):
    run = snake.dry_run(study, "--cores", "2", configfile="tests/scientific/config.yaml")
    assert run.returncode == 0
    assert "Nothing to be done" in run.stdout + run.stderr
