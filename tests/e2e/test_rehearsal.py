"""A study of a paper from download to report, on stand-ins: `textcritic rehearse`, as a user calls it."""

import json
import re
import subprocess
import sys

import pandas as pd
import pytest
from snake import dry_run

from textcritic.generators.fairseq.shim import installed
from textcritic.rehearsal.rules import RAN
from textcritic.report.rehearsed import CAPTION, WORD

pytestmark = pytest.mark.skipif(not installed(), reason="fairseq is not installed; run make fairseq")
# Those that reach their reports.
STUDIES = ("model-criticism",)
# Rules that no other test runs: the neural resolver; and all that download.
HERE_ALONE = {
    *("infer_data_mentions", "infer_sample_mentions", "measure_neural_resolver", "measure_neural_resolver_error"),
    *("download_file", "download_model", "download_dataset", "extract_dataset", "unpack_member"),
}


@pytest.fixture(scope="module", params=STUDIES)
def study(request, tmp_path_factory):
    """Its name and the folder of its rehearsal.

    By the interpreter: where the hub is, huggingface_hub reads from the environment when it is imported.
    """
    folder = tmp_path_factory.mktemp("rehearsal") / request.param
    code = "import sys; from textcritic.cli import main; sys.exit(main())"
    arguments = ["rehearse", request.param, "--gpus", "none", "--output", str(folder), "--", "--cores", "2"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert f"{WORD} of {request.param} (smoke) done" in done.stdout
    return request.param, folder


def test_every_rule_of_the_whole_study_has_run(study, tmp_path):
    """The rules of the study as it is, by Snakemake's table of jobs, against those whose files were read."""
    name, folder = study
    planned = dry_run(
        tmp_path, "--dry-run", "--quiet", "rules", "--config", f"studies=['{name}']", configfile="config/config.yaml"
    )
    assert planned.returncode == 0, planned.stderr[-4000:]
    rules = {*re.findall(r"^(\w+) +\d+$", planned.stdout + planned.stderr, re.MULTILINE)} - {"all", "total"}
    ran = json.loads((folder / RAN).read_text())
    assert len(rules) > 50
    assert rules - {*ran} == set()
    if name == "model-criticism":
        assert {*ran} >= HERE_ALONE


def test_nothing_that_it_shows_can_be_taken_for_a_result(study):
    name, folder = study
    shown = folder / "results/studies" / name
    report = (shown / "report.html").read_text()
    assert f"<title>{WORD}: " in report
    assert f'<p class="rehearsal"><strong>{WORD}.' in report
    tables, figures = [*shown.rglob("*/tables/*.csv")], [*shown.rglob("*/figures/*.svg")]
    assert len(tables) > 10
    assert len(figures) > 10
    for path in tables:
        rows = pd.read_csv(path)
        assert rows.columns[-1] == "rehearsal", path
        assert {*rows["rehearsal"]} <= {CAPTION}, path
    assert [path for path in figures if WORD not in path.read_text()] == []


@pytest.mark.parametrize("critic", ["transitions", "mentions-films", "ctm"])
def test_samples_have_what_each_critic_reads(study, critic):
    """The stand-ins' articles have titles, and some are about films: no critic is left without any."""
    scores = [pd.read_parquet(path) for path in study[1].glob(f"results/scores/{critic}/*/samples/**/*.parquet")]
    assert len(scores) >= 2
    assert not any(rows["rejected"].all() for rows in scores)
