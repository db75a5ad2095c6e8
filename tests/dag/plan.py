"""What Snakemake would do: dry runs, and what they print, taken apart."""

import re

import yaml
from snake import ROOT
from snake import dry_run as snakemake

__all__ = ["ROOT", "jobs", "logs", "planned", "put_models", "snakemake"]


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


def put_models(folder):
    """Make the folders of the pretrained models that users put beside a study, empty."""
    critics = yaml.safe_load((ROOT / "config/registry/critics.yaml").read_text())
    models = (entry.get("model", {}).get("transformer", {}) for entry in critics.values())
    for path in {model["init"]["folder"] for model in models if "folder" in model.get("init", {})}:
        (folder / path).mkdir(parents=True)
