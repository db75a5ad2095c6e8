"""What Snakemake would do: dry runs, and what they print, taken apart."""

import re

import yaml
from snake import ROOT
from snake import dry_run as snakemake

from textcritic.digests import is_commit
from textcritic.plan.hub_lock import write_lock
from textcritic.plan.project import Project

__all__ = ["ROOT", "jobs", "logs", "planned", "put_lock", "snakemake", "targets_of"]


def jobs(output):
    """The table of jobs that a dry run prints: rule -> count."""
    return {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", output, re.MULTILINE)}


def planned(output):
    """(rule, wildcards, resources) of every job that a dry run prints."""
    found = []
    for rule, body in re.findall(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)*)", output, re.MULTILINE):
        lines = dict(re.findall(r"^ {4}(wildcards|resources): (.*)$", body, re.MULTILINE))
        pairs = (dict(re.findall(r"(\w+)=([^,\s]+)", lines.get(key, ""))) for key in ("wildcards", "resources"))
        found.append((rule, *pairs))
    return found


def logs(output):
    """(rule, wildcards, log files) of every job that a dry run prints and that makes files."""
    found = []
    for rule, body in re.findall(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)*)", output, re.MULTILINE):
        lines = dict(re.findall(r"^ {4}(wildcards|log|output): (.*)$", body, re.MULTILINE))
        if "output" in lines:
            wildcards = dict(re.findall(r"(\w+)=([^,\s]+)", lines.get("wildcards", "")))
            found.append((rule, wildcards, lines["log"].split(", ") if "log" in lines else []))
    return found


def targets_of(study, folder):
    """The full names of a study's numbered tables and figures."""
    parts = Project({"studies": [study]}, ROOT, folder).studies[study].parts()
    return [f"{study.replace('-', '_')}_{part}" for part in parts]


def put_lock(folder):
    """Write a hub.lock with a commit of each shipped entry that names a branch."""
    models = yaml.safe_load((ROOT / "config/registry/hub.yaml").read_text())
    write_lock(
        folder,
        {
            ("hub", name): {key: entry[key] for key in ("repository", "revision")}
            | {"commit": "0" * 40, "date": "then"}
            for name, entry in models.items()
            if not is_commit(entry["revision"])
        },
    )
