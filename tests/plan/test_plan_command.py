"""`textcritic plan` on studies of the package: what it says of each, and of what cannot be planned."""

import json
from runpy import run_path
from types import SimpleNamespace

import pytest
from snake import ROOT, planned

from textcritic.plan.project import Project

# Not a package: a developer's tool.
plan_hours = SimpleNamespace(**run_path(str(ROOT / "tools/plan_hours.py")))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder in which all files are that a user must bring."""
    folder = tmp_path_factory.mktemp("planned")
    registries = Project({"studies": []}, ROOT, folder).registries
    plan_hours.bring(folder, registries)
    return folder


@pytest.mark.parametrize("study", plan_hours.STUDIES)
def test_every_study_says_what_it_costs_and_so_does_the_page(place, study):
    done = planned(place, study, "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["jobs"] == sum(row["jobs"] for row in said["rules"]) > 100
    assert 0 < said["submissions"] <= said["jobs"]
    assert said["least_seconds"] == pytest.approx(sum(link["seconds"] for link in said["chain"]), abs=1)
    assert said["chain"][-1]["rule"] == "make_report"
    assert not [row["rule"] for row in said["rules"] if "declared runtime" in row["bases"]]
    assert not said["left_out"]
    assert done.stderr == ""
    assert plan_hours.row_of(study, said) in plan_hours.PAGE.read_text(encoding="utf-8")


def test_what_cannot_be_made_is_said_and_the_rest_is_planned(tmp_path):
    said = json.loads(planned(tmp_path, "latent_lms_figure4", "latent_lms_figure3", "--json").stdout)
    assert "there is no data/conll-2012/train.conll" in "".join(said["left_out"])


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["results/nothing.csv"], "no rule makes a file, 'results/nothing.csv'"),
        (["model_criticism_table99"], "no rule makes a file, 'model_criticism_table99'"),
        (["demo", "--card", "abacus"], "--card: 'abacus' is not known"),
        (["demo", "--configfile", "nothing.yaml"], "no such file"),
    ],
)
def test_what_cannot_be_planned_is_one_line(place, words, line):
    done = planned(place, *words)
    assert done.returncode == 2
    assert line in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_target_costs_less_than_its_study_and_brings_it_along(place):
    said = json.loads(planned(place, "model_criticism_table11", "--json").stdout)
    assert said["jobs"] < 200
    assert said["gpu_seconds"] == 0
