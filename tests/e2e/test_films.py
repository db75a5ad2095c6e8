"""Who is who, from text to the tables, figures and report, as a user runs it: plots of films, and stories."""

import csv
import gzip
import json
import math
import re
import shutil
from functools import partial
from itertools import count

import pyarrow.parquet as pq
import pytest
import snake
from samples import SMALL

snakemake = partial(snake.snakemake, configfile="tests/films/config.yaml")
CORPUS = 26  # films of the corpus; the others are the sample, with pronouns exchanged
SWAPPED = {"he": "she", "she": "he", "He": "She", "She": "He"}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The study, built; two of three articles are about films, by their first section."""
    folder = tmp_path_factory.mktemp("films")
    with gzip.open(SMALL / "films/synopses.jsonl.gz", "rt", encoding="utf-8") as lines:
        films = [json.loads(line) for line in lines]
    articles = [
        {"id": film["title"], "sections": [{"title": "abstract", "text": about(n)}, {"title": "plot", "text": plot}]}
        for n, film in enumerate(films)
        for plot in [" ".join(film["text"].split())]
    ]
    write_lines(folder / "films.jsonl", articles[:CORPUS])
    write_lines(folder / "exchanged.jsonl", json.loads(exchanged(json.dumps(articles[CORPUS:]))))
    shutil.copy(SMALL / "coreference/litbank.conll.gz", folder / "litbank.conll.gz")
    run = snakemake(folder)
    assert run.returncode == 0, run.stderr[-4000:]
    return folder


def exchanged(text):
    """Every second "he" and "she" exchanged for the other."""
    found = count()
    return re.sub(r"\b(he|she|He|She)\b", lambda m: SWAPPED[m[0]] if next(found) % 2 else m[0], text)


def about(number):
    return f"It is a {'film' if number % 3 else 'book'} of 19{number:02}."


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def rows(folder, table, experiment="coreference"):
    path = folder / f"results/studies/films/{experiment}/tables/{table}.csv"
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def scores(folder, critic, corpus, tail="data/test"):
    return pq.read_table(folder / f"results/scores/{critic}/{corpus}/{tail}.parquet").to_pylist()


def test_latent_ppl_is_that_of_the_scores(study):
    found = {(row["corpus"], row["generator"]): row for row in rows(study, "table7")}
    tails = {"exchanged": "given", "ngram-2": "some"}
    for (corpus, generator), row in found.items():
        tail = "data/test" if generator == "data" else f"samples/wo-title/{generator}/seed1/{tails[generator]}/draw1"
        scored = [s for s in scores(study, "mentions", corpus, tail) if not s["rejected"]]
        nll, tokens = (sum(s[key] for s in scored) for key in ("nll", "steps"))
        assert float(row["latent_ppl"]) == pytest.approx(math.exp(nll / tokens), rel=1e-12)
        assert (int(row["documents"]), int(row["tokens"])) == (len(scored), tokens)
        if int(row["groups"] or len(scored)) < 20:
            assert row["ci_low"] == row["ci_high"] == ""
        else:
            assert float(row["ci_low"]) < float(row["latent_ppl"]) < float(row["ci_high"])
    assert len(found) == 4


def test_exchanged_pronouns_are_noticed(study):
    row = next(row for row in rows(study, "coreference") if row["generator"] == "exchanged")
    real = next(row for row in rows(study, "coreference") if row["corpus"] == "films" and row["generator"] == "data")
    assert float(row["latent_ppl"]) > float(real["latent_ppl"])


def test_other_articles_than_films_are_counted(study):
    test = pq.read_table(study / "results/corpora/films/test.parquet").to_pylist()
    books = sum("book" in article["sections"][0]["text"] for article in test)
    scored = scores(study, "mentions-films-released", "films")
    assert len(scored) == len(test)
    assert [s["why"] for s in scored if s["rejected"]] == ["the opening does not match"] * books
    (row,) = (row for row in rows(study, "table8", "released") if row["generator"] == "data")
    assert (int(row["documents"]), int(row["rejected"])) == (len(test) - books, books)


@pytest.mark.parametrize("table", ["table6", "table7", "table15", "table16", "table17"])
def test_every_table_comes_in_every_form(study, table):
    folder = study / "results/studies/films/coreference/tables"
    assert rows(study, table)
    for suffix in ("csv", "tex", "html"):
        assert (folder / f"{table}.{suffix}").stat().st_size > 0


def test_the_report_has_both_experiments(study):
    text = (study / "results/studies/films/report.html").read_text(encoding="utf-8")
    for experiment in ("coreference", "released"):
        assert f'id="{experiment}-table-coreference"' in text
    for figure in ("figure5", "figure10", "figure11", "figure12", "figure13"):
        drawn = study / f"results/studies/films/coreference/{figure}"
        assert {path.suffix for path in drawn.iterdir()} >= {".svg", ".pdf"}
