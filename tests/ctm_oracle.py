"""The correlated topic model of Blei and Lafferty (2007) written slowly: their bound in loops, its maximum, integrals.

Nothing here is shared with textcritic.critics.ctm but the critic's three arrays. A document is a list of (word, count).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment, minimize
from scipy.sparse import csr_matrix

from textcritic.critics.ctm import CTM

Document = list[tuple[int, int]]


def random_critic(seed: int, topics: int, words: int, sharpness: float = 1.0, spread: float = 1.0) -> CTM:
    """Topics differ more with `sharpness`; `spread` is the standard deviation of a coefficient, about."""
    rng = np.random.default_rng(seed)
    weights = np.exp(sharpness * rng.standard_normal((topics, words)))
    root = rng.standard_normal((topics - 1, topics + 1)) / math.sqrt(topics + 1)
    return CTM(
        np.log(weights / weights.sum(1, keepdims=True)),
        rng.standard_normal(topics - 1),
        spread**2 * (root @ root.T + 0.1 * np.eye(topics - 1)),
    )


@dataclass(frozen=True)
class Draw:
    """Documents and the coefficients [documents, topics - 1] that they were drawn with."""

    counts: csr_matrix
    coefficients: np.ndarray


def draw_documents(critic: CTM, lengths: list[int], seed: int) -> Draw:
    rng = np.random.default_rng(seed)
    coefficients = rng.multivariate_normal(critic.mean, critic.covariance, size=len(lengths))
    rows = np.zeros((len(lengths), critic.log_topics.shape[1]), np.int32)
    for row, eta, length in zip(rows, coefficients, lengths, strict=True):
        row[:] = rng.multinomial(length, proportions(eta) @ np.exp(critic.log_topics))
    return Draw(csr_matrix(rows), coefficients)


def proportions(eta: np.ndarray) -> np.ndarray:
    """Of the topics, the last of which has the coefficient 0."""
    weights = np.exp(np.append(eta, 0.0) - max(0.0, eta.max()))
    return weights / weights.sum()


def documents(counts: csr_matrix) -> Iterator[Document]:
    for row in range(counts.shape[0]):
        own = slice(counts.indptr[row], counts.indptr[row + 1])
        yield list(zip(counts.indices[own].tolist(), counts.data[own].tolist(), strict=True))


def slow_bound(
    critic: CTM, document: Document, mean: np.ndarray, variance: np.ndarray, phi: np.ndarray, zeta: float
) -> float:
    """E_q[log p(eta, z, w)] + H(q) of one document, nats, the normaliser replaced by its tangent at `zeta`.

    A word's tokens share their row of `phi` [distinct words, topics]; the last coefficient is 0 with certainty.
    """
    free = critic.log_topics.shape[0] - 1
    precision = np.linalg.inv(critic.covariance)
    total = 0.5 * np.linalg.slogdet(precision)[1] - 0.5 * free * math.log(2 * math.pi)  # E log p(eta)
    for i in range(free):
        total -= 0.5 * variance[i] * precision[i, i]
        for j in range(free):
            total -= 0.5 * (mean[i] - critic.mean[i]) * precision[i, j] * (mean[j] - critic.mean[j])
    lengths = [*(math.exp(mean[i] + variance[i] / 2) for i in range(free)), 1.0]
    for (word, count), row in zip(document, phi, strict=True):
        total -= count * (math.fsum(lengths) / zeta - 1 + math.log(zeta))  # E log p(z | eta)
        for topic, share in enumerate(row):
            if share > 0:
                coefficient = mean[topic] if topic < free else 0.0
                total += count * share * (coefficient + critic.log_topics[topic, word])  # and E log p(w | z)
                total -= count * share * math.log(share)  # and H(z)
    for i in range(free):
        total += 0.5 * (math.log(2 * math.pi * variance[i]) + 1)  # H(eta)
    return total


def best_phi(critic: CTM, document: Document, mean: np.ndarray) -> np.ndarray:
    phi = np.array([critic.log_topics[:, word] + np.append(mean, 0.0) for word, _ in document])
    phi = phi.reshape(len(document), critic.log_topics.shape[0])
    phi = np.exp(phi - phi.max(1, keepdims=True))
    return phi / phi.sum(1, keepdims=True)


def best_zeta(mean: np.ndarray, variance: np.ndarray) -> float:
    return math.fsum([*np.exp(mean + variance / 2).tolist(), 1.0])


def tight_bound(critic: CTM, document: Document, mean: np.ndarray, variance: np.ndarray) -> float:
    """The slow bound with phi and zeta at their optima."""
    return slow_bound(critic, document, mean, variance, best_phi(critic, document, mean), best_zeta(mean, variance))


@dataclass(frozen=True)
class Optimum:
    """Where a document's bound is highest, as far as the search found."""

    mean: np.ndarray
    variance: np.ndarray
    bound: float


