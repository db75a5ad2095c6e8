"""Where a fit stands, on disk: a killed one goes on from its last finished iteration."""

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from textcritic.critics.ctm.model import Array
from textcritic.critics.ctm.sums import Parts, Sums
from textcritic.errors import TextcriticError
from textcritic.files import whole_file
from textcritic.runlog import log

SUMS = ("in_topics", "origin", "first", "second", "variance")


@dataclass(frozen=True, slots=True)
class Standing:
    """A fit after some iterations.

    Attributes:
        parts: the parameters.
        bounds: the bound of each iteration so far, nats.
        seconds: spent on them.
        steps: M-steps so far.
        running: of stochastic EM, the averaged sums; None in batch EM.
    """

    parts: Parts
    bounds: list[float] = field(default_factory=list)
    seconds: float = 0.0
    steps: int = 0
    running: Sums | None = None


class Checkpoints:
    """A folder with the last standing, and the posteriors that the next E-step begins from.

    Posteriors are written to one of two files in turn, so that those of the last finished iteration stay whole, and
    they are mapped, not read: memory does not grow with the documents.
    """

    def __init__(self, folder: Path, identity: str) -> None:
        self.folder, self.identity = folder, identity
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def _standing(self) -> Path:
        return self.folder / "standing.npz"

    def load(self) -> Standing | None:
        """The last standing; None where there is none of the same documents and options.

        Raises:
            TextcriticError: the file is damaged.
        """
        if not self._standing.is_file():
            return None
        try:
            with np.load(self._standing, allow_pickle=False) as found:
                if str(found["identity"]) != self.identity:
                    log.info("%s: of other documents or options; the fit starts anew", self._standing)
                    return None
                arrays = {key: found[key] for key in found.files}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise TextcriticError(f"{self._standing}: damaged; delete {self.folder} to start the fit anew") from error
        running = Sums(**{key: arrays[key] for key in SUMS}, documents=1.0) if "in_topics" in arrays else None
        parts = Parts(arrays["topics"], arrays["mean"], arrays["covariance"])
        bounds = [float(bound) for bound in arrays["bounds"]]
        return Standing(parts, bounds, float(arrays["seconds"]), int(arrays["steps"]), running)

    def save(self, standing: Standing) -> None:
        """Write a standing, whole or not at all."""
        running = standing.running
        arrays = {key: np.array(getattr(standing, key)) for key in ("bounds", "seconds", "steps")}
        arrays |= {key: getattr(standing.parts, key) for key in ("topics", "mean", "covariance")}
        arrays |= {} if running is None else {key: getattr(running, key) for key in SUMS}
        arrays["identity"] = np.array(self.identity)
        with whole_file(self._standing) as temporary, temporary.open("wb") as handle:
            np.savez(handle, allow_pickle=False, **arrays)

    def posteriors(self, iteration: int, documents: int, width: int) -> tuple[Array | None, np.memmap]:
        """Posteriors that an iteration starts from (None for the first) and an array for its own: [documents, width].

        Raises:
            TextcriticError: the file of the iteration before is missing or not of this shape.
        """
        before = None
        if iteration > 0:
            path = self._posteriors(iteration - 1)
            try:
                before = np.load(path, mmap_mode="r", allow_pickle=False)
            except (OSError, ValueError, EOFError) as error:
                raise TextcriticError(f"{path}: missing or damaged; delete {self.folder} to start anew") from error
            if before.shape != (documents, width):
                raise TextcriticError(f"{path}: damaged; delete {self.folder} to start the fit anew")
        path = self._posteriors(iteration)
        after = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(documents, width))
        return before, after

    def _posteriors(self, iteration: int) -> Path:
        return self.folder / f"posteriors-{iteration % 2}.npy"


@contextmanager
def checkpoints(folder: Path | None, identity: str) -> Iterator[Checkpoints]:
    """Checkpoints in a folder, or, without one, in a temporary one that is removed in the end."""
    if folder is not None:
        yield Checkpoints(folder, identity)
        return
    temporary = Path(tempfile.mkdtemp(prefix="topics-"))
    try:
        yield Checkpoints(temporary, identity)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
