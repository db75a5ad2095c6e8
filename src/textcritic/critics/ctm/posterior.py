"""Posteriors of documents under a model: the E-step of its fit, and inference alone."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_matrix

from textcritic.critics.ctm.batches import Batch, batch_of, in_order, rows_of_batches
from textcritic.critics.ctm.bound import Bound, Parameters
from textcritic.critics.ctm.counts import check_counts, document_lengths
from textcritic.critics.ctm.maximise import maximise
from textcritic.critics.ctm.model import CTM, Array
from textcritic.runlog import log

# A posterior is found when the next step is expected to raise a document's bound by less than this, in nats, or after
# so many evaluations.
INFERRED, MOST_EVALUATIONS = 1e-8, 1000


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Variational posteriors `N(means, diag(variances))` of documents' coefficients.

    Attributes:
        means: [documents, K - 1], lambda.
        variances: [documents, K - 1], nu.
        bounds: [documents], nats; see `bound`.
        words: int64 [documents], tokens in the vocabulary; the posterior of a document that has none is what comes
            closest to the prior (means as the prior's, variances `1 / precision_kk`).
    """

    means: Array
    variances: Array
    bounds: Array
    words: npt.NDArray[np.int64]


def infer(critic: CTM, counts: csr_matrix, *, workers: int = 1, device: str = "cpu") -> Posterior:
    """Posteriors under a model that stays as it is (variational inference without the M-step; paper, appendix F).

    Every document is worked out from the prior until its bound rises no more. What comes out does not depend on
    `workers`, and on the other documents only by rounding, which can end a search a step sooner or later. Some that are
    not found after 1,000 evaluations are logged as such.

    Args:
        critic: the model.
        counts: [documents, words]; all results are in memory, so pass a large matrix in slices of rows.
        workers: threads.
        device: of torch, `cpu` or `cuda`.

    Raises:
        TextcriticError: counts that are none or of another vocabulary, see `counts.check_counts`.
    """
    matrix = check_counts(counts, critic.num_words)
    parameters = Parameters.of(critic, device)

    def work(rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], list[Array], int]:
        bound = Bound.of_batch(parameters, batch_of(matrix, rows, device))
        position, values, unfinished = maximise(bound, bound.start(), MOST_EVALUATIONS, INFERRED)
        return rows, [tensor.cpu().numpy() for tensor in (*bound.moments(position), values)], unfinished

    posterior, missed = _prior(critic, matrix), 0
    for rows, arrays, unfinished in in_order(work, rows_of_batches(matrix, critic.num_topics, device), workers):
        posterior.means[rows], posterior.variances[rows], posterior.bounds[rows] = arrays
        missed += unfinished
    if missed:
        log.warning("the posteriors of %d documents are not exact after %d evaluations", missed, MOST_EVALUATIONS)
    return posterior


def _prior(critic: CTM, matrix: csr_matrix) -> Posterior:
    """The posteriors of documents without words, one for each document of a matrix."""
    shape = (matrix.shape[0], len(critic.mean))
    variances = 1 / np.diag(critic.precision)
    bound = (critic.log_det_precision + np.log(variances).sum()) / 2
    words = document_lengths(matrix)
    means, spread = (np.broadcast_to(row, shape).copy() for row in (critic.mean, variances))
    return Posterior(means, spread, np.full(len(words), bound), words)


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """What the M-step needs of a batch, and its posteriors.

    Attributes:
        rows: [B], of the batch.
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
    cells = bound.topic_counts(position)
    types, places = torch.unique(batch.types, return_inverse=True)
    in_topics = torch.zeros(len(types), cells.shape[2], dtype=cells.dtype, device=device)
    in_topics.index_add_(0, places.reshape(-1), cells.reshape(-1, cells.shape[2]))
    means, variances = bound.moments(position)
    total = float(values.sum())
    arrays = [tensor.cpu().numpy() for tensor in (means, variances, types, in_topics)]
    return Expected(batch.rows, arrays[0], arrays[1], total, arrays[2], arrays[3])
