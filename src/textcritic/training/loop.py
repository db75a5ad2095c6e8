"""The one training loop: resumption, lock, checkpoints, progress, SIGTERM, validations and the best model.

What is particular to a kind of training is a `Job`; the loop asks it for one step after the other. A training function
of a kind reads like this:

    with resumable(run, decides, files) as loop:
        job = MyJob(...)
        loop.train(job)
        loop.finish(save_model, report)
"""

import math
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from textcritic.errors import TextcriticError
from textcritic.files import read_json, whole_folder, write_json
from textcritic.runlog import CHECKPOINTS, Progress, log
from textcritic.training.checkpoint import Checkpoints, State, file_digests, load_state
from textcritic.training.hardware import cpu_settings, rng_state, set_rng_state
from textcritic.training.lock import locked
from textcritic.training.processes import Ranks, run_together, terminated
from textcritic.values import JsonObject

# What a checkpoint holds of the loop; the rest of it is the job's.
LOOP_STATE = ("step", "evaluated", "best_step", "best_loss", "settled", "points", "seconds", "stepping")


@dataclass(frozen=True)
class Run:
    """What a training writes and how it is run; of all this only `version` decides whether old state is taken up.

    Attributes:
        model_dir: model folder to write; state is kept in `checkpoints/` next to it until another job reads it.
        report_path: JSON file to write.
        name: for progress and error lines, e.g. "gpt2-demo w-title".
        threads: CPU threads of torch, of all processes together; None leaves torch's own number.
        version: of the stage; state that another version left is removed.
        checkpoint_seconds: least time between two checkpoints.
    """

    model_dir: str | os.PathLike[str]
    report_path: str | os.PathLike[str]
    name: str = "model"
    threads: int | None = None
    version: int = 1
    checkpoint_seconds: float = 300.0

    def shared(self, processes: int) -> JsonObject:
        """The same as JSON values, for each of so many processes, which share its threads."""
        threads = max(1, self.threads // processes) if self.threads else None
        paths = {"model_dir": str(self.model_dir), "report_path": str(self.report_path)}
        return {**asdict(self), **paths, "threads": threads}

    @property
    def folder(self) -> Path:
        """Where checkpoints and the lock are."""
        return Path(self.model_dir).parent / CHECKPOINTS


class Job(ABC):
    """One training as the loop sees it; a step may be an update by one batch or a pass over the whole text.

    The result of a step is to be a function of the job's state and torch's random numbers alone: then a resumed
    training gives exactly what an uninterrupted one gives. With several processes, each has a job and calls all
    methods at the same time.

    Attributes:
        name: for progress and error lines.
        steps: number of the last step. Steps are counted from 1.
        seed: of torch's random numbers; each process has its own stream.
        work: units of work in all; progress lines count how many are done.
        unit: what these units are, a plural noun.
        step_noun: what error lines call a step.
        first_step: 1 where the model that training begins with is itself the result of a long computation (`begin`),
            which is then validated and saved as step 1; else 0.
        saves_every_validation: whether the state is saved after every validation. If it is too large for that: only
            as soon as an attempt has something new to save, at the end, and whenever a checkpoint is due.
    """

    name: str
    steps: int
    seed: int
    work: int
    unit = "steps"
    step_noun = "step"
    first_step = 0
    saves_every_validation = True

    def begin(self, loop: "Loop") -> None:
        """Make what training begins with; not called where a checkpoint is restored."""
        return

    @abstractmethod
    def step(self, loop: "Loop") -> None:
        """Do step number `loop.step + 1`, and report its work by `loop.advance`, in one or several parts.

        A step that takes long calls `loop.check` now and then, which ends the training if SIGTERM came; what the step
        has done is lost then.
        """

    @abstractmethod
    def state(self) -> State:
        """What a checkpoint holds of this job: tensors, numbers, strings, lists and dicts, with keys of its own."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Go on from a `state`; tensors are on the CPU."""

    def settle(self, loop: "Loop") -> None:
        """Wait for work that was started and not yet waited for; called before validations and checkpoints."""
        return

    def validation_is_due(self, step: int) -> bool:
        """Whether there is a validation after a step; the default is a training without any."""
        return False

    def validate(self, loop: "Loop") -> float | None:
        """The loss of the current model, the same in all processes; None if `loop.stopping` cut it short."""
        raise NotImplementedError

    def weights(self) -> State:
        """The current model, to be kept as the best. Where not every validation is saved, steps must not change these
        tensors.
        """
        raise NotImplementedError

    def train_loss(self) -> float | None:
        """The training loss for the next point of the curve, which a validation makes."""
        return None

    def after_validation(self, loop: "Loop", loss: float) -> bool:
        """Log a validation loss, and learn from it; true if training is to end here."""
        return False

    def done(self, step: int) -> int:
        """Units of work done up to a step, for progress lines."""
        return step


def launch(share: Callable[..., None], given: JsonObject, run: Run, processes: int) -> JsonObject:
    """Train in this process, or in several that work together; returns the report that they have written.

    Args:
        share: the work of one process, a function of a module: it takes its `Ranks`, and `given` and `run` by name.
        given: JSON values.
        run: what is written and how.
        processes: of this node.

    Raises:
        TextcriticError: as `share` and `processes.run_together`.
    """
    arguments = {**given, "run": run.shared(processes)}
    if processes > 1:
        run_together(f"{share.__module__}:{share.__name__}", arguments, processes, f"training {run.name}")
    else:
        share(Ranks(), **arguments)
    report: JsonObject = read_json(run.report_path)
    return report


@contextmanager
def resumable(
    run: Run,
    decides: JsonObject,
    files: Mapping[str, str | os.PathLike[str]],
    ranks: Ranks | None = None,
) -> Iterator["Loop"]:
    """A training's folder and a loop for it, in a `with` block: locked, SIGTERM held off, torch's settings restored.

    Args:
        run: what is written and how.
        decides: everything that decides the result, as JSON values, but for `run.version` and the input files.
        files: input files by their role, see `checkpoint.file_digests`.
        ranks: this process among those that train together; alone by default.

    Raises:
        TextcriticError: an input file is missing, another job trains in this folder, or it cannot be written to.
    """
    ranks = ranks or Ranks()
    try:
        run.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TextcriticError(f"{run.folder}: cannot be made: {error.strerror or error}") from error
    lock = locked(run.folder / "lock.json") if ranks.leads else nullcontext()
    with cpu_settings(run.threads), _random_numbers(), lock, terminated() as stop:
        checkpoints = None
        if ranks.leads:
            specification = {**decides, "files": file_digests(files), "version": run.version}
            checkpoints = Checkpoints(run.folder, specification)
        yield Loop(run, ranks, stop, checkpoints)


class Loop:
    """The loop, and what a checkpoint holds besides the job's own state; `resumable` makes it.

    Attributes:
        step: steps done.
        evaluated: the last step that was validated.
        best_step: the validated step with the lowest loss; 0: none yet.
        best_loss: that loss; infinite: none yet.
        settled: whether the job ended the training.
        points: length of the curve.
        seconds: of all attempts.
        stepping: seconds of the steps alone, from one that has been waited for to another.
    """

    def __init__(self, run: Run, ranks: Ranks, stop: threading.Event, checkpoints: Checkpoints | None) -> None:
        self.run, self.ranks, self.stop, self._checkpoints = run, ranks, stop, checkpoints
        self.step = self.evaluated = self.best_step = self.points = 0
        self.best_loss, self.settled, self.seconds, self.stepping = math.inf, False, 0.0, 0.0
        self._best: State | None = None  # the best model while it is not on disk
        self._unsaved = True  # whether something has happened since the last checkpoint

    def train(self, job: Job) -> None:
        """Run a job to its end, from the newest checkpoint if there is one.

        Raises:
            TextcriticError: SIGTERM, after a checkpoint; a validation loss that is not finite; the job's own faults.
        """
        self.job, self._started = job, time.monotonic()
        self._resume()
        self._progress = Progress(f"training {job.name}", job.work, job.unit, job.done(self.step))
        saved = 0.0 if job.saves_every_validation else -math.inf  # seconds into this attempt
        began = 0.0
        while self._unsaved or not self._at_end():
            due, spent = self._validation_is_due(), self._progress.spent()
            late = self.ranks.leads and self._unsaved and spent - saved >= self.run.checkpoint_seconds
            stopped, overdue = self.ranks.any(self.stop.is_set(), late)
            if due or stopped or overdue or self._at_end():
                job.settle(self)
                self.stepping += self._progress.spent() - began
                validated = due and self._validate()
                (stopped,) = self.ranks.any(self.stop.is_set())
                if stopped or overdue or self._at_end() or (validated and job.saves_every_validation):
                    saved = self._progress.spent()
                    self._save()
                began = self._progress.spent()
            if stopped:
                raise TextcriticError(
                    f"training {job.name}: stopped by SIGTERM after {job.step_noun} {self._number():,} of "
                    f"{job.steps - job.first_step:,}; the checkpoint is saved, rerun to go on from there"
                )
            if not self._at_end():
                job.step(self)
                self.step, self._unsaved = self.step + 1, True

    def advance(self, units: int, note: str) -> None:
        """Count units of work that a step has done; a progress line, if one is due, ends with the note."""
        self._progress.advance(units, note)

    @property
    def rate(self) -> float:
        """Units of work a second, in this attempt."""
        return self._progress.rate

    def stopping(self) -> bool:
        """Whether SIGTERM came to this process."""
        return self.stop.is_set()

    def check(self) -> None:
        """Raise a TextcriticError if SIGTERM came: for the middle of a long step, whose work is lost then."""
        if self.stop.is_set():
            raise TextcriticError(
                f"training {self.job.name}: stopped by SIGTERM in {self.job.step_noun} {self.step}; the last "
                "checkpoint is kept, rerun to go on from there"
            )

    def record(self, step: int, train_loss: float | None, **more: float) -> None:
        """Add a point to the curve."""
        if self._checkpoints:
            self._checkpoints.record({"step": step, "train_loss": train_loss, **more})
        self.points += 1

    def curve(self) -> list[JsonObject]:
        """The points so far; in the process that leads."""
        return self._checkpoints.curve() if self._checkpoints else []

    def best(self) -> State:
        """The weights of the best validation; in the process that leads."""
        if self._checkpoints is None:
            raise RuntimeError("only the process that leads reads the best weights")
        return self._checkpoints.load_best(self.best_step)

    def finish(self, save: Callable[[Path], None], report: JsonObject) -> None:
        """Write the model folder by `save`, then the report; the last checkpoint stays until a job reads these."""
        if self._checkpoints:
            with whole_folder(self.run.model_dir) as temporary:
                save(temporary)
            write_json(self.run.report_path, report)
            self._checkpoints.finish()

    def _at_end(self) -> bool:
        return not self._validation_is_due() and (self.settled or self.step >= self.job.steps)

    def _validation_is_due(self) -> bool:
        return self.step > self.evaluated and self.job.validation_is_due(self.step)

    def _number(self) -> int:
        """The step, counted without the one that is the beginning."""
        return self.step - self.job.first_step

    def _validate(self) -> bool:
        """Validate, and keep the model if it is the best so far; False when abandoned because of SIGTERM."""
        job = self.job
        loss = job.validate(self)
        if loss is None:
            return False
        if not math.isfinite(loss):
            raise TextcriticError(
                f"training {job.name}: the validation loss is {loss:g} after {job.step_noun} {self._number():,}; lower "
                "training.learning_rate (the last checkpoint is kept)"
            )
        self.evaluated, self._unsaved = self.step, True
        if loss < self.best_loss:
            self.best_loss, self.best_step = loss, self.step
            self._best = job.weights() if self._checkpoints else None
        self.record(self._number(), job.train_loss(), validation_loss=loss)
        self.settled = job.after_validation(self, loss)
        return True

    def _save(self) -> None:
        """Save the state after the last step; every process waits until it is on disk."""
        if not self._unsaved:
            return
        now = time.monotonic()
        self.seconds, self._started = self.seconds + now - self._started, now
        rng = self.ranks.gather(rng_state())
        if self._checkpoints:
            if self._best is not None:
                self._checkpoints.save_best(self._best, self.best_step)
                self._best = None
            state = {key: getattr(self, key) for key in LOOP_STATE}
            self._checkpoints.save({**state, "rng": rng, **self.job.state()}, self.step, self.best_step)
        self._unsaved = False
        self.ranks.wait()

    def _resume(self) -> None:
        """Restore the newest checkpoint, one process after the other, as a state can be large; or begin."""
        state = self._checkpoints.load() if self._checkpoints else None
        newest = self.ranks.share(state and (state["step"], state.get("best_step", 0)))
        if newest:
            for turn in range(self.ranks.size):
                if turn == self.ranks.rank:
                    self._restore(state or load_state(self.run.folder, *newest))
                    state = None
                self.ranks.wait()
        else:
            self._seed()
            self.job.begin(self)
            self.step = self.job.first_step
        if self._checkpoints:
            self._checkpoints.rewind_curve(self.points)

    def _restore(self, state: State) -> None:
        for key in LOOP_STATE:
            # Before all trainings shared this loop, those with a point at each step saved only a part of these.
            missing = state["step"] if key in ("evaluated", "points") else getattr(self, key)
            setattr(self, key, state.get(key, missing))
        self.job.restore(state)
        rng = state.get("rng", [])
        before, now = [rng] if isinstance(rng, Mapping) else rng, self.ranks.size
        if len(before) == now:
            set_rng_state(before[self.ranks.rank])
        else:
            if before:
                log.info("%d processes trained before, %d go on: dropout is drawn from new streams", len(before), now)
            self._seed()
        self._unsaved = False

    def _seed(self) -> None:
        """Each process has a stream of its own; that of the first process, from the start, is the seed's."""
        number = (self.job.seed, self.ranks.rank, self.step)
        derived = int(np.random.SeedSequence(number).generate_state(1, np.uint64)[0] >> 1)
        torch.manual_seed(derived if any(number[1:]) else self.job.seed)


@contextmanager
def _random_numbers() -> Iterator[None]:
    """Restore torch's random state at the end of a `with` block, so that a training leaves no trace in it."""
    before = rng_state()
    try:
        yield
    finally:
        set_rng_state(before)
