"""Dry runs in a forked child, as all tests of this folder use them, against Snakemake as a process of its own."""

import sys
from pathlib import Path

import pytest
import yaml
from plan import ROOT, jobs, planned
from snake import dry_run, snakemake

CONFIG = "config/config.yaml"


def jobs_in_any_order(output):
    return sorted(map(str, planned(output)))


@pytest.mark.parametrize(("target", "code"), [("tables", 0), ("results/nothing", 1)])
def test_a_dry_run_in_a_child_is_that_of_a_process_of_its_own(target, code, tmp_path):
    arguments = ("--dry-run", "--cores", "2", "--", target)
    before = Path.cwd(), list(sys.path)
    child = dry_run(tmp_path, *arguments, configfile=CONFIG)
    assert (Path.cwd(), sys.path) == before
    process = snakemake(tmp_path, *arguments, configfile=CONFIG)
    assert child.returncode == process.returncode == code
    assert jobs(child.stdout) == jobs(process.stdout)
    assert jobs_in_any_order(child.stdout) == jobs_in_any_order(process.stdout)
    assert ("MissingRuleException" in child.stdout + child.stderr) is bool(code)
    assert ("MissingRuleException" in process.stdout + process.stderr) is bool(code)


def test_the_file_where_catalogues_look_is_the_same_workflow(tmp_path):
    runs = [dry_run(tmp_path, "--dry-run", "--snakefile", ROOT / path) for path in ("Snakefile", "workflow/Snakefile")]
    plain, catalogued = (jobs(run.stdout) for run in runs)
    assert plain["make_report"] == 1, runs[0].stderr
    assert plain.pop("all") == catalogued.pop("default") == 1
    assert catalogued == plain


def test_the_workflow_catalog_finds_what_it_asks_for():
    settings = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())
    stack = {"conda": True, "apptainer": False, "apptainer+conda": False, "report": True}
    assert settings["usage"]["software-stack-deployment"] == stack
    assert settings["usage"]["mandatory-flags"]["flags"] == []
    assert (ROOT / "workflow/Snakefile").is_file()
    assert (ROOT / "config/README.md").is_file()
    readme = (ROOT / "README.md").read_text().lower()
    assert "snakemake" in readme
    assert "workflow" in readme
