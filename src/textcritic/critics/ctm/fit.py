"""Fitting a correlated topic model: variational EM over all documents, or over one minibatch after the other."""

import hashlib
import json
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from textcritic.critics.ctm.batches import batch_of, check_counts, in_order, rows_of_batches
from textcritic.critics.ctm.bound import Parameters
from textcritic.critics.ctm.model import CTM, LOG_NEVER
from textcritic.critics.ctm.posterior import Expected, e_step
from textcritic.critics.ctm.state import Checkpoints, Standing, checkpoints
from textcritic.critics.ctm.sums import Parts, Sums
from textcritic.errors import TextcriticError
from textcritic.runlog import Progress, log

Rows = npt.NDArray[np.int64]

# Iterations in which only topics move. With a prior that moves at once, documents commit themselves to topics that mean
# nothing yet, and EM ends at a lower bound: see docs/results.md.
SETTLING = 4
# Of a topic at the start, the share that is all documents' words; the rest is one document's.
BACKGROUND = 0.3
# Evaluations of a batch's bound in an E-step, which begins where the last one ended; a minibatch begins from the prior.
EVALUATIONS, MINIBATCH_EVALUATIONS = 11, 30
# Nats by which a document's bound may still rise in the next step of an E-step.
UNFINISHED = 1e-3
# Step t = 1, 2, ... of stochastic EM weighs the minibatch by (1 + t) to this power.
FORGETTING = -0.6


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How a model is fitted.

    Attributes:
        num_topics: K, from 2.
        iterations: passes over the documents, at most.
        tolerance: EM has converged when the bound changes by less than this, relative to its size; 1e-3 as in the
            settings that come with Blei's code.
        shrinkage: from 0 to 1, by how much covariances between topics are shrunk after each M-step (towards the
            diagonal; Schaefer and Strimmer 2005, target D). With any, the bound may fall a little.
        minibatch: documents in a step of stochastic EM (Cappe and Moulines 2009), for corpora too large to be passed
            over many times; None is batch EM.
        seed: of the start, and of the order of minibatches.
    """

    num_topics: int
    iterations: int = 1000
    tolerance: float = 1e-3
    shrinkage: float = 0.0
    minibatch: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        if self.num_topics < 2:
            raise TextcriticError(f"topics: {self.num_topics}; there must be 2 or more")
        if self.iterations < 1 or not self.tolerance >= 0 or not 0 <= self.shrinkage <= 1:
            raise TextcriticError("iterations must be 1 or more, tolerance 0 or more, and shrinkage from 0 to 1")
        if self.minibatch is not None and self.minibatch < 2:
            raise TextcriticError(f"minibatch: {self.minibatch}; a step needs 2 documents or more")


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
    work = _Work(matrix, rows, options, workers, device)
    with checkpoints(state, _identity(matrix, options)) as kept:
        standing = kept.load() or Standing(start(matrix, rows, options))
        while not _ended(standing.bounds, options):
            began = time.monotonic()
            following = work.iteration(standing, kept) if options.minibatch is None else work.epoch(standing)
            standing = replace(following, seconds=standing.seconds + time.monotonic() - began)
            kept.save(standing)
            log.info("%s", _line(standing.bounds, options))
    parts = standing.parts
    critic = CTM(np.log(np.maximum(parts.topics.T, math.exp(LOG_NEVER))), parts.mean, parts.covariance)
    empty = matrix.shape[0] - len(rows)
    return Fit(critic, standing.bounds, standing.seconds, _converged(standing.bounds, options), len(rows), empty)


def start(matrix: csr_matrix, rows: Rows, options: FitOptions) -> Parts:
    """Topics that are one document's words each, smoothed, under a standard normal prior.

    Documents are drawn without replacement, in proportion to their length; the smoothing is the words of all documents,
    each with a random weight, so that no two topics are the same even if two documents are.
    """
    rng = np.random.default_rng(options.seed)
    lengths = np.asarray(matrix.sum(axis=1)).ravel()[rows].astype(np.float64)
    chosen = rng.choice(rows, options.num_topics, replace=False, p=lengths / lengths.sum())
    all_words = np.asarray(matrix.sum(axis=0)).ravel().astype(np.float64)
    topics = np.empty((matrix.shape[1], options.num_topics))
    for topic, row in enumerate(chosen):
        background = all_words * (0.5 + rng.random(len(all_words)))
        own = np.asarray(matrix[row].todense(), dtype=np.float64).ravel()
        topics[:, topic] = BACKGROUND * background / background.sum() + (1 - BACKGROUND) * own / own.sum()
    return Parts(topics, np.zeros(options.num_topics - 1), np.eye(options.num_topics - 1))


@dataclass(frozen=True, slots=True)
class _Work:
    """The documents, and what works on them."""

    matrix: csr_matrix
    rows: Rows
    options: FitOptions
    workers: int
    device: str

    def iteration(self, standing: Standing, kept: Checkpoints) -> Standing:
        """One iteration of batch EM."""
        size, number = self.options.num_topics - 1, len(standing.bounds)
        before, after = kept.posteriors(number, self.matrix.shape[0], 2 * size)
        batches = rows_of_batches(self.matrix, self.options.num_topics, self.device)
        sums = Sums.empty(self.matrix.shape[1], standing.parts.mean)
        for expected in self._expected(standing.parts, batches, before, f"EM iteration {number + 1}"):
            sums.add(expected)
            after[expected.rows, :size], after[expected.rows, size:] = expected.means, expected.variances
        after.flush()
        parts = sums.maximised(standing.parts, self.options.shrinkage, standing.steps >= SETTLING)
        return Standing(parts, [*standing.bounds, sums.bound], steps=standing.steps + 1)

    def epoch(self, standing: Standing) -> Standing:
        """One pass of stochastic EM over minibatches, in an order of its own."""
        number, size = len(standing.bounds), self.options.minibatch or len(self.rows)
        order = np.random.default_rng((self.options.seed, number)).permutation(self.rows)
        parts, steps, bound = standing.parts, standing.steps, 0.0
        running = standing.running or Sums.of_document(parts, self.matrix.sum() / len(self.rows))
        pieces = np.array_split(order, math.ceil(len(order) / size))
        progress = Progress(f"EM pass {number + 1}", len(order), "documents")
        for piece in pieces:
            chosen = np.sort(piece)
            part = self.matrix[chosen]
            sums = Sums.empty(self.matrix.shape[1], running.origin)
            local = replace(self, matrix=part)
            for expected in local._expected(parts, rows_of_batches(part, self.options.num_topics, self.device)):
                sums.add(expected)
            steps, bound = steps + 1, bound + sums.bound
            running.average(sums, (1 + steps) ** FORGETTING)
            parts = running.maximised(parts, self.options.shrinkage, steps > SETTLING)
            progress.advance(len(piece))
        return Standing(parts, [*standing.bounds, bound], steps=steps, running=running)

    def _expected(
        self, parts: Parts, batches: Sequence[Rows], before: npt.NDArray[np.float64] | None = None, what: str = ""
    ) -> Iterator[Expected]:
        """The E-step of each batch, from its last posteriors or from the prior, in order."""
        parameters = Parameters.made(parts.topics, parts.mean, parts.covariance, self.device)
        size = len(parts.mean)
        evaluations = EVALUATIONS if self.options.minibatch is None else MINIBATCH_EVALUATIONS

        def work(rows: Rows) -> Expected:
            begin = None if before is None else (before[rows, :size].copy(), before[rows, size:].copy())
            batch = batch_of(self.matrix, rows, self.device)
            return e_step(parameters, batch, begin, evaluations, UNFINISHED)

        found = in_order(work, batches, self.workers)
        return _counted(found, what, len(self.rows)) if what else found


def _counted(found: Iterable[Expected], what: str, documents: int) -> Iterator[Expected]:
    progress = Progress(what, documents, "documents")
    for expected in found:
        progress.advance(len(expected.rows))
        yield expected


def _check_size(documents: int, topics: int) -> None:
    if documents < 2:
        raise TextcriticError(f"documents: {documents} with words; a covariance needs 2 or more")
    if topics > documents:
        raise TextcriticError(f"topics: {topics}, but only {documents} documents with words; ask for fewer topics")


def _identity(matrix: csr_matrix, options: FitOptions) -> str:
    """The documents and the options that decide what each iteration gives; when to end is not among them."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (matrix.indptr, matrix.indices, matrix.data):
        for begin in range(0, len(array), 2**22):
            digest.update(array[begin : begin + 2**22].tobytes())
    deciding = {key: value for key, value in asdict(options).items() if key not in ("iterations", "tolerance")}
    return json.dumps({"shape": list(matrix.shape), "counts": digest.hexdigest(), **deciding})


