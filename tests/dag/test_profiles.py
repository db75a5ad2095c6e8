"""What the profiles say to Snakemake: its own reader of them, and a dry run with the one that it finds by itself."""

import re
import subprocess

import pytest
import yaml
from plan import ROOT
from snakemake.cli import parse_args
from snakemake.settings.enums import RerunTrigger

from textcritic.workflow import snakemake_command

DEFAULT = yaml.safe_load((ROOT / "profiles/default/profile.yaml").read_text())


def settings(*arguments):
    return vars(parse_args(["--snakefile", str(ROOT / "Snakefile"), *arguments])[1])


def test_the_default_profile_says_when_results_are_made_again_and_nothing_else(tmp_path, monkeypatch):
    """Any other key would win over that of the profile for SLURM."""
    assert list(DEFAULT) == ["rerun-triggers"]
    monkeypatch.chdir(tmp_path)
    usual, given = settings("--workflow-profile", "none"), settings()
    assert usual["rerun_triggers"] - given["rerun_triggers"] == {RerunTrigger.CODE}


def test_beside_the_default_profile_that_for_slurm_holds(monkeypatch):
    pytest.importorskip("snakemake_executor_plugin_slurm")
    monkeypatch.chdir(ROOT)
    asked = settings("--profile", "slurm")
    assert (asked["executor"], asked["jobs"], asked["retries"]) == ("slurm", 100, 2)
    assert all(asked[name] for name in ("keep_going", "rerun_incomplete", "slurm_requeue"))
    assert {name: asked["default_resources"][name].value for name in ("mem_mb", "runtime")} == {
        "mem_mb": 4000,
        "runtime": 120,
    }
    alone = settings("--profile", "slurm", "--workflow-profile", "none")
    assert asked["rerun_triggers"] == alone["rerun_triggers"]


def test_groups_of_the_slurm_profile_are_of_rules_that_exist():
    """A name that is wrong is no error of Snakemake's: the job is then submitted alone."""
    profile = yaml.safe_load((ROOT / "profiles/slurm/profile.yaml").read_text())
    texts = [path.read_text() for path in (ROOT / "rules").glob("*.smk")]
    rules = {name for text in texts for name in re.findall(r"^(?:use rule \w+ as|rule) (\w+)", text, re.M)}
    assert set(profile["groups"]) <= rules
    assert {rule for rule in rules if re.fullmatch(r"make_\w+_tables", rule)} <= set(profile["groups"])
    # Of a group by wildcards all are in one submission, one after the other.
    assert {group for group in profile["groups"].values() if "{" in group} <= {
        *profile["group-components"],
        "report-{study}",
    }
    assert profile["resources"] == {"in_turn": profile["default-resources"]["in_turn"]} == {"in_turn": 1}
    assert profile["set-resource-scopes"] == {"in_turn": "local"}


def test_a_folder_called_default_is_not_taken_for_a_profile(tmp_path):
    (tmp_path / "default").mkdir()
    command = snakemake_command(tmp_path, "--dry-run", targets=["results/corpora/docstrings/statistics.json"])
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
