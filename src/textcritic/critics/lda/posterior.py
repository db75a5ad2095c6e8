"""The posterior of topic shares of documents that the critic has not seen (model criticism paper, appendix C).

In two stages: topics t of the tokens are drawn from `P(t | x; phi)`, with theta summed out, then
`theta ~ Dirichlet(alpha + n)`, where n_k counts the tokens of topic k. The first stage is Gibbs sampling, as in the
paper, or exact (`exact`): independent draws from the same distribution, feasible for three topics and sentences.

Of sentences, few sweeps are enough. Where alpha is small and a document long, Gibbs sampling moves slowly: hundreds of
tokens that two topics explain alike stay for long in the one that had most of them at first. Exact draws do not.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.special import digamma, gammaln

from textcritic.critics.lda.model import LDA, Array
from textcritic.errors import TextcriticError
from textcritic.plan.entries import Lda
from textcritic.runlog import Progress

# Numbers that a chunk of documents may take in memory, about: 64 MB.
CHUNK_NUMBERS = 8_000_000

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Posteriors of N documents. Of one without a word of the vocabulary all numbers are NaN.

    Attributes:
        mean: [N, K], of theta: `(alpha + counts) / (sum(alpha) + tokens)`.
        draws: [N, S, K], of theta.
        counts: [N, K], expected tokens in each topic.
        tokens: [N], with words of the vocabulary.
        nll: [N], Latent NLL in nats, see `dirichlet_nll`. It is that of a density: it may be below 0, and its
            exponential is no number of choices.
    """

    mean: Array
    draws: Array
    counts: Array
    tokens: Ids
    nll: Array


def infer(critic: LDA, counts: csr_matrix, entry: Lda, first: int = 0) -> Posterior:
    """Draw the posteriors of documents; expectations are means over the draws of topics, exact with `exact`.

    Document i has its own random numbers, from the seed and `first` + i: its draws do not depend on which documents are
    inferred together. Gibbs sampling takes time in proportion to draws x sweeps x tokens; the log
    says how far it is where that is long.

    Args:
        critic: K topics over V words.
        counts: [N, V], whole numbers.
        entry: how posteriors are drawn. Each draw is of a chain of its own, so that draws are independent; a chain
            begins with topics drawn one after the other, each given those before it.
        first: number of the first document, where a set is inferred in parts.

    Raises:
        TextcriticError: counts over another number of words, or documents too long for `exact`.
    """
    matrix = csr_matrix(counts)
    if matrix.shape[1] != critic.num_words:
        raise TextcriticError(f"posterior: counts over {matrix.shape[1]} words for a critic of {critic.num_words}")
    documents, topics = matrix.shape[0], critic.num_topics
    lengths = np.asarray(matrix.sum(axis=1), dtype=np.int64).ravel()
    posterior = Posterior(
        np.full((documents, topics), np.nan),
        np.full((documents, entry.draws, topics), np.nan),
        np.full((documents, topics), np.nan),
        lengths,
        np.full(documents, np.nan),
    )
    rounds = 1 if entry.posterior == "exact" else 1 + entry.sweeps
    progress = Progress("drawing topics", int(lengths.sum()) * rounds, "tokens in all sweeps", brief=True)
    for rows in _chunks(lengths, topics, entry):
        generators = [np.random.default_rng([entry.seed, first + int(row)]) for row in rows]
        work = _likelihoods(critic, matrix, rows), generators, entry, progress.advance
        drawn, expected, posterior.nll[rows] = _of_chunk(critic.alpha, *work)
        posterior.counts[rows] = expected
        posterior.mean[rows] = (critic.alpha + expected) / (critic.alpha.sum() + lengths[rows, None])
        gammas = np.stack([rng.standard_gamma(critic.alpha + own) for rng, own in zip(generators, drawn, strict=True)])
        posterior.draws[rows] = gammas / gammas.sum(axis=2, keepdims=True)
    return posterior


