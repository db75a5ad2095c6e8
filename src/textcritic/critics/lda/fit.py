"""Fitting by collapsed Gibbs sampling, which tomotopy does: topics of all tokens are drawn, sweep by sweep.

One chain is one thread. tomotopy's own parallel schemes let each worker draw by counts that the others have already
changed; that is not the collapsed Gibbs sampler, one of them depends on the order in which threads happen to run, and
on two cores they save a fifth of the time. So other cores have chains of their own: the result does not depend on how
many there are, and the same seed gives the same model to the last bit.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from textcritic.critics.lda.convergence import Convergence, convergence
from textcritic.critics.lda.model import LDA
from textcritic.errors import TextcriticError
from textcritic.plan.entries import Lda
from textcritic.runlog import Progress, log

# Sweeps between two values of the log-likelihood, and between two looks at whether the chains have converged.
EVERY, LOOK = 10, 100


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A fitted model.

    Attributes:
        critic: of the most probable chain.
        log_probs: nats a token, `log p(words, topics)` of the state after each `EVERY` sweeps, of each chain: [starts]
            lists. The prior of the topics is as alpha then was.
        kept: which chain the critic is of.
        convergence: whether the chains had come to rest when the fit ended.
        seconds: that all of them took.
        documents: with words.
        empty: without a word, which are left out.
    """

    critic: LDA
    log_probs: list[list[float]]
    kept: int
    convergence: Convergence
    seconds: float
    documents: int
    empty: int


def fit_lda(counts: csr_matrix, entry: Lda, *, workers: int = 1) -> Fit:
    """Fit by collapsed Gibbs sampling (Griffiths and Steyvers 2004): theta and phi are summed out.

    The fit continues until all chains have settled (`convergence.drift` of log-likelihood and alpha, checked after
    each `LOOK` sweeps), for `entry.iterations` sweeps at most.

    phi is estimated from the last state, `(n_kw + beta) / (n_k + V beta)` with `n_kw` tokens of word w in topic k: the
    mean of its posterior Dirichlet, and its mode (the paper's MAP) where phi is written as a softmax (MacKay 1998). The
    mode of the probabilities themselves would be `n_kw + beta - 1` over its sum, which does not exist for a beta below
    1 and words that a topic does not have; MALLET and tomotopy give the former too.

    A killed fit begins from the start: tomotopy saves its counts, but not the state of its random numbers, so a
    resumed chain would be a different one.

    Args:
        counts: [documents, words], whole numbers; the order of words in a document does not matter.
        entry: how the model is fitted.
        workers: threads; at most one a chain is used. The result does not depend on it.

    Raises:
        TextcriticError: no document has a word.
    """
    matrix = csr_matrix(counts)
    filled = int((matrix.getnnz(axis=1) > 0).sum())
    if not filled:
        raise TextcriticError("documents: none has a word of the vocabulary; nothing can be fitted")
    began = time.monotonic()
    progress = Progress(f"sampling {entry.topics} topics", entry.starts * entry.iterations, "sweeps at most")
    seeds = range(entry.seed, entry.seed + entry.starts)
    with ThreadPoolExecutor(max(1, min(workers, entry.starts))) as pool:  # tomotopy lets go of Python's lock
        chains = list(pool.map(lambda seed: _Chain.begun(matrix, entry, seed), seeds))
        for done in range(0, entry.iterations, LOOK):
            sweeps = min(LOOK, entry.iterations - done)
            list(pool.map(lambda chain, sweeps=sweeps: chain.sample(sweeps, progress), chains))
            convergence = replace(_convergence(chains, entry), sweeps=done + sweeps)
            if convergence.converged:
                break
    log.log(logging.INFO if convergence.converged else logging.WARNING, "%s", convergence.words)
    kept = int(np.argmax([chain.log_probs[-1] for chain in chains]))
    critic = _critic(chains[kept].model, matrix.shape[1], entry.beta)
    log_probs = [chain.log_probs for chain in chains]
    return Fit(critic, log_probs, kept, convergence, time.monotonic() - began, filled, matrix.shape[0] - filled)


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """tomotopy's sampler, and log-likelihood (nats a token) and sum of alpha after each `EVERY` sweeps."""

    model: Any
    log_probs: list[float] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)

    @classmethod
    def begun(cls, matrix: csr_matrix, entry: Lda, seed: int) -> Self:
        import tomotopy

        alpha = 1 / entry.topics if entry.alpha is None else entry.alpha
        model = tomotopy.LDAModel(k=entry.topics, alpha=alpha, eta=entry.beta, seed=seed)
        model.optim_interval, model.burn_in = entry.optimise_every, entry.burn_in
        for ids in _documents(matrix):
            model.add_doc(list(map(str, ids.tolist())))
        return cls(model)

    def sample(self, sweeps: int, progress: Progress) -> None:
        for start in range(0, sweeps, EVERY):
            some = min(EVERY, sweeps - start)
            self.model.train(some, workers=1)
            self.log_probs.append(float(self.model.ll_per_word))
            self.alphas.append(float(np.sum(self.model.alpha)))
            progress.advance(some, f"log-likelihood {self.log_probs[-1]:.4f} nats a token")


def _convergence(chains: Sequence[_Chain], entry: Lda) -> Convergence:
    log_probs, alphas = (np.array([getattr(chain, name) for chain in chains]) for name in ("log_probs", "alphas"))
    return convergence(log_probs, alphas, EVERY, (entry.optimise_every, entry.burn_in))


def _documents(matrix: csr_matrix) -> Iterator[npt.NDArray[np.int32]]:
    """The ids of each document's tokens, those of one word together; documents without any are left out."""
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        if stop > start:
            yield np.repeat(matrix.indices[start:stop], matrix.data[start:stop])


def _critic(model: Any, num_words: int, beta: float) -> LDA:
    """Counts of the last state as a model; tomotopy's own probabilities have single precision."""
    words = np.array(list(map(int, model.used_vocabs)), dtype=np.int64)
    topics = model.k
    tokens = np.zeros(topics * num_words, dtype=np.int64)
    for document in model.docs:
        pairs = np.asarray(document.topics, dtype=np.int64) * num_words + words[np.asarray(document.words)]
        np.add.at(tokens, pairs, 1)
    smoothed = tokens.reshape(topics, num_words) + beta
    return LDA(smoothed / smoothed.sum(axis=1, keepdims=True), np.asarray(model.alpha, dtype=np.float64))
