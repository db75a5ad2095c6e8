"""The manifest: what a study was made from."""

import hashlib
import shutil
import subprocess

import pytest
from report_jobs import description

from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.report import make_manifest
from textcritic.report.manifest import git_revision, provenance


def test_manifest(tmp_path):
    table = tmp_path / "coherence.csv"
    table.write_text("a,b\n1,2\n")
    described = description(["coherence", "topics"], [2, 1, 2])
    returned = make_manifest(described, [table, str(table)], tmp_path / "manifest.json", ["snakemake --cores 2"])
    manifest = read_json(tmp_path / "manifest.json")
    assert manifest == returned
    assert (manifest["study"], manifest["experiments"]) == ("demo", ["coherence", "topics"])
    assert manifest["seeds"] == [1, 2]
    assert manifest["commands"] == ["snakemake --cores 2"]
    assert manifest["configuration"] == described
    assert {"numpy", "matplotlib"} <= set(manifest["packages"])
    assert manifest["revision"] is None
    (entry,) = manifest["artefacts"]
    assert entry["path"] == str(table)
    assert entry["sha256"] == hashlib.sha256(table.read_bytes()).hexdigest()
    assert entry["bytes"] == table.stat().st_size


def test_a_file_that_is_gone_is_named(tmp_path):
    with pytest.raises(TextcriticError, match=r"gone\.csv: cannot be read for the manifest"):
        make_manifest(description([], []), [tmp_path / "gone.csv"], tmp_path / "manifest.json")
    assert not (tmp_path / "manifest.json").exists()


def test_a_folder_that_is_no_checkout_has_no_revision(tmp_path):
    assert git_revision(tmp_path) is None


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_checkout_has_the_revision_of_its_commit_and_a_folder_in_it_has_none(tmp_path):
    name = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (["init", "-q"], [*name, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", "-C", tmp_path, *command], check=True)
    head = subprocess.run(["git", "-C", tmp_path, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    assert git_revision(tmp_path) == {"commit": head.stdout.strip(), "changed": False}
    (tmp_path / "environment").mkdir()
    (tmp_path / "environment/file").touch()
    assert git_revision(tmp_path) == {"commit": head.stdout.strip(), "changed": True}
    assert git_revision(tmp_path / "environment") is None


def test_changes_that_were_not_committed_are_told(tmp_path):
    made = make_manifest(description(["coherence"], [1]), [], tmp_path / "manifest.json")
    for changed, words in ((True, "abc, with uncommitted changes"), (False, "abc")):
        facts = dict(provenance({**made, "revision": {"commit": "abc", "changed": changed}})["provenance"])
        assert facts["Revision"] == words
