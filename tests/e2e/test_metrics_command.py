"""A measure of one's own of three lines, by command and in Python; test_micro has some in a study."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from forks import forking_python

import textcritic

sys.path.insert(0, str(Path(__file__).parents[1] / "micro"))

from recipes import write

MINE = "def long_words(document):\n    return sum(len(word) > 4 for word in document.text.split())\n"
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
SMALL = {"num_topics": 2, "starts": 1, "resamples": 200, "parts": 2}  # topics and order are not looked at


def criticise(folder, *arguments):
    files = "recipes.jsonl", "theirs.jsonl"
    small = (f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items())
    command = [forking_python(), "-m", "textcritic.cli", "criticise", *files, "--cores", "2", *small, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=ENVIRONMENT, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own measures")
    write(folder)
    (folder / "mine.py").write_text(MINE)
    done = criticise(folder, "--metric", "mine:long_words")
    assert done.returncode == 0, done.stderr
    assert "long_words" in done.stdout
    for name in ("faulty", "python"):  # where all but the own measures is there already
        shutil.copytree(folder / "own-text", folder / name, symlinks=True)
    return folder


def long_words(folder, name="theirs.jsonl"):
    """The numbers of all documents of a file, by a plain loop."""
    lines = [json.loads(line)["sections"] for line in (folder / name).read_text().splitlines()]
    return [sum(len(word) > 4 for part in one for word in part["text"].split()) for one in lines]


def table(folder, output="own-text"):
    rows = pd.read_csv(folder / output / "results/studies/own-text/metrics/tables/metrics.csv")
    return rows.set_index("source").loc["sample"]


def test_the_command_gives_the_mean_and_a_column_of_the_scorecard(folder):
    values = long_words(folder)
    row = table(folder)
    assert row["value"] == pytest.approx(sum(values) / len(values))
    assert row["ci_low"] < row["value"] < row["ci_high"]
    assert 0 < row["p_value"] <= 1
    report = (folder / "own-text/results/studies/own-text/report.html").read_text(encoding="utf-8")
    assert "Own measures" in report
    command = shlex.split(yaml.safe_load((folder / "own-text/studies/own-text.yaml").read_text())["command"])
    assert command[command.index("--metric") + 1] == f"{folder}/mine.py:long_words"


def test_a_changed_function_measures_again_and_nothing_else(folder):
    made = folder / "own-text/results/made.json"
    before = json.loads(made.read_text())
    (folder / "mine.py").write_text(MINE.replace("> 4", "> 5"))
    done = criticise(folder, "--metric", "mine:long_words")
    assert done.returncode == 0, done.stderr
    after = json.loads(made.read_text())
    changed = {path for path in after if after[path] != before.get(path)}
    assert changed
    assert all("/metrics/mine.long_words/" in path or "/own-text/metrics/" in path for path in changed)
    (folder / "mine.py").write_text(MINE)
    assert criticise(folder, "--metric", "mine:long_words").returncode == 0
    assert json.loads(made.read_text()) == before


def test_a_fault_of_the_function_leaves_the_other_measures(folder):
    (folder / "faulty.py").write_text("def faulty(document):\n    return {}[document.id]\n")
    done = criticise(folder, "--metric", "faulty:faulty", "--output", "faulty")
    assert done.returncode == 0, done.stderr
    said = rf"faulty:faulty: document '[\w-]+': {folder}/faulty.py:2: KeyError: "
    last = done.stderr.strip().splitlines()[-1]
    assert re.search(f"warning: metrics: not measured: {said}", last), last
    assert "Not measured: own measures" in done.stdout
    assert "Order of words" in done.stdout


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("nothing:words", "nothing:words: no module 'nothing' in "),
        ("mine:words", "mine.py has no function 'words'; did you mean 'long_words'?"),
        ("mine", "mine: is not the name of a measure; write MODULE:FUNCTION"),
    ],
)
def test_what_is_not_there_is_one_line(folder, metric, said):
    done = criticise(folder, "--metric", metric, "--output", "wrong")
    assert done.returncode == 2
    assert said in done.stderr.strip().splitlines()[-1]


def test_a_function_that_only_this_process_has_gives_the_same(folder, monkeypatch):
    """As in a notebook: the documents of the study are measured here."""
    monkeypatch.chdir(folder)

    @textcritic.measure(title="Long words", aim="lower")
    def in_a_notebook(document):
        return sum(len(word) > 4 for word in document.text.split())

    metrics = ["mine:long_words", in_a_notebook]
    result = textcritic.criticise(
        Path("recipes.jsonl"), Path("theirs.jsonl"), metrics=metrics, output="python", **SMALL
    )
    assert result["theirs.jsonl"]["long_words"].number == result["theirs.jsonl"]["in_a_notebook"].number
    score = result["theirs.jsonl"]["in_a_notebook"]
    row = table(folder)
    assert (score.value, score.low, score.high, score.p) == (
        row["value"],
        row["ci_low"],
        row["ci_high"],
        row["p_value"],
    )
    assert "Long words" in repr(result)