def slow_infer(critic: CTM, document: Document, seed: int = 0, starts: int = 4) -> Optimum:
    """Coordinate ascent as in the paper's appendix: (mean, log variance) for phi and zeta fixed, and these, in turn.

    From the prior, from the released code's start, and from draws of the prior; then all together by a quasi-Newton
    method, as coordinate ascent is slow in the end. The best of all.
    """
    free = len(critic.mean)
    rng = np.random.default_rng(seed)
    spread = np.sqrt(np.diag(critic.covariance))
    points = [critic.mean, np.zeros(free), *(critic.mean + spread * rng.standard_normal((starts - 2, free)))]
    found = []
    for number, point in enumerate(points[:starts]):
        at = np.concatenate([point, np.full(free, math.log(10)) if number == 1 else 2 * np.log(spread)])
        for _ in range(3):
            given = best_phi(critic, document, at[:free]), best_zeta(at[:free], np.exp(at[free:]))
            at = minimize(negative, at, (critic, document, given), jac=True, method="L-BFGS-B").x
        found.append(slow_climb(critic, document, at[:free], np.exp(at[free:])))
    return max(found, key=lambda one: one.bound)


def slow_climb(critic: CTM, document: Document, mean: np.ndarray, variance: np.ndarray) -> Optimum:
    """A quasi-Newton search from the given point."""
    at = np.concatenate([mean, np.log(variance)])
    end = minimize(negative, at, (critic, document, None), jac=True, method="BFGS", options={"gtol": 1e-9}).x
    mean, variance = end[: len(mean)], np.exp(end[len(mean) :])
    return Optimum(mean, variance, tight_bound(critic, document, mean, variance))


def negative(
    at: np.ndarray, critic: CTM, document: Document, given: tuple[np.ndarray, float] | None
) -> tuple[float, np.ndarray]:
    """Minus the bound without its constants, and the gradient, in (mean, log variance); phi, zeta `given` or best."""
    free = len(critic.mean)
    mean, variance = at[:free], np.exp(np.clip(at[free:], -50, 50))
    phi, zeta = given or (best_phi(critic, document, mean), best_zeta(mean, variance))
    counts = np.array([count for _, count in document])
    precision = np.linalg.inv(critic.covariance)
    away = precision @ (mean - critic.mean)
    lengths = np.exp(np.minimum(mean + variance / 2, 300))
    weighted = counts @ phi if document else np.zeros(free + 1)
    words = np.array([critic.log_topics[:, word] for word, _ in document]).reshape(len(document), free + 1)
    entropy = -phi * np.log(np.maximum(phi, 1e-300)) + phi * np.where(phi > 0, words, 0)
    value = weighted[:free] @ mean - counts.sum() * ((lengths.sum() + 1) / zeta - 1 + math.log(zeta))
    value += (counts @ entropy).sum() if document else 0.0
    value += 0.5 * (np.log(variance).sum() - variance @ np.diag(precision) - (mean - critic.mean) @ away)
    by_mean = weighted[:free] - counts.sum() * lengths / zeta - away
    by_log = 0.5 * (1 - variance * (counts.sum() * lengths / zeta + np.diag(precision)))
    return -value, -np.concatenate([by_mean, by_log])


@dataclass(frozen=True)
class Exact:
    """The logarithm of p(words), and the mean and variance of the coefficients given the words."""

    log_marginal: float
    mean: np.ndarray
    variance: np.ndarray


def integrate(critic: CTM, document: Document, points: int = 301, width: float = 9.0) -> Exact:
    """For two or three topics: sums over a grid of `width` standard deviations each way.

    Exact, as integrands so smooth go. The probability is that of the tokens in their order, as in the bound: there is
    no multinomial coefficient.
    """
    free = len(critic.mean)
    line = np.linspace(-width, width, points)
    standard = np.stack([axis.ravel() for axis in np.meshgrid(*[line] * free)], 1)
    eta = critic.mean + standard @ np.linalg.cholesky(critic.covariance).T
    full = np.concatenate([eta, np.zeros((len(eta), 1))], 1)
    theta = np.exp(full - full.max(1, keepdims=True))
    theta /= theta.sum(1, keepdims=True)
    density = -0.5 * (standard**2).sum(1) - 0.5 * free * math.log(2 * math.pi) + free * math.log(line[1] - line[0])
    for word, count in document:
        density = density + count * np.log(theta @ np.exp(critic.log_topics[:, word]))
    top = density.max()
    weight = np.exp(density - top)
    mean = weight @ eta / weight.sum()
    return Exact(top + math.log(weight.sum()), mean, weight @ (eta - mean) ** 2 / weight.sum())


def aligned(found: CTM, true: CTM) -> tuple[CTM, np.ndarray]:
    """`found` with its topics in the order of `true`, and the total-variation distance of each topic [topics].

    The coefficients are contrasts with the last topic: another order is a linear map of them, which mean and
    covariance follow.
    """
    distance = 0.5 * np.abs(np.exp(true.log_topics)[:, None] - np.exp(found.log_topics)[None]).sum(2)
    _, order = linear_sum_assignment(distance)
    full = np.eye(len(order))[:, :-1]  # coefficients of all topics from the free ones
    contrast = (full[order] - full[order[-1]])[:-1]
    moved = CTM(found.log_topics[order], contrast @ found.mean, contrast @ found.covariance @ contrast.T)
    return moved, distance[np.arange(len(order)), order]
