"""One iteration of variational EM: posteriors and their sums (E-step), and new parameters from the sums (M-step)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_matrix

from textcritic.critics.ctm.batches import Batch, batch_of, in_order, rows_of_batches
from textcritic.critics.ctm.model import Array
from textcritic.critics.ctm.posterior import Bound, Parameters, maximise
from textcritic.plan.entries import Ctm
from textcritic.runlog import Progress

Rows = npt.NDArray[np.int64]

# Evaluations of a batch's bound in an E-step, which begins where the last one ended.
EVALUATIONS = 11
# Nats by which a document's bound may still rise in the next step of an E-step.
UNFINISHED = 1e-3


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
    """

    parts: Parts
    bounds: list[float] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class EM:
    """Iterations of EM over some documents.

    Attributes:
        matrix: [documents, words].
        rows: the rows of documents that have words.
        entry: how the model is fitted.
        workers: threads.
    """

    matrix: csr_matrix
    rows: Rows
    entry: Ctm
    workers: int

    def iteration(self, current: FitState, before: Array | None, after: np.memmap) -> FitState:
        """One iteration of EM over all documents.

        Args:
            current: the fit so far.
            before: [documents, 2 (K - 1)], means and variances that the E-step begins from; None: it begins from the
                prior.
            after: of the same shape; the E-step writes its means and variances there.
        """
        size, number = self.entry.topics - 1, len(current.bounds)
        sums = Sums.empty(self.matrix.shape[1], current.parts.mean)
        progress = Progress(f"EM iteration {number + 1}", len(self.rows), "documents")
        for expected in self._expected(current.parts, before):
            sums.add(expected)
            progress.advance(len(expected.rows))
            after[expected.rows, :size], after[expected.rows, size:] = expected.means, expected.variances
        after.flush()
        return FitState(sums.maximised(current.parts), [*current.bounds, sums.bound])

    def _expected(self, parts: Parts, before: Array | None) -> Iterator["Expected"]:
        """The E-step, batch by batch, from the documents' last posteriors or from the prior."""
        parameters = Parameters.made(parts.topics, parts.mean, parts.covariance)
        size = len(parts.mean)

        def work(rows: Rows) -> "Expected":
            begin = None if before is None else (before[rows, :size].copy(), before[rows, size:].copy())
            return e_step(parameters, batch_of(self.matrix, rows), begin)

        return in_order(work, rows_of_batches(self.matrix, self.entry.topics), self.workers)


@dataclass(slots=True, eq=False)
class Sums:
    """Sums over documents of what the M-step needs.

    Attributes:
        in_topics: [V, K], expected tokens of each word in each topic.
        origin: [K - 1], subtracted from means before they are summed, so that no digits are lost.
        first: [K - 1], of `lambda - origin`.
        second: [K - 1, K - 1], of `(lambda - origin)(lambda - origin)'`.
        variance: [K - 1], of nu.
        documents: number of documents.
        bound: sum over documents, nats.
    """

    in_topics: Array
    origin: Array
    first: Array
    second: Array
    variance: Array
    documents: int = 0
    bound: float = 0.0

    @classmethod
    def empty(cls, num_words: int, origin: Array) -> Self:
        """The sums over no documents."""
        size = len(origin)
        return cls(np.zeros((num_words, size + 1)), origin, np.zeros(size), np.zeros((size, size)), np.zeros(size))

    def add(self, expected: "Expected") -> None:
        """Add a batch."""
        centred = expected.means - self.origin
        self.in_topics[expected.types] += expected.in_topics
        self.first += centred.sum(axis=0)
        self.second += centred.T @ centred
        self.variance += expected.variances.sum(axis=0)
        self.documents += len(centred)
        self.bound += expected.bound

    def maximised(self, before: Parts) -> Parts:
        """The M-step: topics, mean and covariance that make the bound largest (Blei and Lafferty 2006, section 3).

        Args:
            before: the parameters of the E-step; a topic without a single expected token stays as it was.
        """
        tokens = self.in_topics.sum(axis=0)
        topics = np.where(tokens > 0, self.in_topics / np.where(tokens > 0, tokens, 1), before.topics)
        shift = self.first / self.documents
        covariance = self.second / self.documents - np.outer(shift, shift)
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


def e_step(parameters: Parameters, batch: Batch, start: tuple[Array, Array] | None) -> Expected:
    """Raise the bound of a batch from given means and variances [B, K - 1], or from the prior; count expected words."""
    bound = Bound.of_batch(parameters, batch)
    begin = bound.start() if start is None else bound.position(*map(torch.from_numpy, start))
    position, values, _ = maximise(bound, begin, EVALUATIONS, UNFINISHED)
    types, in_topics = bound.topic_counts(position)
    means, variances = bound.moments(position)
    total = float(values.sum())
    arrays = [tensor.numpy() for tensor in (means, variances, types, in_topics)]
    return Expected(batch.rows, arrays[0], arrays[1], total, arrays[2], arrays[3])
