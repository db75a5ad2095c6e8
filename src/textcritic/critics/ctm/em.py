"""One iteration of variational EM: posteriors and their sums (E-step), and new parameters from the sums (M-step).

Batch EM goes over all documents, stochastic EM over one minibatch after the other.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_matrix

from textcritic.critics.ctm.batches import Batch, batch_of, in_order, rows_of_batches
from textcritic.critics.ctm.model import Array, FitOptions
from textcritic.critics.ctm.posterior import Bound, Parameters, maximise
from textcritic.runlog import Progress

Rows = npt.NDArray[np.int64]

# Evaluations of a batch's bound in an E-step, which begins where the last one ended; a minibatch begins from the prior.
EVALUATIONS, MINIBATCH_EVALUATIONS = 11, 30
# Nats by which a document's bound may still rise in the next step of an E-step.
UNFINISHED = 1e-3
# Step t = 1, 2, ... of stochastic EM weighs the minibatch by (1 + t) to this power.
FORGETTING = -0.6


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parameters that EM works on.

    Attributes:
        topics: [V, K], probability of each word in each topic.
        mean: [K - 1].
        covariance: [K - 1, K - 1].
    """

    topics: Array
    mean: Array
    covariance: Array


@dataclass(frozen=True, slots=True)
class FitState:
    """A fit after some iterations.

    Attributes:
        parts: the parameters.
        bounds: the bound of each iteration so far, nats.
        seconds: time that the start and the iterations took.
        steps: M-steps so far.
        running: the averaged sums of stochastic EM; None in batch EM.
    """

    parts: Parts
    bounds: list[float] = field(default_factory=list)
    seconds: float = 0.0
    steps: int = 0
    running: "Sums | None" = None


@dataclass(frozen=True, slots=True)
class EM:
    """Iterations of EM over some documents.

    Attributes:
        matrix: [documents, words].
        rows: the rows of documents that have words.
        options: how the model is fitted.
        workers: threads.
        device: of torch, `cpu` or `cuda`.
    """

    matrix: csr_matrix
    rows: Rows
    options: FitOptions
    workers: int
    device: str

    def iteration(self, current: FitState, before: Array | None, after: np.memmap) -> FitState:
        """One iteration of batch EM.

        Args:
            current: the fit so far.
            before: [documents, 2 (K - 1)], means and variances that the E-step begins from; None: it begins from the
                prior.
            after: of the same shape; the E-step writes its means and variances there.
        """
        size, number = self.options.num_topics - 1, len(current.bounds)
        sums = Sums.empty(self.matrix.shape[1], current.parts.mean)
        progress = Progress(f"EM iteration {number + 1}", len(self.rows), "documents")
        for expected in self._expected(self.matrix, current.parts, before):
            sums.add(expected)
            progress.advance(len(expected.rows))
            after[expected.rows, :size], after[expected.rows, size:] = expected.means, expected.variances
        after.flush()
        parts = sums.maximised(current.parts, self.options.shrinkage)
        return FitState(parts, [*current.bounds, sums.bound], steps=current.steps + 1)

    def epoch(self, current: FitState) -> FitState:
        """One pass of stochastic EM over all minibatches, in an order that depends on the seed and the pass."""
        number, size = len(current.bounds), self.options.minibatch or len(self.rows)
        order = np.random.default_rng((self.options.seed, number)).permutation(self.rows)
        parts, steps, bound = current.parts, current.steps, 0.0
        running = current.running or Sums.of_document(parts, self.matrix.sum() / len(self.rows))
        pieces = np.array_split(order, math.ceil(len(order) / size))
        progress = Progress(f"EM pass {number + 1}", len(order), "documents")
        for piece in pieces:
            sums = Sums.empty(self.matrix.shape[1], running.origin)
            for expected in self._expected(self.matrix[np.sort(piece)], parts):
                sums.add(expected)
            steps, bound = steps + 1, bound + sums.bound
            running.average(sums, (1 + steps) ** FORGETTING)
            parts = running.maximised(parts, self.options.shrinkage)
            progress.advance(len(piece))
        return FitState(parts, [*current.bounds, bound], steps=steps, running=running)

    def _expected(
        self, matrix: csr_matrix, parts: Parts, before: npt.NDArray[np.float64] | None = None
    ) -> Iterator["Expected"]:
        """The E-step of a matrix, batch by batch, from the documents' last posteriors or from the prior."""
        parameters = Parameters.made(parts.topics, parts.mean, parts.covariance, self.device)
        size = len(parts.mean)
        evaluations = EVALUATIONS if self.options.minibatch is None else MINIBATCH_EVALUATIONS

        def work(rows: Rows) -> "Expected":
            begin = None if before is None else (before[rows, :size].copy(), before[rows, size:].copy())
            return e_step(parameters, batch_of(matrix, rows, self.device), begin, evaluations, UNFINISHED)

        return in_order(work, rows_of_batches(matrix, self.options.num_topics, self.device), self.workers)


