"""Fitting a topic model from one start: the loop over iterations of EM, and its state on disk.

A fit that was killed continues from its last finished iteration.
"""

import hashlib
import json
import math
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np
from scipy.sparse import csr_matrix

from textcritic.critics.ctm.batches import check_counts
from textcritic.critics.ctm.em import EM, FitState, Parts, Rows
from textcritic.critics.ctm.model import CTM, NEVER, Array
from textcritic.critics.ctm.start import start
from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, write_arrays
from textcritic.plan.entries import Ctm
from textcritic.runlog import log

# A fit has converged when the mean change of the bound over this many iterations is small: one small change is no sign.
LATELY = 3

PARTS = ("topics", "mean", "covariance")


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A fitted model.

    Attributes:
        critic: the model after the last M-step.
        bounds: for each iteration, the bound of all documents in nats, by the parameters before the M-step of that
            iteration.
        seconds: how long the start and the iterations took, also those before the job was killed and resumed.
        converged: whether the bound changed by less than the tolerance.
        documents: number of documents with words.
        empty: number of documents without a word, which are left out.
    """

    critic: CTM
    bounds: list[float]
    seconds: float
    converged: bool
    documents: int
    empty: int


def fit_ctm(counts: csr_matrix, entry: Ctm, *, state: Path | None = None, workers: int = 1) -> Fit:
    """Fit by variational EM (Blei and Lafferty 2006, section 3; see `posterior` for the bound).

    The E-step raises the bound of each batch of documents from where the last E-step left it, the M-step is in closed
    form, so the bound never falls. Memory is bounded by batch and model: documents
    are read through the matrix, which may be mapped from disk, and posteriors are kept on disk.

    Args:
        counts: [documents, words], whole numbers.
        entry: how the model is fitted; `starts` is not used. The same seed gives the same model to the last bit.
        state: a folder; after each iteration the fit is saved there, and a fit of the same documents and options goes
            on from there. None: nothing is kept.
        workers: threads. The result does not depend on their number.

    Raises:
        TextcriticError: counts that are not valid, fewer documents with words than topics, or fewer than two.
    """
    matrix = check_counts(counts)
    rows = np.flatnonzero(np.diff(matrix.indptr))
    _check_size(len(rows), entry.topics)
    em = EM(matrix, rows, entry, workers)
    checkpoints = Checkpoints(state, _identity(matrix, entry))
    current = checkpoints.load(entry.iterations) or _started(matrix, rows, entry)
    shape = (matrix.shape[0], 2 * (entry.topics - 1))
    while not _ended(current, entry):
        began = time.monotonic()
        following = em.iteration(current, *checkpoints.posteriors(len(current.bounds), *shape))
        if not math.isfinite(following.bounds[-1]):
            raise TextcriticError(f"EM iteration {len(following.bounds)}: the bound is not finite; {_advice(state)}")
        current = replace(following, seconds=current.seconds + time.monotonic() - began)
        checkpoints.save(current)
        log.info("%s", _line(current, entry))
    parts = current.parts
    critic = CTM(np.log(np.maximum(parts.topics.T, NEVER)), parts.mean, parts.covariance)
    empty = matrix.shape[0] - len(rows)
    return Fit(critic, current.bounds, current.seconds, _converged(current, entry), len(rows), empty)


def _started(matrix: csr_matrix, rows: Rows, entry: Ctm) -> FitState:
    """The state before the first iteration, with the time that it took."""
    began = time.monotonic()
    return FitState(start(matrix, rows, entry), seconds=time.monotonic() - began)


class Checkpoints:
    """A folder with the last state of a fit (`FitState`), and the posteriors that the next E-step begins from.

    Posteriors are written to two files in turn, so that those of the last finished iteration stay whole. They are
    mapped, not read: memory does not grow with the documents. Without a folder the state is not saved, and posteriors
    are in temporary files without names.

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

    def load(self, iterations: int) -> FitState | None:
        """The last state; None if there is none of the same documents and options within so many iterations.

        Files of another fit are removed, so that they cannot be taken for files of this one.

        Raises:
            TextcriticError: the file is damaged.
        """
        if self.folder is None or not self._file.is_file():
            return None
        with arrays_of(self._file, f"damaged; delete {self.folder} to fit again from the start") as arrays:
            current = _state_from(arrays)
            same = str(arrays["identity"]) == self.identity
        if same and len(current.bounds) <= iterations:
            return current
        log.info("%s: belongs to other documents or options; the fit begins from the start", self._file)
        for path in (self._file, *(self._posteriors(number) for number in (0, 1))):
            path.unlink(missing_ok=True)
        return None

    def save(self, current: FitState) -> None:
        """Write the state, whole or not at all."""
        if self.folder is None:
            return
        arrays = {key: np.array(getattr(current, key)) for key in ("bounds", "seconds")}
        arrays |= {key: getattr(current.parts, key) for key in PARTS}
        arrays["identity"] = np.array(self.identity)
        write_arrays(self._file, arrays)

    def posteriors(self, iteration: int, documents: int, width: int) -> tuple[Array | None, np.memmap]:
        """Posteriors that an iteration starts from (None: the prior) and an array for its own: [documents, width].

        Raises:
            TextcriticError: the file of the iteration before is missing or not of this shape, or the disk is full.
        """
        before = self._before(iteration, (documents, width)) if iteration else None
        size = documents * width * 8
        try:
            with self._opened(iteration) as handle:
                # A full disk is an error here; when the map is written to, it would kill the process.
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
            raise TextcriticError(f"{path}: missing or damaged; delete {self.folder} to fit again from the start")
        return np.memmap(path, np.float64, "r", shape=shape)

    @property
    def _file(self) -> Path:
        return (self.folder or Path()) / "standing.npz"

    def _posteriors(self, iteration: int) -> Path:
        return (self.folder or Path()) / f"posteriors-{iteration % 2}.f8"


