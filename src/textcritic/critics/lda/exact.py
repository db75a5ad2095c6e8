"""The exact posterior of how many tokens each topic has, by summing over all vectors of counts.

Given theta, tokens are independent, and the prior of topics depends on their counts alone:
`P(x, n) = DirichletMultinomial-weight(n) * sum over t with counts n of prod_i phi[t_i, x_i]`. The sum is built up
token by token over the vectors of counts so far; a document of N tokens takes about N^K operations and (N + 1)^(K - 1)
numbers, where the topics themselves have K^N values.
"""

import numpy as np
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
    for place, (own, rng) in enumerate(zip(likelihoods, generators, strict=True)):
        counts, probabilities, _ = counts_posterior(alpha, own)
        chosen = np.searchsorted(np.cumsum(probabilities), rng.random(draws) * probabilities.sum(), side="right")
        drawn[place] = counts[np.minimum(chosen, len(counts) - 1)]
        expected[place] = probabilities @ counts
        logs = probabilities @ digamma(alpha + counts) - digamma(alpha.sum() + len(own))
        nll[place] = normaliser - ((alpha - 1) * logs).sum()
    return drawn, expected, nll


def counts_posterior(alpha: Array, likelihood: Array) -> tuple[Array, Array, float]:
    """The posterior of the counts of topics in one document.

    Args:
        alpha: [K].
        likelihood: [tokens, K], probability of each token in each topic.

    Returns:
        vectors of counts [M, K], their probabilities [M], and the log probability of the tokens, nats.
    """
    tokens, topics = likelihood.shape
    sums = np.zeros((tokens + 1,) * (topics - 1))
    sums[(0,) * (topics - 1)] = 1
    scale = 0.0
    for done, token in enumerate(likelihood):
        inside = (slice(0, done + 1),) * (topics - 1)
        before = sums[inside].copy()
        sums[inside] *= token[-1]
        for topic in range(topics - 1):
            sums[tuple(slice(1, done + 2) if axis == topic else slice(0, done + 1) for axis in range(topics - 1))] += (
                token[topic] * before
            )
        largest = sums.max()
        sums /= largest
        scale += np.log(largest)
    first = np.indices(sums.shape).reshape(topics - 1, -1).T
    possible = first.sum(axis=1) <= tokens
    counts = np.column_stack([first, tokens - first.sum(axis=1)])[possible].astype(np.float64)
    with np.errstate(divide="ignore"):
        logs = np.log(sums.ravel()[possible]) + (gammaln(alpha + counts) - gammaln(alpha)).sum(axis=1)
    top = logs.max()
    weights = np.exp(logs - top)
    evidence = float(scale + top + np.log(weights.sum()) + gammaln(alpha.sum()) - gammaln(alpha.sum() + tokens))
    return counts, weights / weights.sum(), evidence