def _change(bounds: Sequence[float]) -> float:
    """Of the last iteration, relative; infinite before the second."""
    return abs((bounds[-1] - bounds[-2]) / bounds[-2]) if len(bounds) > 1 else math.inf


def _converged(bounds: Sequence[float], options: FitOptions) -> bool:
    return len(bounds) > SETTLING + 1 and _change(bounds) < options.tolerance


def _ended(bounds: Sequence[float], options: FitOptions) -> bool:
    return len(bounds) >= options.iterations or _converged(bounds, options)


def _line(bounds: Sequence[float], options: FitOptions) -> str:
    """How far EM is, and how many iterations it will take if the bound's changes go on shrinking as they do."""
    line = f"EM iteration {len(bounds)}: bound {bounds[-1]:,.0f} nats"
    if len(bounds) < 2:
        return line
    line += f", changed by {_change(bounds):.1e} of it"
    if len(bounds) < SETTLING + 3 or _ended(bounds, options):
        return line
    falls = math.log(max(_change(bounds[:-1]), 1e-300) / max(_change(bounds), 1e-300))
    if falls <= 0 or options.tolerance == 0:
        return f"{line}; at most {options.iterations - len(bounds)} more"
    left = math.ceil(math.log(_change(bounds) / options.tolerance) / falls)
    return f"{line}; about {min(left, options.iterations - len(bounds))} more to come"
