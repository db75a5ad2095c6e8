"""A study of a paper from download to report, on stand-ins: `textcritic rehearse`, as a user calls it."""

import json
import os
import re
import subprocess
import sys

import pytest

from textcritic.rehearsal.rules import RAN, never_ran
from textcritic.report.rehearsed import CAPTION, WORD

STUDY = "model-criticism"
# Its jobs that no other test runs: the resolver on a GPU or CPU, and the rules that download.
HERE_ALONE = {
    *("infer_data_mentions", "infer_sample_mentions", "measure_neural_resolver", "measure_neural_resolver_error"),
    *("download_file", "download_model", "download_dataset", "extract_dataset", "unpack_member"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """By the interpreter: where the hub is, huggingface_hub reads from the environment when it is imported."""
    place = tmp_path_factory.mktemp("rehearsal") / STUDY
    code = "import sys; from textcritic.cli import main; sys.exit(main())"
    arguments = ["rehearse", STUDY, "--gpus", "none", "--output", place, "--", "--cores", "2"]
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=place.parent,
        env={**os.environ, "HF_HUB_OFFLINE": "0"},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert f"{WORD} of {STUDY} (smoke) done" in done.stdout
    return place


def test_every_rule_of_the_study_has_run(folder):
    ran = json.loads((folder / RAN).read_text())
    assert {*ran} >= HERE_ALONE
    assert all(count > 0 for count in ran.values())
    assert never_ran(ran) == sorted(OTHER_STUDIES)


def test_everything_that_it_shows_says_that_it_is_a_rehearsal(folder):
    study = folder / "results/studies" / STUDY
    report = (study / "report.html").read_text()
    assert re.search(rf"<title>{WORD}: ", report)
    assert f'<p class="rehearsal"><strong>{WORD}.' in report
    tables, figures = [*study.rglob("*.csv")], [*study.rglob("*.svg")]
    assert len(tables) > 10
    assert len(figures) > 5
    for path in tables:
        lines = path.read_text().splitlines()
        assert lines[0].endswith(",rehearsal"), path
        assert all(CAPTION in line for line in lines[1:2]), path
    assert all(WORD in path.read_text() for path in figures)
