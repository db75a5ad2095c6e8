"""The variational bound of Blei and Lafferty (2006), section 3, and its gradient, for a batch of documents at once.

The family is `q(eta) = N(lambda, diag(nu))`, `q(z_n) = phi_n`; the expected log normaliser is bounded by a first-order
expansion at zeta. Given lambda and nu the best phi and zeta are known in closed form, and with them the bound of a
document of N words is

    sum_w c_w log(sum_k exp(lambda_k) beta_kw) - N log(sum_k exp(lambda_k + nu_k / 2))
    - KL(N(lambda, diag(nu)) || N(mu, Sigma)),

with lambda_K = nu_K = 0 for the last topic: the same number as theirs, as a function of lambda and nu alone.
"""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_matrix

from textcritic.critics.ctm.batches import Batch, batch_of, rows_of_batches
from textcritic.critics.ctm.counts import check_counts
from textcritic.critics.ctm.model import CTM, NEVER, Array, inverse_from, log_det_precision_from, lower_factor


@dataclass(frozen=True, slots=True)
class Parameters:
    """A model as tensors on a device.

    Attributes:
        topics: [V, K], probabilities: a word's row is read at once.
        mean: [K - 1].
        factor: [K - 1, K - 1], lower Cholesky factor of the covariance.
        precision_diagonal: [K - 1].
        log_det_precision: log determinant of the precision.
    """

    topics: torch.Tensor
    mean: torch.Tensor
    factor: torch.Tensor
    precision_diagonal: torch.Tensor
    log_det_precision: float

    @classmethod
    def of(cls, critic: CTM, device: str = "cpu") -> "Parameters":
        """The tensors of a model."""
        return cls.made(np.exp(critic.log_topics.T), critic.mean, critic.covariance, device)

    @classmethod
    def made(cls, topics: Array, mean: Array, covariance: Array, device: str = "cpu") -> "Parameters":
        """The tensors of topics [V, K] (probabilities), a mean and a covariance, which must be positive definite."""
        factor = lower_factor(covariance)
        diagonal = np.diag(inverse_from(factor)).copy()
        arrays = (np.maximum(topics, NEVER), mean, factor, diagonal)
        topics_, mean_, factor_, diagonal_ = (torch.from_numpy(np.ascontiguousarray(a)).to(device) for a in arrays)
        return cls(topics_, mean_, factor_, diagonal_, log_det_precision_from(factor))


class Bound:
    """The bound of each document of a batch as a function of `[z, log nu]`, where `lambda = mean + factor z`.

    In `z` the prior is a standard normal whatever the covariance, and `log nu` is free of constraints.
    """

    def __init__(self, parameters: Parameters, counts: torch.Tensor, beta: torch.Tensor) -> None:
        self.parameters, self.counts, self.beta = parameters, counts, beta  # beta: [B, n, K]
        self.words = counts.sum(dim=1)
        self.size = len(parameters.mean)

    @classmethod
    def of_batch(cls, parameters: Parameters, batch: Batch) -> "Bound":
        """The bound of the documents of a batch."""
        return cls(parameters, batch.counts, parameters.topics[batch.types])

    def of(self, rows: torch.Tensor) -> "Bound":
        """The bound of some of the documents, by their numbers or a mask [B]."""
        return Bound(self.parameters, self.counts[rows], self.beta[rows])

    def position(self, means: torch.Tensor, variances: torch.Tensor) -> torch.Tensor:
        """[B, 2 (K - 1)] for means and variances [B, K - 1]."""
        centred = (means - self.parameters.mean).T
        z = torch.linalg.solve_triangular(self.parameters.factor, centred, upper=False).T
        return torch.cat([z, variances.log()], dim=1)

    def moments(self, position: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Means and variances at a position; [B, K - 1] each."""
        z, log_nu = position[:, : self.size], position[:, self.size :]
        return self.parameters.mean + z @ self.parameters.factor.T, log_nu.exp()

    def start(self) -> torch.Tensor:
        """A position to begin at: means as the prior has them, variances as they would be best there."""
        prior = self.parameters.mean
        share = torch.softmax(torch.nn.functional.pad(prior, (0, 1)), dim=0)[: self.size]
        nu = 1 / (self.parameters.precision_diagonal + self.words[:, None] * share)
        return torch.cat([torch.zeros_like(nu), nu.log()], dim=1)

    def __call__(self, position: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Bounds [B] in nats, and their gradients [B, 2 (K - 1)], at a position [B, 2 (K - 1)]."""
        z, log_nu = position[:, : self.size], position[:, self.size :]
        means, nu = self.moments(position)
        largest, scores, probability = self._scores(means)
        per_type = torch.bmm((self.counts / probability).unsqueeze(1), self.beta).squeeze(1)
        in_topic = (scores * per_type)[:, : self.size]  # expected words of each topic under phi
        log_odds = torch.nn.functional.pad(means + nu / 2, (0, 1))
        zeta = torch.logsumexp(log_odds, dim=1)
        expected = self.words[:, None] * torch.softmax(log_odds, dim=1)[:, : self.size]

        precision = self.parameters.precision_diagonal
        words = (self.counts * probability.log()).sum(dim=1) + self.words * (largest[:, 0] - zeta)
        divergence = (z * z).sum(dim=1) + nu @ precision - log_nu.sum(dim=1)
        bound = words - (divergence - self.size - self.parameters.log_det_precision) / 2
        d_z = (in_topic - expected) @ self.parameters.factor - z
        d_log_nu = (1 - nu * (precision + expected)) / 2
        return bound, torch.cat([d_z, d_log_nu], dim=1)

    def topic_counts(self, position: torch.Tensor) -> torch.Tensor:
        """Expected words of each type in each topic, `c_w phi_wk`: [B, n, K]."""
        _, scores, probability = self._scores(self.moments(position)[0])
        return self.beta * (self.counts / probability).unsqueeze(2) * scores.unsqueeze(1)

    def _scores(self, means: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The largest lambda [B, 1], exp(lambda - largest) [B, K], and the probability of each type by these [B, n]."""
        whole = torch.nn.functional.pad(means, (0, 1))
        largest = whole.amax(dim=1, keepdim=True)
        scores = (whole - largest).exp()
        return largest, scores, torch.bmm(self.beta, scores.unsqueeze(2)).squeeze(2)


def document_bounds(critic: CTM, counts: csr_matrix, means: Array, variances: Array) -> Array:
    """The bound of each document, in nats, at given means and variances.

    Args:
        critic: the model.
        counts: [documents, words].
        means: [documents, K - 1], lambda.
        variances: [documents, K - 1], nu, above 0.

    Raises:
        TextcriticError: counts that are none, see `counts.check_counts`.
    """
    return bounds_and_gradients(critic, counts, means, variances)[0]


def bounds_and_gradients(critic: CTM, counts: csr_matrix, means: Array, variances: Array) -> tuple[Array, Array, Array]:
    """Bounds [documents] and their derivatives by means and variances [documents, K - 1]; see `document_bounds`."""
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
