"""The posterior of a document's topics: the variational bound, its gradient, and the search for its maximum.

The bound is that of Blei and Lafferty (2006), section 3. The family is `q(eta) = N(lambda, diag(nu))`,
`q(z_n) = phi_n`; the expected log normaliser is bounded by a first-order expansion at zeta. Given lambda and nu the
best phi and zeta are known in closed form, and with them the bound of a document of N words is

    sum_w c_w log(sum_k exp(lambda_k) beta_kw) - N log(sum_k exp(lambda_k + nu_k / 2))
    - KL(N(lambda, diag(nu)) || N(mu, Sigma)),

with lambda_K = nu_K = 0 for the last topic. It equals the bound of Blei and Lafferty at the best phi and zeta.
"""

from collections import deque
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_matrix

from textcritic.critics.ctm.batches import Batch, batch_of, check_counts, document_lengths, in_order, rows_of_batches
from textcritic.critics.ctm.model import CTM, NEVER, Array, inverse_from, log_det_precision_from, lower_factor
from textcritic.critics.ctm.sparse import ByType, entry_products, weighted_sums
from textcritic.runlog import log

Pair = tuple[torch.Tensor, torch.Tensor, torch.Tensor]

# The search for a posterior ends when the next step is expected to raise the bound of the document by less than this,
# in nats, or after so many evaluations.
INFERRED, MOST_EVALUATIONS = 1e-8, 1000
# The curvature is estimated from so many steps.
MEMORY = 8
# A step that does not raise the function is multiplied by this.
SHORTER = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Variational posteriors `N(means, diag(variances))` of documents' coefficients.

    Attributes:
        means: [documents, K - 1], lambda.
        variances: [documents, K - 1], nu.
        bounds: [documents], nats.
        words: int64 [documents], tokens in the vocabulary; the posterior of a document that has none is what comes
            closest to the prior (means as the prior's, variances `1 / precision_kk`).
    """

    means: Array
    variances: Array
    bounds: Array
    words: npt.NDArray[np.int64]


def infer(critic: CTM, counts: csr_matrix, *, workers: int = 1) -> Posterior:
    """Posteriors under a fixed model (variational inference without the M-step; paper, appendix F).

    The search starts at the prior and continues until the document's bound no longer rises. The results do not depend
    on `workers`; the other documents change them only by rounding, which can end a search a step sooner or later. If
    some searches have not ended after 1,000 evaluations, a warning in the log says how many.

    Args:
        critic: the model.
        counts: [documents, words]; all results are in memory, so pass a large matrix in slices of rows.
        workers: threads.

    Raises:
        TextcriticError: counts that are not valid or of another vocabulary, see `batches.check_counts`.
    """
    matrix = check_counts(counts, critic.num_words)
    parameters = Parameters.of(critic)

    def work(rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], list[Array], int]:
        bound = Bound.of_batch(parameters, batch_of(matrix, rows))
        position, values, unfinished = maximise(bound, bound.start(), MOST_EVALUATIONS, INFERRED)
        return rows, [tensor.numpy() for tensor in (*bound.moments(position), values)], unfinished

    posterior, unfinished_searches = _prior(critic, matrix), 0
    for rows, arrays, unfinished in in_order(work, rows_of_batches(matrix, critic.num_topics), workers):
        posterior.means[rows], posterior.variances[rows], posterior.bounds[rows] = arrays
        unfinished_searches += unfinished
    if unfinished_searches:
        log.warning(
            "the posteriors of %d documents are not exact after %d evaluations", unfinished_searches, MOST_EVALUATIONS
        )
    return posterior


@dataclass(frozen=True, slots=True)
class Parameters:
    """A model as tensors.

    Attributes:
        topics: [V, K], probabilities; those of a word are adjacent in memory, because they are read together.
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
    def of(cls, critic: CTM) -> "Parameters":
        """The tensors of a model."""
        return cls.made(np.exp(critic.log_topics.T), critic.mean, critic.covariance)

    @classmethod
    def made(cls, topics: Array, mean: Array, covariance: Array) -> "Parameters":
        """The tensors of topics [V, K] (probabilities), a mean and a covariance, which must be positive definite."""
        factor = lower_factor(covariance)
        diagonal = np.diag(inverse_from(factor)).copy()
        arrays = (np.maximum(topics, NEVER), mean, factor, diagonal)
        topics_, mean_, factor_, diagonal_ = (torch.from_numpy(np.ascontiguousarray(a)) for a in arrays)
        return cls(topics_, mean_, factor_, diagonal_, log_det_precision_from(factor))


class Bound:
    """The bound of each document of a batch as a function of `[z, log nu]`, where `lambda = mean + factor z`.

    In `z` the prior is a standard normal whatever the covariance, and `log nu` is free of constraints.
    """

    def __init__(self, parameters: Parameters, starts: torch.Tensor, types: torch.Tensor, counts: torch.Tensor) -> None:
        self.parameters, self.starts, self.types, self.counts = parameters, starts, types, counts
        self.words = torch.segment_reduce(counts, "sum", offsets=starts)
        self.size = len(parameters.mean)

    @classmethod
    def of_batch(cls, parameters: Parameters, batch: Batch) -> "Bound":
        """The bound of the documents of a batch."""
        return cls(parameters, batch.starts, batch.types, batch.counts)

    def of(self, rows: torch.Tensor) -> "Bound":
        """The bound of some of the documents, by a mask [B]."""
        lengths = self.starts.diff()
        entries = rows.repeat_interleave(lengths)
        starts = torch.nn.functional.pad(lengths[rows].cumsum(0), (1, 0))
        return Bound(self.parameters, starts, self.types[entries], self.counts[entries])

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
        """The position where a search starts: the means of the prior, and the best variances for these means."""
        prior = self.parameters.mean
        share = torch.softmax(torch.nn.functional.pad(prior, (0, 1)), dim=0)[: self.size]
        nu = 1 / (self.parameters.precision_diagonal + self.words[:, None] * share)
        return torch.cat([torch.zeros_like(nu), nu.log()], dim=1)

    def __call__(self, position: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Bounds [B] in nats, and their gradients [B, 2 (K - 1)], at a position [B, 2 (K - 1)]."""
        z, log_nu = position[:, : self.size], position[:, self.size :]
        means, nu = self.moments(position)
        largest, scores, probability = self._scores(means)
        per_type = weighted_sums(self.parameters.topics, self.types, self.counts / probability, self.starts[:-1])
        in_topic = (scores * per_type)[:, : self.size]  # expected words of each topic under phi
        log_odds = torch.nn.functional.pad(means + nu / 2, (0, 1))
        zeta = torch.logsumexp(log_odds, dim=1)
        expected = self.words[:, None] * torch.softmax(log_odds, dim=1)[:, : self.size]

        precision = self.parameters.precision_diagonal
        of_entries = torch.segment_reduce(self.counts * probability.log(), "sum", offsets=self.starts)
        words = of_entries + self.words * (largest[:, 0] - zeta)
        divergence = (z * z).sum(dim=1) + nu @ precision - log_nu.sum(dim=1)
        bound = words - (divergence - self.size - self.parameters.log_det_precision) / 2
        d_z = (in_topic - expected) @ self.parameters.factor - z
        d_log_nu = (1 - nu * (precision + expected)) / 2
        return bound, torch.cat([d_z, d_log_nu], dim=1)

    def topic_counts(self, position: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Expected words of each type in each topic, `sum_d c_dw phi_dwk`: ids of the types [U], and [U, K]."""
        _, scores, probability = self._scores(self.moments(position)[0])
        by_type = ByType.of(self.starts, self.types)
        sums = by_type.sums(scores, self.counts / probability)
        return by_type.types, self.parameters.topics[by_type.types] * sums

    def _scores(self, means: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The largest lambda [B, 1], exp(lambda - largest) [B, K], and the probability of each entry by these [N]."""
        whole = torch.nn.functional.pad(means, (0, 1))
        largest = whole.amax(dim=1, keepdim=True)
        scores = (whole - largest).exp()
        return largest, scores, entry_products(scores, self.parameters.topics, self.starts, self.types)


class Functions(Protocol):
    """B functions of n variables each, which are evaluated together."""

    def __call__(self, position: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Values [B] and gradients [B, n] at positions [B, n]; row b depends on row b alone."""
        ...

    def of(self, rows: torch.Tensor) -> Self:
        """Some of the functions."""
        ...


def maximise(
    functions: Functions, start: torch.Tensor, evaluations: int, tolerance: float
) -> tuple[torch.Tensor, torch.Tensor, int]:
    """The maximum of each of B functions, by L-BFGS (Nocedal 1980) with steps that never lower a function.

    The search of a function ends when the next step is expected to raise it by less than the tolerance (half the
    gradient along the step). Once half of the searches have ended, only the others are still computed.

    Args:
        functions: B of n variables.
        start: [B, n].
        evaluations: of each function, at most.
        tolerance: in the function's units.

    Returns:
        Positions [B, n], nowhere lower than at the start; the values there [B]; the number of searches not ended.
    """
    value, gradient = functions(start)
    highest, best = start.clone(), value.clone()
    rows = torch.arange(len(start))
    position, working = start, torch.ones_like(value, dtype=torch.bool)
    pairs: deque[Pair] = deque(maxlen=MEMORY)
    length = torch.ones_like(value)[:, None]
    scale = 1 / (1 + gradient.norm(dim=1, keepdim=True))
    for _ in range(evaluations - 1):
        direction, slope = _ascent(gradient, pairs, scale)
        if pairs:
            working = working & ~(slope < 2 * tolerance)
        left = int(working.sum())
        if left == 0:
            break
        if 2 * left <= len(rows):
            highest[rows], best[rows] = position, value
            functions, rows = functions.of(working), rows[working]
            pairs = deque(((s[working], b[working], i[working]) for s, b, i in pairs), maxlen=MEMORY)
            kept = (position, value, gradient, length, scale, direction)
            position, value, gradient, length, scale, direction = (tensor[working] for tensor in kept)
            working = working[working]
        following = position + length * direction
        new_value, new_gradient = functions(following)
        rises = (working & (new_value >= value))[:, None]  # not for a value that is not a number
        step = torch.where(rises, following - position, 0.0)
        bend = torch.where(rises, gradient - new_gradient, 0.0)
        curvature, squared = _dot(step, bend), _dot(bend, bend)
        useful = curvature > 1e-10 * squared
        pairs.append((step, bend, torch.where(useful, 1 / curvature, 0.0)))
        scale = torch.where(useful, curvature / squared, scale)
        length = torch.where(rises, 1.0, length * SHORTER)
        position = torch.where(rises, following, position)
        value = torch.where(rises[:, 0], new_value, value)
        gradient = torch.where(rises, new_gradient, gradient)
    highest[rows], best[rows] = position, value
    return highest, best, int(working.sum())


def _ascent(gradient: torch.Tensor, pairs: deque[Pair], scale: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Directions [B, n] by the two-loop recursion, and the functions' slopes along them [B]."""
    direction, shares = gradient, []
    for step, bend, inverse in reversed(pairs):
        shares.append(inverse * _dot(step, direction))
        direction = direction - shares[-1] * bend
    direction = scale * direction
    for (step, bend, inverse), share in zip(pairs, reversed(shares), strict=True):
        direction = direction + (share - inverse * _dot(bend, direction)) * step
    slope = _dot(gradient, direction)
    direction = torch.where(slope > 0, direction, scale * gradient)
    return direction, _dot(gradient, direction)[:, 0]


def _dot(one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
    return (one * two).sum(dim=1, keepdim=True)


def _prior(critic: CTM, matrix: csr_matrix) -> Posterior:
    """The posteriors of documents without words, one for each document of a matrix."""
    shape = (matrix.shape[0], len(critic.mean))
    variances = 1 / np.diag(critic.precision)
    bound = (critic.log_det_precision + np.log(variances).sum()) / 2
    words = document_lengths(matrix)
    means, spread = (np.broadcast_to(row, shape).copy() for row in (critic.mean, variances))
    return Posterior(means, spread, np.full(len(words), bound), words)
