"""The command `textcritic demo`: a demo study, built where it is called."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from textcritic.errors import TextcriticError, suggestion
from textcritic.workflow.calibrate import speed_of_a_core
from textcritic.workflow.install import install
from textcritic.workflow.run import alone, run_workflow

STUDIES = Path("results/studies")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a study costs on the machine of `calibrate.REFERENCE`, as measured in docs/results/speed.md.

    Attributes:
        cpu_seconds: of one core, for all jobs.
        longest_chain: seconds of the longest chain of jobs that wait for each other; more cores do not shorten it.
        installs: packages that are installed first, see `install.install`; these seconds do not include it.
    """

    cpu_seconds: float
    longest_chain: float
    installs: tuple[str, ...] = ()

    def seconds(self, cores: int, speed: float) -> float:
        """Seconds for the whole study.

        Args:
            cores: CPU cores.
            speed: of each while all are at work, as a multiple of that of the reference machine's.
        """
        return max(self.cpu_seconds / cores, self.longest_chain) / speed


DEMO = "demo"
DEMOS: Mapping[str, Cost] = {
    DEMO: Cost(1400.0, 450.0),
    "coreference-demo": Cost(680.0, 340.0),
    "latent-lms-demo": Cost(400.0, 90.0),
    "document-coherence-demo": Cost(1150.0, 350.0),
    "code-mixing-demo": Cost(700.0, 350.0, ("fairseq", "catalogues")),
}
"""The studies that download nothing except Python packages."""


def demo(
    folder: str | os.PathLike[str] = ".",
    cores: int | None = None,
    dry_run: bool = False,
    study: str = DEMO,
    accept: str | None = None,
) -> str:
    """Build a demo study in a folder; the results of an earlier run there are kept.

    First it prints to stderr how long it will take here, by a calibration of one second.

    Args:
        folder: working directory; results go to `results` there.
        cores: CPU cores; None: all.
        dry_run: only list the jobs, on stderr.
        study: one of `DEMOS`.
        accept: registry entries, separated by commas, whose results may be made again with their current values.

    Returns:
        What `textcritic show` prints of it.

    Raises:
        TextcriticError: no such study; a job failed or was stopped, as stderr says; or another run is at work there.
    """
    if study not in DEMOS:
        hint = suggestion(study, DEMOS, f"use one of {', '.join(DEMOS)}")
        raise TextcriticError(f"demo: there is no demo study {study!r}; {hint}")
    here = Path(folder).resolve()
    options = [
        "--config",
        f"studies=['{study}']",
        *([f"accept={accept}"] if accept else []),
        *(["--cores", str(cores)] if cores else []),
    ]
    with alone(here) as lock:
        if dry_run:
            run_workflow(here, lock, *options, "--dry-run")
            return "nothing was run: above are the jobs that `textcritic demo` would run"
        for name in DEMOS[study].installs:
            print(f"textcritic demo: {install(name)}", file=sys.stderr, flush=True)
        print(f"textcritic demo: {time_it_takes(here, study, cores)}", file=sys.stderr, flush=True)
        run_workflow(here, lock, *options)
    from textcritic.report.show import show_study  # here: it takes a second, and the first line should not wait for it

    return show_study(here / STUDIES / study)


def time_it_takes(folder: Path, study: str, cores: int | None = None) -> str:
    """How long a study will take in a folder, for the user, by a calibration of one second if there is work to do."""
    if (folder / STUDIES / study / "report.html").is_file():
        return f"{STUDIES / study} is there already: a few seconds if nothing has changed"
    at_work = cores or len(os.sched_getaffinity(0))
    minutes = max(1, round(DEMOS[study].seconds(at_work, speed_of_a_core(at_work)) / 60))
    most = "at most " if (folder / "results").is_dir() else ""  # an earlier run may have done part of it
    how = f"(CPU cores: {at_work}; by a calibration of one second)"
    return f"{most}about {minutes} min {how}; results go to {folder / 'results'}"
