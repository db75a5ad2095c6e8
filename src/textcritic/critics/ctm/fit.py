"""Fitting a correlated topic model by variational EM."""

import hashlib
import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from textcritic.critics.ctm.counts import check_counts
from textcritic.critics.ctm.em import EM
from textcritic.critics.ctm.model import CTM, NEVER
from textcritic.critics.ctm.options import FitOptions
from textcritic.critics.ctm.start import start
from textcritic.critics.ctm.state import Checkpoints, Standing
from textcritic.errors import TextcriticError
from textcritic.runlog import log


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A fitted model.

    Attributes:
        critic: the model after the last M-step.
        bounds: nats, one an iteration: the bound of all documents under the parameters before its M-step. In stochastic
            EM the sum over minibatches, each under the parameters then in force.
        seconds: that the iterations took, those before a kill included.
        converged: whether the bound changed by less than the tolerance.
        documents: those with words.
        empty: documents without a word, which are left out.
    """

    critic: CTM
    bounds: list[float]
    seconds: float
    converged: bool
    documents: int
    empty: int


def fit_ctm(
    counts: csr_matrix, options: FitOptions, *, state: Path | None = None, workers: int = 1, device: str = "cpu"
) -> Fit:
    """Fit by variational EM (Blei and Lafferty 2006, section 3; the bound is that of `bound`).

    The E-step raises the bound of each batch of documents from where the last E-step left it, the M-step is in closed
    form, so that the bound never falls in batch EM without shrinkage. Memory is bounded by batch and model: documents
    are read through the matrix, which may be mapped from disk, and posteriors are kept on disk.

    Args:
        counts: [documents, words], whole numbers.
        options: how.
        state: a folder; after each iteration the fit is saved there, and a fit of the same documents and options goes
            on from there. None: nothing is kept.
        workers: threads. The result does not depend on their number.
        device: of torch, `cpu` or `cuda`.

    Raises:
        TextcriticError: counts that are none, fewer documents with words than topics, or fewer than two.
    """
    matrix = check_counts(counts)
    rows = np.flatnonzero(np.diff(matrix.indptr))
    _check_size(len(rows), options.num_topics)
    em = EM(matrix, rows, options, workers, device)
    kept = Checkpoints(state, _identity(matrix, options))
    standing = kept.load(options.iterations) or Standing(start(matrix, rows, options))
    while not _ended(standing, options):
        began = time.monotonic()
        following = em.iteration(standing, kept) if options.minibatch is None else em.epoch(standing)
        if not math.isfinite(following.bounds[-1]):
            raise TextcriticError(f"EM iteration {len(following.bounds)}: the bound is no number; {_advice(state)}")
        standing = replace(following, seconds=standing.seconds + time.monotonic() - began)
        kept.save(standing)
        log.info("%s", _line(standing, options))
    parts = standing.parts
    critic = CTM(np.log(np.maximum(parts.topics.T, NEVER)), parts.mean, parts.covariance)
    empty = matrix.shape[0] - len(rows)
    return Fit(critic, standing.bounds, standing.seconds, _converged(standing, options), len(rows), empty)


def _check_size(documents: int, topics: int) -> None:
    if documents < 2:
        raise TextcriticError(f"documents: {documents} with words; a covariance needs 2 or more")
    if topics > documents:
        raise TextcriticError(f"topics: {topics}, but only {documents} documents with words; ask for fewer topics")


def _identity(matrix: csr_matrix, options: FitOptions) -> str:
    """The documents, and the options that decide what an uninterrupted fit gives; more iterations only go on."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (matrix.indptr, matrix.indices, matrix.data):
        for begin in range(0, len(array), 2**20):
            digest.update(array[begin : begin + 2**20].tobytes())
    deciding = {key: value for key, value in asdict(options).items() if key != "iterations"}
    return json.dumps({"shape": list(matrix.shape), "counts": digest.hexdigest(), **deciding})


def _advice(state: Path | None) -> str:
    return "fit with another seed or fewer topics" + (
        f"; if this fit was resumed, delete {state} first" if state else ""
    )


def _change(bounds: Sequence[float]) -> float:
    """Of the last iteration, relative; infinite before the second."""
    return abs((bounds[-1] - bounds[-2]) / bounds[-2]) if len(bounds) > 1 else math.inf


def _converged(standing: Standing, options: FitOptions) -> bool:
    return _change(standing.bounds) < options.tolerance


def _ended(standing: Standing, options: FitOptions) -> bool:
    return len(standing.bounds) >= options.iterations or _converged(standing, options)


def _line(standing: Standing, options: FitOptions) -> str:
    """How far EM is, and how many iterations it will take if the bound's changes go on shrinking as they do."""
    bounds = standing.bounds
    line = f"EM iteration {len(bounds)}: bound {bounds[-1]:,.0f} nats"
    if len(bounds) < 2:
        return line
    now, before = _change(bounds), _change(bounds[:-1])
    line += f", changed by {now:.1e} of it"
    if _ended(standing, options):
        return line
    most = options.iterations - len(bounds)
    if not 0 < options.tolerance < now < before < math.inf:
        return f"{line}; at most {most} more"
    left = math.ceil(math.log(now / options.tolerance) / math.log(before / now))
    return f"{line}; about {min(left, most)} more to come"
