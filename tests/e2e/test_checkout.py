"""A checkout as people use it who know Snakemake: without a profile, renamed, its scripts with other times."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from forks import forking_python

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "micro"))

from recipes import write  # noqa: E402

WORKFLOW = ("rules", "workflow", "config", "envs", "profiles", "src", "tests/micro/registry")
STUDY = {
    "title": "Made in seconds",
    "summary": "Articles with titles, and the samples of a bigram model.",
    "experiments": [
        {
            "kind": "coherence",
            "critic": "given-micro",
            "power": {"shares": []},
            "sources": [
                {"corpora": ["recipes"], "settings": ["w-title"], "generators": ["ngram-2"], "decodings": ["micro"]}
            ],
        }
    ],
}
CONFIG = {
    "studies": ["small"],
    "registry_folders": ["tests/micro/registry"],
    "study_folders": ["studies"],
    "resamples": 100,
}


def plain_snakemake(folder, *arguments):
    command = [forking_python(), "-m", "snakemake", "--cores", "2", *arguments, "--configfile", "small.yaml"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout + run.stderr


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout in which a study was made."""
    folder = tmp_path_factory.mktemp("checkout") / "textcritic"
    for part in WORKFLOW:
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(ROOT / "Snakefile", folder / "Snakefile")
    write(folder)
    (folder / "studies").mkdir()
    (folder / "studies/small.yaml").write_text(yaml.safe_dump(STUDY))
    (folder / "small.yaml").write_text(yaml.safe_dump(CONFIG))
    said = plain_snakemake(folder)
    assert "make_report" in said
    return folder


def test_other_times_of_scripts_and_another_place_make_nothing_again(checkout):
    moved = checkout.rename(checkout.with_name("renamed"))
    for part in WORKFLOW:
        for path in (moved / part).rglob("*"):
            path.touch()
    assert "Nothing to be done" in plain_snakemake(moved, "--dry-run")
