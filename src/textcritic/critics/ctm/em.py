"""The iterations of variational EM: over all documents, or over one minibatch after the other."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from textcritic.critics.ctm.batches import batch_of, in_order, rows_of_batches
from textcritic.critics.ctm.bound import Parameters
from textcritic.critics.ctm.options import FitOptions
from textcritic.critics.ctm.posterior import Expected, e_step
from textcritic.critics.ctm.state import Checkpoints, Standing
from textcritic.critics.ctm.sums import Parts, Sums
from textcritic.runlog import Progress

Rows = npt.NDArray[np.int64]

# Evaluations of a batch's bound in an E-step, which begins where the last one ended; a minibatch begins from the prior.
EVALUATIONS, MINIBATCH_EVALUATIONS = 11, 30
# Nats by which a document's bound may still rise in the next step of an E-step.
UNFINISHED = 1e-3
# Step t = 1, 2, ... of stochastic EM weighs the minibatch by (1 + t) to this power.
FORGETTING = -0.6


@dataclass(frozen=True, slots=True)
class EM:
    """One iteration after the other, over some documents.

    Attributes:
        matrix: [documents, words].
        rows: those with words.
        options: of the fit.
        workers: threads.
        device: of torch.
    """

    matrix: csr_matrix
    rows: Rows
    options: FitOptions
    workers: int
    device: str

    def iteration(self, standing: Standing, kept: Checkpoints) -> Standing:
        """One iteration of batch EM."""
        size, number = self.options.num_topics - 1, len(standing.bounds)
        before, after = kept.posteriors(number, self.matrix.shape[0], 2 * size)
        sums = Sums.empty(self.matrix.shape[1], standing.parts.mean)
        progress = Progress(f"EM iteration {number + 1}", len(self.rows), "documents")
        for expected in self._expected(self.matrix, standing.parts, before):
            sums.add(expected)
            progress.advance(len(expected.rows))
            after[expected.rows, :size], after[expected.rows, size:] = expected.means, expected.variances
        after.flush()
        parts = sums.maximised(standing.parts, self.options.shrinkage)
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
            sums = Sums.empty(self.matrix.shape[1], running.origin)
            for expected in self._expected(self.matrix[np.sort(piece)], parts):
                sums.add(expected)
            steps, bound = steps + 1, bound + sums.bound
            running.average(sums, (1 + steps) ** FORGETTING)
            parts = running.maximised(parts, self.options.shrinkage)
            progress.advance(len(piece))
        return Standing(parts, [*standing.bounds, bound], steps=steps, running=running)

    def _expected(
        self, matrix: csr_matrix, parts: Parts, before: npt.NDArray[np.float64] | None = None
    ) -> Iterator[Expected]:
        """The E-step of a matrix, batch by batch, from the documents' last posteriors or from the prior."""
        parameters = Parameters.made(parts.topics, parts.mean, parts.covariance, self.device)
        size = len(parts.mean)
        evaluations = EVALUATIONS if self.options.minibatch is None else MINIBATCH_EVALUATIONS

        def work(rows: Rows) -> Expected:
            begin = None if before is None else (before[rows, :size].copy(), before[rows, size:].copy())
            return e_step(parameters, batch_of(matrix, rows, self.device), begin, evaluations, UNFINISHED)

        return in_order(work, rows_of_batches(matrix, self.options.num_topics, self.device), self.workers)
