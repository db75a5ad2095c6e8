"""The command `textcritic demo`: the demo study, built where it is called."""

import os
import sys
from pathlib import Path

from textcritic.workflow.calibrate import speed_of_a_core
from textcritic.workflow.run import alone, run_workflow

STUDY = Path("results/studies/demo")
# What the demo costs on the machine of `calibrate.REFERENCE`, as measured in docs/results.md: seconds of one core for
# all jobs, and for the longest chain of jobs that wait for each other, which more cores do not shorten.
CPU_SECONDS = 1330.0
LONGEST_CHAIN = 430.0


def demo(folder: str | os.PathLike[str] = ".", cores: int | None = None, dry_run: bool = False) -> str:
    """Build the demo study in a folder; what an earlier run has made there is kept.

    Says first, on stderr, how long it will take here, by a calibration of one second.

    Args:
        folder: working directory; results go to `results` there.
        cores: CPU cores; None: all.
        dry_run: only list the jobs, on stderr.

    Returns:
        What `textcritic show` prints of it.

    Raises:
        TextcriticError: a job failed or was stopped, as stderr says; or another run is at work there.
    """
    here = Path(folder).resolve()
    options = ["--config", "studies=['demo']", *(["--cores", str(cores)] if cores else [])]
    with alone(here) as lock:
        if dry_run:
            run_workflow(here, lock, *options, "--dry-run")
            return "nothing was run: above are the jobs that `textcritic demo` would run"
        print(f"textcritic demo: {time_it_takes(here, cores)}", file=sys.stderr, flush=True)
        run_workflow(here, lock, *options)
    from textcritic.report.show import show_study  # here: it takes a second, and the first line should not wait for it

    return show_study(here / STUDY)


def seconds_it_takes(cores: int, speed: float) -> float:
    """Seconds for the whole demo.

    Args:
        cores: CPU cores.
        speed: of each while all are at work, as a multiple of that of the reference machine's.
    """
    return max(CPU_SECONDS / cores, LONGEST_CHAIN) / speed


def time_it_takes(folder: Path, cores: int | None = None) -> str:
    """How long the demo will take in a folder, for the user, by a calibration of one second if there is work to do."""
    if (folder / STUDY / "report.html").is_file():
        return f"{STUDY} is there already: a few seconds if nothing has changed"
    at_work = cores or len(os.sched_getaffinity(0))
    minutes = max(1, round(seconds_it_takes(at_work, speed_of_a_core(at_work)) / 60))
    most = "at most " if (folder / "results").is_dir() else ""  # an earlier run may have done part of it
    how = f"(CPU cores: {at_work}; by a calibration of one second)"
    return f"{most}about {minutes} min {how}; results go to {folder / 'results'}"
