"""What Snakemake would do: dry runs, and what they print, taken apart."""

import re
from collections import Counter
from typing import NamedTuple

import yaml
from snake import ROOT
from snake import dry_run as snakemake

from textcritic.digests import is_commit
from textcritic.plan.entries.downloads import Pin
from textcritic.plan.hub_lock import write_lock
from textcritic.plan.project import Project

__all__ = ["ROOT", "Plan", "jobs", "logs", "planned", "put_lock", "snakemake", "targets_of"]


class Plan(NamedTuple):
    """What a dry run prints of several targets, of which each test looks at one."""

    output: str

    def of(self, target):
        """The table of jobs of this target, and what `planned` gives of them: all that it needs, by their files."""
        bodies, makers, waiting = _bodies(self.output), {}, []
        for number, (rule, lines) in enumerate(bodies):
            makers |= dict.fromkeys(_files(lines, "output"), number)
            waiting += [number] if rule == target else []
        assert len(waiting) == 1, f"{target} is not a target of the dry run"
        needed = set()
        while waiting:
            number = waiting.pop()
            if number not in needed:
                needed.add(number)
                waiting += [makers[path] for path in _files(bodies[number][1], "input") if path in makers]
        every = planned(self.output)
        plan = [every[number] for number in sorted(needed)]
        return dict(Counter(rule for rule, *_ in plan)), plan


def _bodies(output):
    """(rule, lines by key) of every job that a dry run prints."""
    found = re.findall(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)*)", output, re.MULTILINE)
    return [(rule, dict(re.findall(r"^ {4}(\w+): (.*)$", body, re.MULTILINE))) for rule, body in found]


def _files(lines, key):
    return lines[key].split(", ") if key in lines else []


def jobs(output):
    """The table of jobs that a dry run prints: rule -> count."""
    return {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", output, re.MULTILINE)}


def planned(output):
    """(rule, wildcards, resources) of every job that a dry run prints."""
    return [
        (rule, *(dict(re.findall(r"(\w+)=([^,\s]+)", lines.get(key, ""))) for key in ("wildcards", "resources")))
        for rule, lines in _bodies(output)
    ]


def logs(output):
    """(rule, wildcards, log files) of every job that a dry run prints and that makes files."""
    found = []
    for rule, lines in _bodies(output):
        if "output" in lines:
            wildcards = dict(re.findall(r"(\w+)=([^,\s]+)", lines.get("wildcards", "")))
            found.append((rule, wildcards, _files(lines, "log")))
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
            ("hub", name): Pin(repository=entry["repository"], revision=entry["revision"], commit="0" * 40, date="then")
            for name, entry in models.items()
            if not is_commit(entry["revision"])
        },
    )
