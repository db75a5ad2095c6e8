"""The log of a job: a file, progress with an estimate of the time left, and one clear line on failure."""

import logging
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from textcritic.digests import checked, write_records
from textcritic.errors import TextcriticError, first_line
from textcritic.host import spent
from textcritic.place import PLACE

log = logging.getLogger("textcritic")
CHECKPOINTS = "checkpoints"  # the folder next to a model where its training keeps them
FINISHED = "finished"  # a file there, once the model is written


@contextmanager
def job(log_path: str | Path, name: str, gpu: int | None = None) -> Iterator[None]:
    """Run the body of one rule: everything goes to `log_path`, progress and faults to stderr as well.

    `gpu` is the number of GPUs that a job asked for, if it can use them. With 0, the GPUs of the machine are hidden
    from it. With more, if torch sees none, the job is refused if it was given some, or asked for several and torch is
    built for them (a driver that does not work would cost days); otherwise it runs on the CPU, with a warning.

    In a script that Snakemake runs, the inputs are first compared with the records of the jobs that wrote them, and
    the outputs are recorded at the end (`digests`), with what the job took on which machine (`host`). Where files come
    from a storage, the body runs in the folder of their local copies (`place.PLACE`), in which they have the names that
    rules give them; nothing is compared or recorded there.

    A TextcriticError ends the process with exit code 1 and its one line; any other exception is a bug of textcritic:
    its traceback goes to the log file, and stderr names that file.
    """
    path = Path(log_path)
    path.parent.mkdir(parents=True, exist_ok=True)
    to_file = logging.FileHandler(path, mode="w", encoding="utf-8")
    to_file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    to_screen = logging.StreamHandler(sys.stderr)
    to_screen.setFormatter(logging.Formatter(f"[{name}] %(message)s"))
    log.setLevel(logging.INFO)
    log.handlers = [to_file, to_screen]
    started = time.monotonic()
    try:
        if gpu == 0:
            _hide_gpus()
        elif gpu:
            _require_gpus(gpu)
        script = vars(sys.modules["__main__"]).get("snakemake")  # what Snakemake gives to a script
        place = os.environ.get(PLACE)
        if script and place:
            with _at(Path(place), script.input, script.output):
                yield
        else:
            inputs = taken(script.input) if script else {}
            yield
            if script:
                took = spent(time.monotonic() - started, script.params.items(), gpu or 0)
                write_records(script.rule, script.output, inputs, took)
        log.info("done in %s", duration(time.monotonic() - started))
    except TextcriticError as error:
        log.error("error: %s", error)
        sys.exit(1)
    except Exception as error:
        log.handlers = [to_file]
        log.exception("unexpected %s: %s", type(error).__name__, first_line(error))
        print(f"[{name}] unexpected {type(error).__name__}: {error}; the traceback is in {path}", file=sys.stderr)
        sys.exit(1)
    finally:
        to_file.close()


def taken(inputs: Iterable[str | os.PathLike[str]]) -> dict[str, str | None]:
    """Compare a job's inputs by `digests.checked`, and remove the checkpoints of the trainings that wrote them.

    These trainings have ended well. Their checkpoints are kept until now, because a scheduler may take a training whose
    time ran out just after its end for a failure, and Snakemake then removes the model.
    """
    paths = [Path(path) for path in inputs]
    for folder in {path.parent / CHECKPOINTS for path in paths}:
        if (folder / FINISHED).is_file():
            shutil.rmtree(folder, ignore_errors=True)
    return checked(paths)


@contextmanager
def _at(place: Path, *lists: Any) -> Iterator[None]:
    """Work in the folder of local copies; the paths in Snakemake's lists of files become relative to it.

    Files that are in the working directory and not in the storage, such as those of a checkout, are linked into the
    folder.
    """
    here, place = Path.cwd(), place.absolute()

    def name(path: str) -> str:
        whole = here / path
        if whole.is_relative_to(here) and not whole.is_relative_to(place):
            link = place / whole.relative_to(here)
            link.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                link.symlink_to(whole)
            whole = link
        return str(whole.relative_to(place) if whole.is_relative_to(place) else whole)

    for files in lists:
        for key, value in [*files.items()]:
            setattr(files, key, name(value) if isinstance(value, str) else [*map(name, value)])
        files[:] = map(name, files)
    sys.path.append(str(here))  # the user's own kinds of experiment
    with chdir(place):
        yield


