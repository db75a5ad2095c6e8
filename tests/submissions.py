"""What a dry run under `profiles/slurm` would send: jobs, in the groups that Snakemake makes of them, and their chain.

python tests/submissions.py FOLDER STUDY ... prints a row for each study; FOLDER has the files that users bring.
"""

import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PROFILE = ("--profile", str(ROOT / "profiles/slurm"), "--dry-run")


class Job(NamedTuple):
    """A job that a dry run prints.

    Attributes:
        rule: its rule.
        sent: number of the submission that it is in; None where it runs on the login node.
        inputs: files.
        outputs: files.
        minutes: the run time that it asks for.
    """

    rule: str
    sent: int | None
    inputs: frozenset[str]
    outputs: frozenset[str]
    minutes: int


@cache
def local_rules() -> frozenset[str]:
    """The rules that never leave the login node."""
    texts = [path.read_text() for path in (ROOT / "rules").glob("*.smk")]
    blocks = [block for text in texts for block in re.findall(r"^localrules:\n((?:    \w+,\n)+)", text, re.M)]
    return frozenset(re.findall(r"\w+", " ".join(blocks)))


def planned_jobs(printed: str) -> list[Job]:
    """The jobs of a dry run, but for targets, which have no output."""
    found, number = list[dict[str, str]](), 0
    for line in printed.splitlines():
        if re.match(r"\[.*\] Group job ", line):
            number += 1
        elif rule := re.fullmatch(r"( *)(?:local)?rule (\w+):", line):
            number += not rule[1]  # without an indent it is a job alone
            found.append({"rule": rule[2], "number": str(number)})
        elif found and (said := re.match(r" +(input|output|resources): (.*)", line)):
            found[-1][said[1]] = said[2]
    return [_job(said) for said in found if "output" in said]


def _job(said: dict[str, str]) -> Job:
    inputs, outputs = (frozenset(said.get(key, "").split(", ")) for key in ("input", "output"))
    runtime = re.search(r"\bruntime=(\d+)", said.get("resources", ""))
    sent = None if said["rule"] in local_rules() else int(said["number"])
    return Job(said["rule"], sent, inputs, outputs, int(runtime[1]) if runtime else 0)


def ungrouped(printed: str) -> str:
    """The text of a dry run with the members of groups as jobs alone."""
    return re.sub(r"^ {4}(?= {4}|(?:local)?rule |\[)", "", printed, flags=re.M)


def submissions(jobs: list[Job]) -> int:
    """How often `sbatch` is called."""
    return len({job.sent for job in jobs} - {None})


def chain(jobs: list[Job]) -> tuple[int, int]:
    """The longest chain of submissions, and the most minutes that one asks for; members of a group run in turn."""
    maker = {path: n for n, job in enumerate(jobs) for path in job.outputs}
    of = [("local", n) if job.sent is None else ("sent", job.sent) for n, job in enumerate(jobs)]
    minutes, before = Counter[tuple[str, int]](), dict[tuple[str, int], set[tuple[str, int]]]()
    for place, job in zip(of, jobs, strict=True):
        minutes[place] += 0 if job.sent is None else job.minutes
        before.setdefault(place, set()).update(of[maker[path]] for path in job.inputs if path in maker)

    @cache
    def longest(place: tuple[str, int]) -> tuple[int, int]:
        behind = [longest(other) for other in before[place] if other != place]
        many, long = (max((pair[key] for pair in behind), default=0) for key in (0, 1))
        return many + (place[0] == "sent"), long + minutes[place]

    every = [longest(place) for place in before]
    return max(pair[0] for pair in every), max(pair[1] for pair in every)


if __name__ == "__main__":
    for study in sys.argv[2:]:
        command = [sys.executable, "-m", "snakemake", "-s", ROOT / "Snakefile", "--directory", sys.argv[1], *PROFILE]
        command += ["--configfile", ROOT / "config/config.yaml", "--config", f"studies=['{study}']"]
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
        found = planned_jobs(run.stdout)
        many, long = chain(found)
        print(f"| {study} | {len(found)} | {submissions(found)} | {many} | {long / 60:.1f} h |")
