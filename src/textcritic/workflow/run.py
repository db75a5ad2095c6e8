"""Runs Snakemake on a folder, as a user would do it by hand, one run at a time."""

import fcntl
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.place import workflow_folder

LOCK = ".textcritic.lock"
# A line of a job's log, see `runlog.job`.
FAILURE = re.compile(r"^\S+ \S+ ERROR (?:error: (.*)|unexpected (.*))$", re.MULTILINE)
MOST_CAUSES = 3
FORKS = "textcritic.workflow.forks"


def run_workflow(
    folder: Path, lock: int, *options: str, targets: Sequence[str] = (), advice: str = "", module: str = FORKS
) -> None:
    """Build targets in a folder; Snakemake and its jobs write to stderr.

    Args:
        folder: working directory of the workflow.
        lock: see `alone`.
        options: of Snakemake, e.g. `--configfile FILE`.
        targets: what to build; none: all that is configured.
        advice: what the error line ends with.
        module: what runs Snakemake.

    Raises:
        TextcriticError: the workflow failed, or it was stopped.
    """
    # A kill leaves Snakemake's lock behind, and in our own lock file a mark that it is from our run. Any other lock
    # stays: it may be from a Snakemake that somebody started here by hand and that is still running.
    if locked(folder) and os.fstat(lock).st_size:
        _run(folder, snakemake_command(folder, *options, "--unlock"), lock)
    if not locked(folder):
        os.write(lock, b"at work\n")
    started = time.time()
    failed = _run(folder, snakemake_command(folder, *options, targets=targets, module=module), lock)
    if not locked(folder):
        os.ftruncate(lock, 0)
    if failed:
        causes = " | ".join(_causes(folder / "results/logs", started))
        raise TextcriticError(
            f"{folder}: the workflow stopped before it was done{': ' if causes else ''}{causes}; see the lines above"
            f" and {folder / 'results/logs'}; the same command goes on from there{advice}"
        )


def _causes(logs: Path, since: float) -> list[str]:
    """The first failures in the logs of jobs, each once."""
    written = sorted((path.stat().st_mtime, path) for path in logs.rglob("*.log"))
    failures = [
        match[1] if match[1] else f"unexpected {match[2]}; the traceback is in {path}"
        for changed, path in written
        if changed >= since
        for match in FAILURE.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]
    return list(dict.fromkeys(failures))[:MOST_CAUSES]


def snakemake_command(folder: Path, *options: str, targets: Sequence[str] = (), module: str = "snakemake") -> list[str]:
    """The command line that builds targets in a folder with the profile for one machine.

    Args:
        folder: working directory of the workflow.
        options: of Snakemake.
        targets: what to build; none: all that is configured.
        module: what runs it: Snakemake itself, or `textcritic.workflow.forks`, which makes jobs start faster.
    """
    home = workflow_folder()
    paths = {"--snakefile": home / "Snakefile", "--profile": home / "profiles/local", "--directory": folder}
    # Or Snakemake takes a folder `default` where the user is for a second profile.
    options = ("--workflow-profile", "none", *options)
    start = [sys.executable, "-m", module, *(str(part) for pair in paths.items() for part in pair)]
    return [*start, *options, *(["--", *targets] if targets else [])]


def locked(folder: Path) -> bool:
    """Whether a Snakemake is at work in a folder, or was killed there."""
    locks = folder / ".snakemake/locks"
    return locks.is_dir() and any(locks.iterdir())


@contextmanager
def alone(folder: Path) -> Iterator[int]:
    """Make a folder if it is missing, and hold its lock: yields a file descriptor.

    Snakemake inherits the descriptor, so the lock is free only when Snakemake has ended too.

    Raises:
        TextcriticError: another run is at work there, or the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = (folder / LOCK).open("a")
    except OSError as error:
        raise TextcriticError(f"{folder}: cannot be used for results: {error.strerror or error}") from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            advice = "wait for it, or choose another folder"
            raise TextcriticError(f"{folder}: another run is at work here; {advice}") from error
        yield handle.fileno()


def _cache(folder: Path) -> dict[str, str]:
    """A folder for Snakemake's cache if the user's home cannot have one, as in containers of another user."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))  # noqa: PTH111  it never fails
    there = next(place for place in (home, *home.parents) if os.path.lexists(place))
    usable = there.is_dir() and os.access(there, os.W_OK | os.X_OK)
    return {} if usable else {"XDG_CACHE_HOME": str(folder / ".snakemake/cache")}


def _run(folder: Path, command: Sequence[str], lock: int) -> int:
    """Run a command and give its exit code; a request to stop is passed on, and the command is waited for."""
    started: list[subprocess.Popen[bytes]] = []
    asked: list[int] = []

    def stop(number: int, _: object) -> None:
        asked.append(number)
        for process in started:
            process.terminate()

    env = {**os.environ, **_cache(folder)}
    with _on_sigterm(stop), subprocess.Popen(command, stdout=stderr_descriptor(), pass_fds=(lock,), env=env) as process:
        started.append(process)
        if asked:  # while it was being started
            process.terminate()
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue  # Snakemake gets Ctrl-C from the terminal too


def stderr_descriptor() -> int:
    """The file descriptor of stderr; sys.stderr may have none, for example in a notebook."""
    try:
        return sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        return 2


@contextmanager
def _on_sigterm(handler: Callable[[int, object], None]) -> Iterator[None]:
    """Handle requests to stop; outside the main thread do nothing, because only the main thread gets them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