@contextmanager
def progress_on_stderr(name: str) -> Iterator[None]:
    """Show the progress lines of a block on stderr, each after `name`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(f"[{name}] %(message)s"))
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


@contextmanager
def stages(log_path: Path, verbose: bool = False) -> Iterator[Callable[[str], None]]:
    """Log to a file, and yield a function to report stages of work: one line each on stderr, updated on a terminal.

    Warnings go to stderr too; with `verbose` the whole log does.
    """
    log_path.parent.mkdir(parents=True, exist_ok=True)
    to_file = logging.FileHandler(log_path, mode="w", encoding="utf-8")
    to_file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    others = {handler: handler.level for handler in log.handlers}
    on_terminal, seen, started = sys.stderr.isatty() and not verbose, list[str](), time.monotonic()

    def say(stage: str) -> None:
        if (seen and stage == seen[-1]) or (stage in seen and not on_terminal):
            return
        seen.append(stage)
        line = f"[{duration(time.monotonic() - started)}] {stage}"
        print(f"\r\033[K{line}" if on_terminal else line, end="" if on_terminal else "\n", file=sys.stderr, flush=True)

    for handler in others:
        handler.setLevel(logging.NOTSET if verbose else logging.WARNING)
    log.addHandler(to_file)
    try:
        yield say
    finally:
        if on_terminal and seen:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        log.removeHandler(to_file)
        to_file.close()
        for handler, level in others.items():
            handler.setLevel(level)


def _hide_gpus() -> None:
    if given := os.environ.get("SLURM_JOB_GPUS") or os.environ.get("CUDA_VISIBLE_DEVICES"):
        log.warning("GPU %s was given to this job, which asks for none (gpu: 0, no gres): it does not use it", given)
    os.environ["CUDA_VISIBLE_DEVICES"] = ""


def _require_gpus(asked: int) -> None:
    import torch  # here, so that the many jobs without a GPU do not load it

    if torch.cuda.is_available():
        return
    if torch.version.cuda and (asked > 1 or os.environ.get("SLURM_JOB_GPUS")):
        raise TextcriticError(
            f"gpu: {asked} asked for, and torch sees none; run nvidia-smi on this machine to check the driver, or "
            "lower the entry's gpu to 0 to use the CPU"
        )
    why = "torch sees none" if torch.version.cuda else "this torch is built for the CPU alone"
    log.warning("gpu: %d asked for, and %s: ON THE CPU, which can take a hundred times as long", asked, why)


def gpus_of(resources: Mapping[str, str | int]) -> int:
    """GPUs that a job asked for: its `gpu`, or its `gres` at sites that only accept that, e.g. `gpu:a100:2`."""
    kind, *parts = str(resources.get("gres") or "").split(":")
    if kind != "gpu":
        return int(resources.get("gpu") or 0)
    return int(parts[-1]) if parts and parts[-1].isdigit() else 1


class Progress:
    """Counts finished work and logs, at most every `every` seconds, the share done, the speed and the time left.

    Args:
        what: a few words, e.g. "training gpt2-demo".
        total: units of work in all, those already done by an earlier run included.
        unit: plural noun, e.g. "steps".
        done: units that an earlier, killed run had finished.
        every: seconds between two lines.
        brief: whether work that ends before its first line is due logs nothing.
    """

    def __init__(
        self, what: str, total: int, unit: str, done: int = 0, every: float = 10.0, brief: bool = False
    ) -> None:
        self.what, self.total, self.unit, self.done, self.every = what, total, unit, done, every
        self._silent = brief
        self.first = done
        self._started = self._last = time.monotonic()

    def spent(self) -> float:
        """Seconds since this run began counting."""
        return max(time.monotonic() - self._started, 1e-9)

    @property
    def rate(self) -> float:
        """Units a second in this run."""
        return (self.done - self.first) / self.spent()

    def advance(self, by: int = 1, note: str = "") -> None:
        """Add `by` finished units.

        If a progress line is logged now, `note` (a loss, a rate) is added to it.
        """
        self.done += by
        now = time.monotonic()
        due = now - self._last >= self.every
        if due or (self.done >= self.total > self.first and not self._silent):
            self._last, self._silent = now, False
            log.info("%s", self.line(note))

    def line(self, note: str = "") -> str:
        """The current progress line."""
        rate = self.rate
        left = duration((self.total - self.done) / rate) + " left" if rate > 0 else "no estimate yet"
        share = 100 * self.done / max(self.total, 1)
        tail = f", {note}" if note else ""
        return f"{self.what}: {self.done:,} of {self.total:,} {self.unit} ({share:.0f}%), {left}{tail}"


def duration(seconds: float) -> str:
    """Seconds as people say them: `8 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def versions(*packages: str) -> dict[str, str]:
    """Installed version of each package, for manifests and statistics; packages that are absent are left out."""
    installed = {}
    for package in packages:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    return installed
