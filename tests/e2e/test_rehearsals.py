"""The studies of the papers from download to report, on stand-ins: `textcritic rehearse`, as a user calls it."""

import json
import re
import subprocess
import sys
from collections import Counter

import pandas as pd
import pytest
from snake import dry_run, note_rules

from textcritic.generators.fairseq.shim import installed
from textcritic.rehearsal.rules import RAN
from textcritic.report.rehearsed import CAPTION, WORD

STUDIES = ("model-criticism", "latent-lms", "document-coherence", "beyond-perplexity")
NEED_FAIRSEQ = ("model-criticism", "beyond-perplexity")
# Rules of a whole study that its smoke rehearsal leaves to another's, or runs in shards.
ELSEWHERE = {
    "document-coherence": {"fit_mentions", "fit_order", "resolve_data_mentions"},
    "beyond-perplexity": {"count_tendencies", "draw_tendencies"},
}


@pytest.fixture(scope="module", params=STUDIES)
def study(request, tmp_path_factory):
    """Its name and the folder of its rehearsal.

    By the interpreter: where the hub is, huggingface_hub reads from the environment when it is imported.
    """
    if request.param in NEED_FAIRSEQ and not installed():
        pytest.skip("fairseq is not installed; run make fairseq")
    folder = tmp_path_factory.mktemp("rehearsal") / request.param
    done = rehearsed(request.param, folder)
    assert f"{WORD} of {request.param} (smoke) done" in done.stdout
    note_rules(folder)
    return request.param, folder


def rehearsed(name, folder, *arguments):
    code = "import sys; from textcritic.cli import main; sys.exit(main())"
    options = ["--gpus", "none", "--output", str(folder), "--", "--cores", "2", *arguments]
    command = [sys.executable, "-c", code, "rehearse", name, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return done


def test_every_rule_of_the_whole_study_has_run(study, tmp_path):
    """The rules of the study as it is, by Snakemake's table of jobs, against those whose files were read."""
    name, folder = study
    planned = dry_run(
        tmp_path, "--dry-run", "--quiet", "rules", "--config", f"studies=['{name}']", configfile="config/config.yaml"
    )
    assert planned.returncode == 0, planned.stderr[-4000:]
    rules = {*re.findall(r"^(\w+) +\d+$", planned.stdout + planned.stderr, re.MULTILINE)} - {"all", "total"}
    assert "make_report" in rules
    assert rules - {*json.loads((folder / RAN).read_text())} == ELSEWHERE.get(name, set())


def test_nothing_that_it_shows_can_be_taken_for_a_result(study):
    name, folder = study
    shown = folder / "results/studies" / name
    report = (shown / "report.html").read_text()
    assert f"<title>{WORD}: " in report
    assert f'<p class="rehearsal"><strong>{WORD}.' in report
    tables, figures = [*shown.rglob("*/tables/*.csv")], [*shown.rglob("*/figures/*.svg")]
    assert len(tables) > 5
    assert len(figures) > 5
    for path in tables:
        rows = pd.read_csv(path)
        assert rows.columns[-1] == "rehearsal", path
        assert {*rows["rehearsal"]} <= {CAPTION}, path
    assert [path for path in figures if WORD not in path.read_text()] == []


def test_samples_have_what_each_critic_reads(study):
    """The stand-ins' articles have titles, and some are about films: no critic is left without any."""
    if study[0] == "model-criticism":
        for critic in ("transitions", "mentions-films", "ctm"):
            paths = study[1].glob(f"results/scores/{critic}/*/samples/**/*.parquet")
            scores = [pd.read_parquet(path) for path in paths]
            assert len(scores) >= 2
            assert not any(rows["rejected"].all() for rows in scores)


def test_tendencies_are_those_of_a_plain_loop(study):
    """Of lines and of what four architectures and a trigram write: every tendency, in numbers that a loop gives too."""
    if study[0] != "beyond-perplexity":
        return
    results = study[1] / "results"
    tables = results / "studies/beyond-perplexity/tendencies/tables"
    table = pd.read_csv(tables / "tendencies.csv")
    models = ("transformer-lines", "transformer-as-lines", "conv-lines", "lstm-lines", "ngram-3-lines")
    samples = {(model, f"lines-{decoding}") for model in models for decoding in ("random", "beam")}
    assert {*zip(table["generator"], table["decoding"], strict=True)} == samples
    assert set(table.groupby(["generator", "decoding"])["tendency"].nunique()) == {9}
    measured = table[table["verdict"] != "not measured"]
    # Where tiny models write a few short texts, no two tokens are far apart; all else is there.
    missing = {*table[table["verdict"] == "not measured"]["tendency"]}
    assert missing <= {"burstiness", "recurrence", "type-token"}
    assert (measured["value"] >= 0).all()
    assert measured["p_value"].between(0, 1, inclusive="right").all()
    values = pd.read_csv(tables / "tendencies-values.csv", keep_default_na=False)
    value = {(row.generator, row.decoding, row.statistic): row.value for row in values.itertuples() if row.value != ""}
    for generator, decoding in (("data", ""), ("ngram-3-lines", "lines-random"), ("ngram-3-lines", "lines-beam")):
        place = (
            f"samples/wiki-lines/wo-title/{generator}/seed1/{decoding}/draw1" if decoding else "corpora/wiki-lines/test"
        )
        articles = pd.read_parquet(results / f"{place}.parquet")
        lines = [sections[0]["text"].split() for sections in articles["sections"]]
        words = Counter(word for line in lines for word in line)
        assert float(value[generator, decoding, "types"]) == len(words)
        assert float(value[generator, decoding, "length_mean"]) == pytest.approx(sum(map(len, lines)) / len(lines))
    for statistic in ("length_mean", "types"):
        beam, random = (float(value["ngram-3-lines", f"lines-{way}", statistic]) for way in ("beam", "random"))
        assert beam < random
    assert {*pd.read_csv(tables / "table1.csv")["generator"]} == {*models}
    assert {*pd.read_csv(tables / "table2.csv")["statistic"]} == {"zipf_own", "zipf_real", "rank", "unigram_max"}
    card = json.loads((tables.parent / "section.json").read_text())["card"]
    assert {(row["generator"], row["decoding"]) for row in card} == samples


def test_the_same_command_again_has_nothing_to_do(study):
    done = rehearsed(*study, "--dry-run")
    assert "Nothing to be done" in done.stdout + done.stderr
