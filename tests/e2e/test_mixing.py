"""Do translations keep to one language, from files of sentences to the report, as a user runs it: news, and fairseq."""

import csv
import gzip
import json
import shutil
from functools import partial

import numpy as np
import pyarrow.parquet as pq
import pytest
import snake
from samples import SMALL

from textcritic.generators.fairseq.shim import installed
from textcritic.generators.pairs import Pairs
from textcritic.training.load import load_tokenizer

pytestmark = pytest.mark.skipif(not installed(), reason="fairseq is not installed; run make fairseq")
snakemake = partial(snake.snakemake, configfile="tests/mixing/config.yaml")
SAMPLES = {("translator", "drawn"), ("parallel-writer", "likeliest"), ("refiner", "likeliest"), ("refiner", "refined")}
SAMPLES |= {("mixed", "given")}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The study, built; the user's own translations are real ones with every second word of another language."""
    folder = tmp_path_factory.mktemp("mixing")
    for language in ("en", "de", "es", "fr"):
        shutil.copy(SMALL / f"parallel/ntrex.{language}", folder / f"news.{language}")
    run = snakemake(folder, "corpora/news")
    assert run.returncode == 0, run.stderr[-4000:]
    translations = pq.read_table(folder / "results/corpora/news/test.parquet").to_pylist()
    by_sentence = {}
    for article in translations:
        by_sentence.setdefault(article["title"], {})[article["sections"][0]["title"]] = article["sections"][0]["text"]
    with gzip.open(folder / "mixed.jsonl.gz", "wt", encoding="utf-8") as lines:
        for english, texts in by_sentence.items():
            words = [texts[language].split() for language in ("de", "fr")]
            mixed = [pair[place % 2] for place, pair in enumerate(zip(*words, strict=False))]
            lines.write(json.dumps({"source": english, "text": " ".join(mixed)}) + "\n")
    run = snakemake(folder)
    assert run.returncode == 0, run.stderr[-4000:]
    return folder


def rows(folder, table):
    path = folder / f"results/studies/mixing/mixing/tables/{table}.csv"
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def test_the_topics_are_the_languages(study):
    real = [row for row in rows(study, "mixing-languages") if row["source"] == "data"]
    assert {row["language"] for row in real} == {"de", "es", "fr"}
    # Of all of NTREX it is 99%; here the model has seen 139 sentences.
    assert all(float(row["right_words"]) > 0.9 for row in real)
    assert all(float(row["right_sentences"]) > 0.95 for row in real)


def test_translations_of_a_sentence_are_in_one_split(study):
    sentences = {
        split: {article["id"].split("-")[0] for article in pq.read_table(path).to_pylist()}
        for split in ("train", "validation", "test")
        for path in [study / f"results/corpora/news/{split}.parquet"]
    }
    assert not sentences["train"] & sentences["test"]
    assert not sentences["validation"] & (sentences["train"] | sentences["test"])


def test_every_source_is_scored_and_mixed_translations_are_noticed(study):
    table = {(row["generator"], row["decoding"]): row for row in rows(study, "mixing")}
    assert set(table) == {("data", ""), *SAMPLES}
    for generator, decoding in SAMPLES:
        row = table[generator, decoding]
        folder = study / f"results/samples/news/wo-title/{generator}/seed1/{decoding}/draw1"
        counts = json.loads(folder.with_suffix(".json").read_text())
        assert int(row["documents"] or 0) + int(row["rejected"]) == counts["drawn"]
    mixed, real = table["mixed", "given"], table["data", ""]
    assert float(mixed["mixed"]) > 5 * float(real["mixed"])
    assert float(mixed["mixed_p"]) < 0.01
    assert float(mixed["distance_p"]) < 0.01


def test_a_number_is_that_of_the_posteriors(study):
    row = next(row for row in rows(study, "mixing") if row["generator"] == "mixed")
    with np.load(study / "results/topics/lda/news/samples/wo-title/mixed/seed1/given/draw1.npz") as arrays:
        counts = arrays["counts"].astype(float)
    assert float(row["mixed"]) == pytest.approx(100 * (1 - counts.max(axis=1).sum() / counts.sum()), rel=1e-6)


def test_perplexity_is_of_both_kinds_of_models(study):
    models = study / "results/generators/news/wo-title"
    reports = {path.parts[-3]: json.loads(path.read_text()) for path in models.glob("*/seed1/perplexity.json")}
    assert set(reports) == {"translator", "parallel-writer", "refiner"}
    assert all(1 < report["all"]["ppl"] < 1200 for report in reports.values())
    assert "in one pass" in reports["parallel-writer"]["windows"]
    for generator in reports:
        folder = models / generator / "seed1"
        assert json.loads((folder / "training.json").read_text())["steps"] == 40
        assert not (folder / "checkpoints").exists()


def test_pairs_are_the_sentences_and_their_translations(study):
    encoded = study / "results/encodings/news/joint"
    pairs, tokenizer = Pairs.load(encoded / "pairs/test.npz"), load_tokenizer(encoded / "tokenizer")
    articles = pq.read_table(study / "results/corpora/news/test.parquet").to_pylist()
    assert len(pairs) == len(articles)
    unknown = 0
    for index, article in enumerate(articles):
        source, target = (tokenizer.decode(side.tolist()) for side in pairs.pair(index))
        if "[UNK]" in source + target:
            unknown += 1
        else:
            assert (source, target) == (article["title"], article["sections"][0]["text"])
    assert unknown < 0.1 * len(articles)


def test_table_figure_and_report_are_there(study):
    made = study / "results/studies/mixing"
    for suffix in ("csv", "tex", "html"):
        assert (made / f"mixing/tables/table10.{suffix}").stat().st_size > 0
    assert ".svg" in {path.suffix for path in (made / "mixing/figure7").iterdir()}
    text = (made / "report.html").read_text(encoding="utf-8")
    assert 'id="mixing-table-mixing"' in text
    assert 'class="tongue tongue-' in text


def test_a_second_run_does_nothing(study):
    run = snakemake(study)
    assert "Nothing to be done" in run.stderr + run.stdout


def test_the_script_of_every_job_ran(study):
    ran = {path.name for path in (study / "results/benchmarks").iterdir()}
    wanted = {"train_fairseq", "measure_fairseq", "sample_fairseq", "collect_translations", "import_translations"}
    assert {*wanted, "make_subwords", "encode_parallel", "build_parallel", "fit_lda"} <= ran