def dirichlet_nll(alpha: Array, counts: npt.ArrayLike, num_tokens: npt.ArrayLike) -> Array:
    """`-E log Dirichlet(theta; alpha)` under `theta ~ Dirichlet(alpha + counts)`, in nats: [..., K] -> [...].

    `E log theta_k = digamma(alpha_k + n_k) - digamma(sum alpha + n)`. Its mean over draws of the counts is the Latent
    NLL of a document: only the draws of topics add Monte Carlo error, those of theta do not.

    Args:
        alpha: [K].
        counts: [..., K], tokens in each topic.
        num_tokens: [...], their sum.
    """
    normaliser = gammaln(alpha).sum() - gammaln(alpha.sum())
    expected = digamma(alpha + np.asarray(counts)) - digamma(alpha.sum() + np.asarray(num_tokens))[..., None]
    return np.asarray(normaliser - ((alpha - 1) * expected).sum(axis=-1))


def _of_chunk(
    alpha: Array,
    likelihoods: list[Array],
    generators: list[np.random.Generator],
    entry: Lda,
    count: Callable[[int], None],
) -> tuple[Array, Array, Array]:
    """Counts drawn [documents, S, K], expected counts [documents, K] and Latent NLL [documents]; longest first."""
    tokens = np.array([len(own) for own in likelihoods])
    if entry.posterior == "exact":
        exact = exact_counts(alpha, likelihoods, generators, entry.draws)
        count(int(tokens.sum()))
        return exact
    drawn = _gibbs(alpha, likelihoods, generators, entry, count)
    return drawn, drawn.mean(axis=1), dirichlet_nll(alpha, drawn, tokens[:, None]).mean(axis=1)


def _gibbs(
    alpha: Array,
    likelihoods: list[Array],
    generators: list[np.random.Generator],
    entry: Lda,
    count: Callable[[int], None],
) -> Array:
    """Counts of the topics after the last sweep of each chain: [documents, S, K]; `count` gets tokens as they are done.

    Position by position, all chains of all documents at once; documents are in descending order of length, so that
    those that have a position are the first ones.
    """
    lengths = np.array([len(own) for own in likelihoods])
    documents, topics, draws = len(lengths), len(alpha), entry.draws
    padded = np.zeros((topics, lengths[0], documents, 1))
    for document, own in enumerate(likelihoods):
        padded[:, : len(own), document, 0] = own.T
    present = [int((lengths > position).sum()) for position in range(lengths[0])]
    uniform = np.empty((lengths[0], documents, draws))
    state = np.full((lengths[0], documents, draws), -1, dtype=np.int16)
    counts = np.zeros((topics, documents, draws))
    for _ in range(1 + entry.sweeps):
        for document, rng in enumerate(generators):
            uniform[: lengths[document], document] = rng.random((lengths[document], draws))
        for position, number in enumerate(present):
            old, some = state[position, :number], counts[:, :number]
            weights = np.empty_like(some)
            for topic in range(topics):
                some[topic] -= old == topic
                np.multiply(alpha[topic] + some[topic], padded[topic, position, :number], out=weights[topic])
            cumulated = np.cumsum(weights, axis=0)
            threshold = uniform[position, :number] * cumulated[-1]
            old[...] = (threshold >= cumulated[:-1]).sum(axis=0)
            for topic in range(topics):
                some[topic] += old == topic
            count(number)
    return np.moveaxis(counts, 0, 2)


def _likelihoods(critic: LDA, matrix: csr_matrix, rows: Ids) -> list[Array]:
    """Probability of each token of each document in each topic, over the largest of them: [tokens, K] each."""
    likelihoods = []
    for row in rows:
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        words = np.repeat(matrix.indices[part], matrix.data[part].astype(np.int64))
        own = critic.phi[:, words].T
        likelihoods.append(own / own.max(axis=1, keepdims=True))
    return likelihoods


def _chunks(lengths: Ids, topics: int, entry: Lda) -> Iterator[Ids]:
    """Rows of documents with words, the longest first, in chunks of bounded memory."""
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    start = 0
    while start < len(order):
        longest = int(lengths[order[start]])
        if entry.posterior == "exact":
            each = (longest + 1) ** (topics - 1)
            if each > CHUNK_NUMBERS:
                raise TextcriticError(
                    f"posterior: document {int(order[start])} has {longest:,} tokens, too many for the exact posterior "
                    f"of {topics} topics; use gibbs"
                )
        else:
            each = longest * (entry.draws + topics)
        size = max(1, CHUNK_NUMBERS // (2 * each))
        yield order[start : start + size]
        start += size


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
