"""Where a fit stands, on disk: a killed one goes on from its last finished iteration."""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np

from textcritic.critics.ctm.model import Array
from textcritic.critics.ctm.sums import Parts, Sums
from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, write_arrays
from textcritic.runlog import log

PARTS = ("topics", "mean", "covariance")
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
    they are mapped, not read: memory does not grow with the documents. Without a folder no standing is kept, and
    posteriors are in files without names, which are gone with the process.

    Raises:
        TextcriticError: the folder cannot be made.
    """

    def __init__(self, folder: Path | None, identity: str) -> None:
        self.folder, self.identity = folder, identity
        self._last: Array | None = None
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise TextcriticError(f"{folder}: cannot be made: {error.strerror or error}") from error

    def load(self, iterations: int) -> Standing | None:
        """The last standing; None where there is none of the same documents and options within so many iterations.

        What is left of another fit is removed first, so that nothing of it can be taken for this one's.

        Raises:
            TextcriticError: the file is damaged.
        """
        if self.folder is None or not self._standing.is_file():
            return None
        with arrays_of(self._standing, f"damaged; delete {self.folder} to start the fit anew") as arrays:
            standing = _standing(arrays)
            same = str(arrays["identity"]) == self.identity
        if same and len(standing.bounds) <= iterations:
            return standing
        log.info("%s: of other documents or options; the fit starts anew", self._standing)
        for path in (self._standing, *(self._posteriors(number) for number in (0, 1))):
            path.unlink(missing_ok=True)
        return None

    def save(self, standing: Standing) -> None:
        """Write a standing, whole or not at all."""
        if self.folder is None:
            return
        arrays = {key: np.array(getattr(standing, key)) for key in ("bounds", "seconds", "steps")}
        arrays |= {key: getattr(standing.parts, key) for key in PARTS}
        if standing.running is not None:
            arrays |= {key: getattr(standing.running, key) for key in SUMS}
        arrays["identity"] = np.array(self.identity)
        write_arrays(self._standing, arrays)

    def posteriors(self, iteration: int, documents: int, width: int) -> tuple[Array | None, np.memmap]:
        """Posteriors that an iteration starts from (None for the first) and an array for its own: [documents, width].

        Raises:
            TextcriticError: the file of the iteration before is missing or not of this shape, or the disk is full.
        """
        before = self._before(iteration, (documents, width)) if iteration else None
        size = documents * width * 8
        try:
            with self._opened(iteration) as handle:
                # A full disk is an error here; on writing to the map it would be the end of the process.
                os.posix_fallocate(handle.fileno(), 0, size)
                after: np.memmap = np.memmap(handle, np.float64, "r+", shape=(documents, width))
        except OSError as error:
            where = self.folder or tempfile.gettempdir()
            raise TextcriticError(
                f"{where}: {size / 2**20:,.0f} MiB of posteriors cannot be written there: {error.strerror or error}"
            ) from error
        self._last = after
        return before, after

    def _opened(self, iteration: int) -> IO[bytes]:
        return tempfile.TemporaryFile() if self.folder is None else self._posteriors(iteration).open("wb+")

    def _before(self, iteration: int, shape: tuple[int, int]) -> Array:
        if self._last is not None:
            return self._last
        path = self._posteriors(iteration - 1)
        if not path.is_file() or path.stat().st_size != shape[0] * shape[1] * 8:
            raise TextcriticError(f"{path}: missing or damaged; delete {self.folder} to start the fit anew")
        return np.memmap(path, np.float64, "r", shape=shape)

    @property
    def _standing(self) -> Path:
        return (self.folder or Path()) / "standing.npz"

    def _posteriors(self, iteration: int) -> Path:
        return (self.folder or Path()) / f"posteriors-{iteration % 2}.f8"


def _standing(arrays: Mapping[str, Array]) -> Standing:
    running = None
    if "in_topics" in arrays:
        in_topics, origin, first, second, variance = (arrays[key] for key in SUMS)
        running = Sums(in_topics, origin, first, second, variance, documents=1.0)
    bounds = [float(bound) for bound in arrays["bounds"]]
    parts = Parts(*(arrays[key] for key in PARTS))
    return Standing(parts, bounds, float(arrays["seconds"]), int(arrays["steps"]), running)
