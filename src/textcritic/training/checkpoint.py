"""Resume state of a training: written whole or not at all, tied to its specification, the last two kept."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import torch

from textcritic.digests import sha256
from textcritic.errors import TextcriticError
from textcritic.files import read_json, whole_file, write_json
from textcritic.runlog import FINISHED, log
from textcritic.values import JsonObject

KEPT = 2
STATE = re.compile(r"state-(\d+)\.best-(\d+)\.pt")
State: TypeAlias = dict[str, Any]
"""What torch saves of a training or a model: by key, tensors, numbers, texts, lists, and mappings of these."""
BEST = re.compile(r"best-(\d+)\.pt")


class Checkpoints:
    """The checkpoints in one folder.

    `state-{step}.best-{best}.pt` is the state after `step` optimiser steps, `best-{best}.pt` the model's weights at
    the step with the lowest validation loss so far (0: none yet), and `train.jsonl` the losses line by line.

    Args:
        folder: the folder, made if absent; the caller holds its lock.
        specification: everything that decides the result, as JSON values: state of another specification is removed.
    """

    def __init__(self, folder: Path, specification: JsonObject) -> None:
        self.folder = folder
        self.curve_path = folder / "train.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        for stale in (*folder.glob(".*.tmp"), folder / FINISHED):
            stale.unlink(missing_ok=True)
        self._claim(json.loads(json.dumps(specification)))

    def save(self, state: State, step: int, best_step: int) -> None:
        """Write the state after `step` steps; keep only the last two states and the best weights that they refer to."""
        with self.curve_path.open("a") as handle:
            os.fsync(handle.fileno())  # its points are on disk before a state that counts them
        _save(state, _state_path(self.folder, step, best_step))
        self._keep(KEPT)

    def save_best(self, weights: State, step: int) -> None:
        """Write the best weights so far; a `save` that refers to them should follow."""
        _save(weights, self.folder / f"best-{step}.pt")

    def load(self) -> State | None:
        """The newest state that can be read, tensors on the CPU; None when there is none.

        One that is truncated, or whose best weights are, is removed with a line in the log.
        """
        for step, best, path in reversed(self._states()):
            try:
                state = load_state(self.folder, step, best)
                if best:
                    self.load_best(best)
            except TextcriticError as fault:
                log.info("%s; it is removed, the one before is tried", fault)
                path.unlink()
                continue
            log.info("resuming from step %d", step)
            return state
        return None

    def load_best(self, step: int) -> State:
        """The weights saved by `save_best`.

        Raises:
            TextcriticError: they are missing or truncated.
        """
        return _load(self.folder / f"best-{step}.pt")

    def record(self, point: JsonObject) -> None:
        """Append one line to the curve."""
        with self.curve_path.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps(point) + "\n")

    def curve(self) -> list[JsonObject]:
        """The recorded points; a last line that was cut short is left out."""
        if not self.curve_path.is_file():
            return []
        points = []
        for line in self.curve_path.read_text(encoding="utf-8").splitlines():
            try:
                points.append(json.loads(line))
            except json.JSONDecodeError:
                break
        return points

    def rewind_curve(self, length: int) -> None:
        """Keep the first `length` points. What a killed run recorded after its last checkpoint is recorded again."""
        kept = self.curve()[:length]
        if len(kept) < length:
            lost = length - len(kept)
            log.warning("%s: %d of %d points are lost; the model does not need them", self.curve_path, lost, length)
        with whole_file(self.curve_path) as temporary:
            temporary.write_text("".join(json.dumps(point) + "\n" for point in kept), encoding="utf-8")

    def finish(self) -> None:
        """Keep the last state alone, marked as that of a training that has ended; see `runlog.taken`."""
        self._keep(1)
        (self.folder / FINISHED).touch()

    def _keep(self, count: int) -> None:
        """Remove all but the last `count` states and the best weights that these refer to."""
        states = self._states()
        for _, _, path in states[:-count]:
            path.unlink(missing_ok=True)
        needed = {best for _, best, _ in states[-count:]}
        for path in self.folder.iterdir():
            if (match := BEST.fullmatch(path.name)) and int(match[1]) not in needed:
                path.unlink(missing_ok=True)

    def _states(self) -> list[tuple[int, int, Path]]:
        """(step, best step, path) of every state, oldest first."""
        names = ((STATE.fullmatch(path.name), path) for path in self.folder.iterdir())
        return sorted((int(match[1]), int(match[2]), path) for match, path in names if match)

    def _claim(self, specification: JsonObject) -> None:
        path = self.folder / "specification.json"
        if path.is_file():
            try:
                old = read_json(path)
            except TextcriticError:
                old = {}
            if old.get("sha256") == digest(specification):
                return
            changed = ", ".join(_differences(old.get("specification", {}), specification)) or "its record is damaged"
            log.info("%s: the training was changed (%s): its old state is removed", self.folder, changed)
        for stale in self.folder.iterdir():
            if stale.name == self.curve_path.name or stale.suffix == ".pt":
                stale.unlink()
        write_json(path, {"sha256": digest(specification), "specification": specification})


def load_state(folder: Path, step: int, best_step: int) -> State:
    """The state after `step` steps, tensors on the CPU; raises TextcriticError when it is missing or truncated."""
    return _load(_state_path(folder, step, best_step))


def digest(specification: object) -> str:
    """SHA-256 of the canonical JSON of `specification`."""
    return hashlib.sha256(json.dumps(specification, sort_keys=True).encode()).hexdigest()


def file_digests(paths: Mapping[str, str | os.PathLike[str]]) -> dict[str, str]:
    """`{role/file name: size and SHA-256}` of input files, given by their role in the training.

    Of a model's or tokenizer's folder, the files of JSON, text and weights count.

    Raises:
        TextcriticError: a file is missing.
    """
    digests = {}
    for role, path in ((role, file) for role, given in paths.items() for file in _files_of(Path(given))):
        try:
            digests[f"{role}/{path.name}"] = f"{path.stat().st_size} {sha256(path)}"
        except FileNotFoundError as error:
            raise TextcriticError(f"{path}: no such file") from error
    return digests


def _files_of(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for form in ("*.json", "*.txt", "*.safetensors") for file in path.glob(form))


def _state_path(folder: Path, step: int, best_step: int) -> Path:
    return folder / f"state-{step}.best-{best_step}.pt"


def _save(value: State, path: Path) -> None:
    with whole_file(path) as temporary, temporary.open("wb") as handle:  # of a path's errors torch tells no reason
        torch.save(dict(value), handle)


def _load(path: Path) -> State:
    try:
        value: State = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises RuntimeError, EOFError, UnpicklingError, OSError ... on damaged files
        raise TextcriticError(f"{path}: not a whole checkpoint") from error
    return value


def _differences(old: object, new: object, key: str = "") -> list[str]:
    """Dotted keys at which two nested specifications differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        return [part for name in names for part in _differences(old.get(name), new.get(name), f"{key}.{name}")]
    return [key.removeprefix(".")]
