"""`textcritic workflow`: what it writes, and that it overwrites nothing. That it works is in e2e/test_wheel.py."""

import pytest
import yaml

from textcritic.cli import main
from textcritic.plan.project import Project
from textcritic.workflow import workflow_folder
from textcritic.workflow.start import write_start


def texts(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_what_is_written_is_a_valid_configuration_of_things_of_ones_own(tmp_path):
    assert write_start(tmp_path / "new folder").startswith(f"{tmp_path}/new folder:\n  README.md\n  Snakefile\n")
    folder = tmp_path / "new folder"
    config = yaml.safe_load((folder / "config.yaml").read_text())
    project = Project(config, workflow_folder(), folder)
    assert list(project.studies) == ["mine"]
    assert {"my-gpt2", "gpt2-demo"} <= set(project.registries.entries["generators"])
    assert {"my-corpus", "docstrings"} <= set(project.registries.entries["corpora"])
    ours = (workflow_folder() / "profiles/slurm/profile.yaml").read_text()
    profile = (folder / "slurm/profile.yaml").read_text()
    assert yaml.safe_load(profile) == {**yaml.safe_load(ours), "configfile": "config.yaml"}


def test_nothing_is_overwritten(tmp_path, capsys):
    write_start(tmp_path)
    written = texts(tmp_path)
    (tmp_path / "studies/mine.yaml").unlink()
    assert main(["workflow", str(tmp_path)]) == 0  # one that was killed is completed
    assert texts(tmp_path) == written
    for path in ("README.md", "Snakefile"):
        (tmp_path / path).unlink()
    (tmp_path / "config.yaml").write_text("studies: []\n")
    capsys.readouterr()
    assert main(["workflow", str(tmp_path)]) == 2
    assert f"{tmp_path}/config.yaml: is there already, and nothing is overwritten" in capsys.readouterr().err
    assert texts(tmp_path) == {
        name: text for name, text in written.items() if name not in ("README.md", "Snakefile")
    } | {"config.yaml": "studies: []\n"}


@pytest.mark.parametrize("name", ["Snakefile", "registry"])
def test_what_is_no_file_or_no_folder_is_in_the_way(name, tmp_path, capsys):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "Snakefile").mkdir() if name == "Snakefile" else (folder / "registry").touch()
    assert main(["workflow", str(folder)]) == 2
    assert capsys.readouterr().err.startswith(f"textcritic: {folder}")
    assert not (folder / "config.yaml").exists()
