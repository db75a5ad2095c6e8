"""The exact posterior of how many tokens each topic has, by summing over all vectors of counts.

Given theta, tokens are independent, and the prior of topics depends on their counts alone:
`P(x, n) = DirichletMultinomial-weight(n) * sum over t with counts n of prod_i phi[t_i, x_i]`. The sum is built up
token by token over the vectors of counts so far; a document of N tokens takes about N^K operations and (N + 1)^(K - 1)
numbers, where the topics themselves have K^N values.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.special import digamma, gammaln

from textcritic.critics.lda.model import Array


def exact_counts(
    alpha: Array, likelihoods: list[Array], generators: list[np.random.Generator], draws: int
) -> tuple[Array, Array, Array]:
    """Draw counts of topics, with their expectations.

    Args:
        alpha: [K].
        likelihoods: of each document [tokens, K]: probability of each token in each topic, up to a factor of the token.
        generators: of random numbers, one a document.
        draws: S.

    Returns:
        independent draws of the counts [documents, S, K], their expectation [documents, K], and Latent NLL in nats
        [documents], `posterior.dirichlet_nll` in expectation.
    """
    topics = len(alpha)
    drawn, expected = np.empty((len(likelihoods), draws, topics)), np.empty((len(likelihoods), topics))
    nll = np.empty(len(likelihoods))
    normaliser = gammaln(alpha).sum() - gammaln(alpha.sum())
    vectors = _Vectors.of(alpha, 0)
    for place, (own, rng) in enumerate(zip(likelihoods, generators, strict=True)):
        if len(own) != vectors.tokens:
            vectors = _Vectors.of(alpha, len(own))  # documents come in order of length
        probabilities = _probabilities(vectors, own)
        chosen = np.searchsorted(np.cumsum(probabilities), rng.random(draws) * probabilities.sum(), side="right")
        drawn[place] = vectors.counts[np.minimum(chosen, len(probabilities) - 1)]
        expected[place] = probabilities @ vectors.counts
        nll[place] = normaliser - (alpha - 1) @ (probabilities @ vectors.expected_logs)
    return drawn, expected, nll


@dataclass(frozen=True, slots=True, eq=False)
class _Vectors:
    """All M vectors of counts of a number of tokens.

    Attributes:
        tokens: N.
        counts: [M, K].
        places: [M], of each in the flattened array [N + 1, ..., N + 1] of its first K - 1 counts.
        log_prior: [M], log probability of one assignment of topics with these counts.
        expected_logs: [M, K], of theta given the counts.
    """

    tokens: int
    counts: Array
    places: npt.NDArray[np.int64]
    log_prior: Array
    expected_logs: Array

    @classmethod
    def of(cls, alpha: Array, tokens: int) -> Self:
        topics = len(alpha)
        first = np.indices((tokens + 1,) * (topics - 1)).reshape(topics - 1, -1).T
        places = np.flatnonzero(first.sum(axis=1) <= tokens)
        counts = np.column_stack([first, tokens - first.sum(axis=1)])[places].astype(np.float64)
        prior = (gammaln(alpha + counts) - gammaln(alpha)).sum(axis=1)
        prior += gammaln(alpha.sum()) - gammaln(alpha.sum() + tokens)
        return cls(tokens, counts, places, prior, digamma(alpha + counts) - digamma(alpha.sum() + tokens))


def _probabilities(vectors: _Vectors, likelihood: Array) -> Array:
    """Of each vector of counts [M]."""
    tokens, topics = likelihood.shape
    sums = np.zeros((tokens + 1,) * (topics - 1))
    sums[(0,) * (topics - 1)] = 1
    for done, token in enumerate(likelihood):
        inside = (slice(0, done + 1),) * (topics - 1)
        before = sums[inside].copy()
        sums[inside] *= token[-1]
        for topic in range(topics - 1):
            one_more = tuple(slice(int(axis == topic), done + 1 + int(axis == topic)) for axis in range(topics - 1))
            sums[one_more] += token[topic] * before
        reached = sums[(slice(0, done + 2),) * (topics - 1)]
        reached /= reached.max()
    with np.errstate(divide="ignore"):
        logs = np.log(sums.ravel()[vectors.places]) + vectors.log_prior
    weights: Array = np.exp(logs - logs.max())
    return weights / weights.sum()
