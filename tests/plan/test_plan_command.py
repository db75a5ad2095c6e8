"""`textcritic plan` on studies of the package: what it says of each, and of what cannot be planned."""

import json

import pytest
from snake import planned


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("planned")


@pytest.mark.parametrize("study", ["model-criticism", "beyond-perplexity", "latent-lms", "document-coherence"])
def test_every_study_says_what_it_costs_in_a_clean_folder(place, study):
    done = planned(place, study, "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["jobs"] == sum(row["jobs"] for row in said["rules"]) > 100
    assert 0 < said["submissions"] <= said["jobs"]
    assert said["least_seconds"] == pytest.approx(sum(link["seconds"] for link in said["chain"]), abs=1)
    assert said["chain"][-1]["rule"] == "make_report"
    assert not [row["rule"] for row in said["rules"] if "declared runtime" in row["bases"]]
    assert said["core_seconds"] > 0
    assert bool(said["left_out"]) == (study in ("latent-lms", "document-coherence"))
    assert done.stderr == ""


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
