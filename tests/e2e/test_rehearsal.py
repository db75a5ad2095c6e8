"""The papers' studies from download to report, on small stand-ins: `textcritic rehearse`, as a user runs it."""

import json
import os
import re
import subprocess
import sys

import pandas as pd
import pytest
from snake import ROOT, note_rules

from textcritic.generators.fairseq.shim import installed
from textcritic.rehearsal.rules import RAN
from textcritic.report.rehearsed import WORD

STUDIES = ("model-criticism", "latent-lms", "document-coherence", "beyond-perplexity")
NEEDS_FAIRSEQ = ("model-criticism", "beyond-perplexity")


@pytest.mark.parametrize("study", STUDIES)
def test_a_study_of_a_paper_goes_from_download_to_report(study, tmp_path):
    """Every job of it is done, what people read is marked, and the same command again has nothing to do."""
    if study in NEEDS_FAIRSEQ and not installed():
        pytest.skip("fairseq is not installed; run make fairseq")
    command = [sys.executable, "-m", "textcritic.cli", "rehearse", study, "--output", str(tmp_path / study)]
    environment = {key: value for key, value in os.environ.items() if key != "NLTK_DATA"}
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
    assert run.returncode == 0, run.stderr[-4000:]
    assert f"{WORD} of {study} (smoke) done" in run.stdout
    made = tmp_path / study / "results/studies" / study
    assert WORD in (made / "report.html").read_text(encoding="utf-8")
    tables, figures = [*made.glob("*/tables/*.csv")], [*made.glob("*/figure*/*.svg")]
    assert len(tables) > 5
    assert len(figures) > 5
    assert [path for path in tables if pd.read_csv(path).columns[-1] != WORD.lower()] == []
    assert [path for path in figures if WORD not in path.read_text(encoding="utf-8")] == []
    assert {"make_report", "make_figures"} <= {*json.loads((tmp_path / study / RAN).read_text())}
    note_rules(tmp_path / study)
    again = subprocess.run([*command, "--", "--dry-run"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert again.returncode == 0, again.stderr[-4000:]
    assert re.search("Nothing to be done", again.stderr + again.stdout)