@dataclass(slots=True, eq=False)
class Sums:
    """Sums over documents of what the M-step needs.

    Attributes:
        in_topics: [V, K], expected tokens of each word in each topic.
        origin: [K - 1], subtracted from means before they are summed, so that no digits are lost.
        first: [K - 1], of `lambda - origin`.
        second: [K - 1, K - 1], of `(lambda - origin)(lambda - origin)'`.
        variance: [K - 1], of nu.
        documents: number of documents; a real number once sums are averaged.
        bound: sum over documents, nats.
    """

    in_topics: Array
    origin: Array
    first: Array
    second: Array
    variance: Array
    documents: float = 0.0
    bound: float = 0.0

    @classmethod
    def empty(cls, num_words: int, origin: Array) -> Self:
        """The sums over no documents."""
        size = len(origin)
        return cls(np.zeros((num_words, size + 1)), origin, np.zeros(size), np.zeros((size, size)), np.zeros(size))

    @classmethod
    def of_document(cls, parts: Parts, tokens: float) -> Self:
        """The expected sums of one document with so many tokens: stochastic EM begins its averages with them."""
        size = len(parts.mean)
        in_topics = parts.topics * (tokens / (size + 1))
        return cls(in_topics, parts.mean.copy(), np.zeros(size), parts.covariance.copy(), np.zeros(size), documents=1.0)

    def add(self, expected: "Expected") -> None:
        """Add a batch."""
        centred = expected.means - self.origin
        self.in_topics[expected.types] += expected.in_topics
        self.first += centred.sum(axis=0)
        self.second += centred.T @ centred
        self.variance += expected.variances.sum(axis=0)
        self.documents += len(centred)
        self.bound += expected.bound

    def average(self, other: "Sums", weight: float) -> None:
        """Move the sums, per document, by `weight` towards other sums (Cappe and Moulines 2009, equation 8)."""
        scale, share = (1 - weight) / self.documents, weight / other.documents
        for key in ("in_topics", "first", "second", "variance"):
            average = getattr(self, key)
            average *= scale
            average += share * getattr(other, key)
        self.documents = 1.0

    def maximised(self, before: Parts, shrinkage: float) -> Parts:
        """The M-step: topics, mean and covariance that make the bound largest (Blei and Lafferty 2006, section 3).

        Args:
            before: the parameters of the E-step; a topic without a single expected token stays as it was.
            shrinkage: share by which the covariances between topics are made smaller.
        """
        tokens = self.in_topics.sum(axis=0)
        topics = np.where(tokens > 0, self.in_topics / np.where(tokens > 0, tokens, 1), before.topics)
        shift = self.first / self.documents
        covariance = self.second / self.documents - np.outer(shift, shift)
        covariance *= 1 - shrinkage
        variances = np.diag(self.second) / self.documents - shift**2 + self.variance / self.documents
        np.fill_diagonal(covariance, variances)
        return Parts(topics, self.origin + shift, (covariance + covariance.T) / 2)


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """What the M-step needs of a batch, and its posteriors.

    Attributes:
        rows: [B], rows of the batch in the matrix.
        means: [B, K - 1].
        variances: [B, K - 1].
        bound: sum over the batch, nats.
        types: [U], ids of the types in the batch.
        in_topics: [U, K], expected tokens of each type in each topic.
    """

    rows: npt.NDArray[np.int64]
    means: Array
    variances: Array
    bound: float
    types: npt.NDArray[np.int64]
    in_topics: Array


def e_step(
    parameters: Parameters, batch: Batch, start: tuple[Array, Array] | None, evaluations: int, tolerance: float
) -> Expected:
    """Raise the bound of a batch from given means and variances [B, K - 1], or from the prior; count expected words."""
    bound = Bound.of_batch(parameters, batch)
    device = parameters.mean.device
    begin = bound.start() if start is None else bound.position(*(torch.from_numpy(a).to(device) for a in start))
    position, values, _ = maximise(bound, begin, evaluations, tolerance)
    types, in_topics = bound.topic_counts(position)
    means, variances = bound.moments(position)
    total = float(values.sum())
    arrays = [tensor.cpu().numpy() for tensor in (means, variances, types, in_topics)]
    return Expected(batch.rows, arrays[0], arrays[1], total, arrays[2], arrays[3])