def _state_from(arrays: Mapping[str, Array]) -> FitState:
    bounds = [float(bound) for bound in arrays["bounds"]]
    parts = Parts(*(arrays[key] for key in PARTS))
    return FitState(parts, bounds, float(arrays["seconds"]))


def _check_size(documents: int, topics: int) -> None:
    if documents < 2:
        raise TextcriticError(f"documents: {documents} with words; a covariance needs 2 or more")
    if topics > documents:
        raise TextcriticError(f"topics: {topics}, but only {documents} documents with words; ask for fewer topics")


def _identity(matrix: csr_matrix, entry: Ctm) -> str:
    """A text that identifies documents and options, except the number of iterations: more of them continue a fit."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (matrix.indptr, matrix.indices, matrix.data):
        for begin in range(0, len(array), 2**20):
            digest.update(array[begin : begin + 2**20].tobytes())
    deciding = {"num_topics": entry.topics, "tolerance": entry.tolerance, "seed": entry.seed}
    return json.dumps({"shape": list(matrix.shape), "counts": digest.hexdigest(), **deciding})


def _advice(state: Path | None) -> str:
    return "fit with another seed or fewer topics" + (
        f"; if this fit was resumed, delete {state} first" if state else ""
    )


def _change(bounds: Sequence[float]) -> float:
    """Mean relative change of the bound in the last `LATELY` iterations; infinite before there are so many."""
    if len(bounds) <= LATELY:
        return math.inf
    return abs((bounds[-1] - bounds[-1 - LATELY]) / bounds[-1]) / LATELY


def _converged(current: FitState, entry: Ctm) -> bool:
    return _change(current.bounds) < entry.tolerance


def _ended(current: FitState, entry: Ctm) -> bool:
    return len(current.bounds) >= entry.iterations or _converged(current, entry)


def _line(current: FitState, entry: Ctm) -> str:
    """A line of progress, with the iterations that are left if the changes of the bound go on shrinking as now."""
    bounds = current.bounds
    line = f"EM iteration {len(bounds)}: bound {bounds[-1]:,.0f} nats"
    if len(bounds) <= LATELY:
        return line
    now, before = _change(bounds), _change(bounds[:-1])
    line += f", changed by {now:.1e} of it"
    if _ended(current, entry):
        return line
    most = entry.iterations - len(bounds)
    if not 0 < entry.tolerance < now < before < math.inf:
        return f"{line}; at most {most} more"
    left = math.ceil(math.log(now / entry.tolerance) / math.log(before / now))
    return f"{line}; about {min(left, most)} more to come"
