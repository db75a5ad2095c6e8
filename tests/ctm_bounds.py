"""The variational bound of each document at any means and variances, in the coordinates of the paper."""

import numpy as np
import torch
from scipy.sparse import csr_matrix

from textcritic.critics.ctm import CTM
from textcritic.critics.ctm.batches import batch_of, check_counts, rows_of_batches
from textcritic.critics.ctm.model import Array
from textcritic.critics.ctm.posterior import Bound, Parameters


def bounds(critic: CTM, counts: csr_matrix, means: Array, variances: Array) -> Array:
    """Bounds [documents] in nats at means and variances [documents, K - 1]."""
    return bounds_and_gradients(critic, counts, means, variances)[0]


def bounds_and_gradients(critic: CTM, counts: csr_matrix, means: Array, variances: Array) -> tuple[Array, Array, Array]:
    """Bounds [documents] in nats at means and variances [documents, K - 1], and their derivatives by both."""
    parameters = Parameters.of(critic)
    matrix = check_counts(counts, critic.num_words)
    bounds, d_means, d_variances = np.empty(len(means)), np.empty_like(means), np.empty_like(variances)
    empty = np.flatnonzero(np.diff(matrix.indptr) == 0)
    for rows in [*rows_of_batches(matrix, critic.num_topics), *([empty] if len(empty) else [])]:
        bound = Bound.of_batch(parameters, batch_of(matrix, rows))
        nu = torch.from_numpy(variances[rows])
        value, gradient = bound(bound.position(torch.from_numpy(means[rows]), nu))
        d_z, d_log_nu = gradient[:, : bound.size], gradient[:, bound.size :]
        bounds[rows] = value
        # By lambda: z = factor^-1 (lambda - mean).
        d_means[rows] = torch.linalg.solve_triangular(parameters.factor.T, d_z.T, upper=True).T
        d_variances[rows] = d_log_nu / nu
    return bounds, d_means, d_variances
