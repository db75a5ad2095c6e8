"""Snakemake submitting to SLURM through the project's profile, and what SLURM says about the jobs."""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CONFIG = ["--configfile", "tests/micro/config.yaml", "tests/slurm/config.yaml"]
# What this cluster needs beyond the profile: it keeps no accounts, and what it does is done in seconds.
SITE = ["--slurm-status-command=squeue", "--slurm-init-seconds-before-status-checks=2", "--latency-wait=5"]
SITE += ["--retries=0"]  # a failure stays one, for the test to look at
THREADS = 4
SITE += ["--set-threads", f"fit_ngram={THREADS}"]
TIMEOUT = 1200  # seconds, on a machine that runs all other tests too


class Run:
    """One call of `snakemake --profile slurm`, started with the object.

    Args:
        folder: the working directory of the study.
        targets: rules or files; none for the whole study.
        options: of Snakemake, beside those that every call here has.
    """

    def __init__(self, folder: Path, *targets: str, options: Sequence[str] = ()) -> None:
        self.folder = folder
        number = len(list(folder.glob("said-*")))
        self._said = folder / f"said-{number}"
        command = [sys.executable, "-m", "snakemake", "--profile", "slurm", "--directory", str(folder), *CONFIG, *SITE]
        with self._said.open("w") as said:
            self._process = subprocess.Popen(
                [*command, *options, "--", *targets],
                cwd=ROOT,
                stdout=said,
                stderr=subprocess.STDOUT,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
            )

    def stop(self) -> None:
        """Stop Snakemake if it still runs, as Ctrl-C does: it cancels its jobs (at a SIGTERM it waits for them)."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(60)

    def wait(self) -> "Run":
        """Wait for the end; then `code`, `said` and `results` (the files there were) are what they were just then."""
        try:
            self.code = self._process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.stop()
            self.said = self._said.read_text()
            pytest.fail(f"Snakemake did not end within {TIMEOUT} s and said:\n{self.brief()}")
        self.said = self._said.read_text()
        files = (self.folder / "results").rglob("*")
        self.results = {str(path.relative_to(self.folder)) for path in files if path.is_file()}
        return self

    def brief(self) -> str:
        """What it said, with the long lists of files cut."""
        return "\n".join(line[:200] for line in self.said.splitlines())

    def jobs(self) -> list[dict[str, str]]:
        """The SLURM jobs of this call, as `scontrol` describes them, and the `rule` of each."""
        name = re.search(r"SLURM run ID: (\S+)", self._said.read_text())
        lines = output("scontrol", "--oneliner", "show", "jobs").splitlines()
        jobs = [dict(re.findall(r"(\S+?)=(\S*)", line)) for line in lines]
        jobs = [job for job in jobs if name and job.get("JobName") == name[1]]
        return [job | {"rule": job["Comment"].removeprefix("rule_").partition("_wildcards_")[0]} for job in jobs]

    def rules(self) -> Counter[str]:
        """How many SLURM jobs each rule, or group by its name and rules, had."""
        return Counter(job["rule"] for job in self.jobs())


def environments(job: str) -> list[dict[str, str]]:
    """The environment of each process of a running job."""
    found = []
    for line in output("scontrol", "listpids", job).splitlines()[1:]:
        try:
            variables = Path(f"/proc/{line.split()[0]}/environ").read_text()
        except OSError:  # it has ended meanwhile
            continue
        found.append(dict(v.split("=", 1) for v in variables.split("\0") if "=" in v))
    return found


def wait_for(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """The first value of `condition` that counts as true; the test fails when there is none in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if value := condition():
            return value
        time.sleep(0.1)
    pytest.fail(f"{what}: not within {seconds:g} s")


def output(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
