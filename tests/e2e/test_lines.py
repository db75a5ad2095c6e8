"""Statistical tendencies of lines of Wikipedia, from a dump to the report, of fairseq's four architectures."""

import csv
import json
from collections import Counter
from functools import partial

import pyarrow.parquet as pq
import pytest
import snake
from samples import SMALL

from textcritic.generators.fairseq.shim import installed

pytestmark = pytest.mark.skipif(not installed(), reason="fairseq is not installed; run make fairseq")
snakemake = partial(snake.snakemake, configfile="tests/lines/config.yaml")
SAMPLES = {(name, "random") for name in ("transformer", "transformer-as", "conv", "lstm", "trigram")}
SAMPLES |= {("transformer", "beam"), ("trigram", "beam")}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The study, built."""
    folder = tmp_path_factory.mktemp("lines")
    (folder / "enwiki-sample.xml.bz2").symlink_to(SMALL / "wikipedia/enwiki-sample.xml.bz2")
    run = snakemake(folder)
    assert run.returncode == 0, run.stderr[-4000:]
    return folder


def rows(folder, table):
    path = folder / f"results/studies/lines/tendencies/tables/{table}.csv"
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def texts(folder, place):
    return [row["sections"][0]["text"] for row in pq.read_table(folder / f"results/{place}.parquet").to_pylist()]


def test_every_sample_has_every_tendency(study):
    table = rows(study, "tendencies")
    assert {(row["generator"], row["decoding"]) for row in table} == SAMPLES
    assert len({row["tendency"] for row in table}) == 9
    measured = [row for row in table if row["verdict"] != "not measured"]
    assert all(float(row["value"]) >= 0 and 0 < float(row["p_value"]) <= 1 for row in measured)
    # A sample of very short texts has no two tokens far apart; all else is there.
    assert {row["tendency"] for row in table if row["verdict"] == "not measured"} <= {
        "burstiness",
        "recurrence",
        "type-token",
    }


def test_numbers_are_those_of_a_plain_loop(study):
    values = {
        (row["generator"], row["decoding"], row["statistic"]): float(row["value"] or "nan")
        for row in rows(study, "tendencies-values")
    }
    for generator, decoding in (("data", ""), ("trigram", "random")):
        place = f"samples/lines/wo-title/{generator}/seed1/{decoding}/draw1" if decoding else "corpora/lines/test"
        lines = [text.split() for text in texts(study, place)]
        words = Counter(word for line in lines for word in line)
        assert values[generator, decoding, "types"] == len(words)
        assert values[generator, decoding, "length_mean"] == pytest.approx(sum(map(len, lines)) / len(lines))


def test_beam_sampling_makes_short_texts_and_little_of_the_vocabulary(study):
    value = {
        (row["generator"], row["decoding"], row["statistic"]): row["value"] for row in rows(study, "tendencies-values")
    }
    for generator in ("transformer", "trigram"):
        for statistic in ("length_mean", "types"):
            beam, random = (float(value[generator, decoding, statistic]) for decoding in ("beam", "random"))
            assert beam < random, (generator, statistic)


def test_numbered_tables_and_figures_are_there(study):
    models = {row["generator"] for row in rows(study, "table1")}
    assert models == {"transformer", "transformer-as", "conv", "lstm", "trigram"}
    assert {row["statistic"] for row in rows(study, "table2")} == {"zipf_own", "zipf_real", "rank", "unigram_max"}
    assert {row["generator"] for row in rows(study, "table4")} == {"data"}
    assert list((study / "results/studies/lines/tendencies/figure2").glob("*.svg"))
    section = json.loads((study / "results/studies/lines/tendencies/section.json").read_text())
    assert {(row["generator"], row["decoding"]) for row in section["card"]} == SAMPLES
    assert (study / "results/studies/lines/report.html").stat().st_size > 100_000
