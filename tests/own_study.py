"""Registries and a study `own` of one's own, beside the shipped registries."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from textcritic.errors import TextcriticError
from textcritic.plan.experiment import Experiment
from textcritic.plan.project import Project

ROOT = Path(__file__).parents[1]


def write(path: Path, value: Any) -> None:
    path.write_text(yaml.safe_dump(value))


def study(*experiments: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"title": "Own", "experiments": list(experiments), **keys}


def own_folder(folder: Path, study: dict[str, Any], **registries: dict[str, Any]) -> Path:
    """A folder with the study and a file for each of the registries, by its name."""
    (folder / "registry").mkdir()
    (folder / "studies").mkdir()
    for registry, entries in registries.items():
        write(folder / f"registry/{registry}.yaml", entries)
    write(folder / "studies/own.yaml", study)
    return folder


def project(folder: Path, leave_out: bool = False, begun: bool = False, **config: Any) -> Project:
    settings = {"studies": ["own"], "registry_folders": ["config/registry", "registry"], "study_folders": ["studies"]}
    return Project({**settings, **config}, ROOT, folder, leave_out, begun)


def experiment(folder: Path, name: str) -> Experiment:
    """An experiment of the study `own`."""
    return project(folder).studies["own"].experiments[name]


def assert_refused(folder: Path, study: dict[str, Any], message: str) -> None:
    """The study is refused in one line that names its file and matches."""
    write(folder / "studies/own.yaml", study)
    with pytest.raises(TextcriticError, match=message) as refused:
        project(folder)
    assert str(refused.value).startswith(f"{folder}/studies/own.yaml: ")
    assert "\n" not in str(refused.value)
