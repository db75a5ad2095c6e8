"""How many topics: how well models with different numbers of topics predict words that they have not seen.

Documents are divided into parts, and each part is judged by models that are fitted on the others. Half of the tokens of
a document, drawn at random, are read, and the other half are predicted (document completion, Blei and Lafferty 2007,
section 3.2; Wallach, Murray, Salakhutdinov and Mimno 2009, section 5.2). All models predict the same tokens, so the
numbers of topics are compared document by document.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.posterior import Posterior, infer
from textcritic.critics.ctm.train import fit_ctm
from textcritic.errors import TextcriticError
from textcritic.inference import Groups, Interval, bootstrap_interval, ratio_of_sums, unit_of, unit_sums
from textcritic.inference.crossfit import deal
from textcritic.plan.checks.critics import PARTS
from textcritic.plan.entries import Ctm
from textcritic.runlog import log

DRAWS = 32
"""Draws of topic proportions from a posterior; their mean predicts."""
CELLS = 1 << 22  # numbers in memory, of a few documents under all their draws

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Completed:
    """Words of held-out documents under models of each number of topics.

    Attributes:
        numbers: K of each, ascending.
        log_likelihoods: float64 [numbers, D], of the predicted half of each document, nats.
        tokens: float64 [D], of these halves.
        documents: int64 [D], rows of the documents: those with a token in each half.
        unknown: tokens that were not predicted, since no document of the other parts has their word.
    """

    numbers: tuple[int, ...]
    log_likelihoods: Array
    tokens: Array
    documents: npt.NDArray[np.int64]
    unknown: int


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How well models with one number of topics predict.

    Attributes:
        num_topics: K.
        log_likelihood: log-likelihood of a held-out token, nats, with its 95% interval over documents.
        below_best: how much lower it is than the log-likelihood of the best number, on the same documents.
        taken: whether it is the smallest that may be as good as the best: its interval of `below_best` includes 0.
    """

    num_topics: int
    log_likelihood: Interval
    below_best: Interval
    taken: bool


def completed(
    counts: csr_matrix, numbers: Sequence[int], entry: Ctm, groups: Groups = None, workers: int = 1
) -> Completed:
    """Fit models of each number of topics on all parts of the documents but one, and predict this one.

    Args:
        counts: [documents, words], whole numbers.
        numbers: K of each model; their order does not matter.
        entry: how models are fitted; its `topics` are not used. The seed also decides the parts and the halves.
        groups: the group of each document; all documents of a group are in one part. None: each document is alone.
        workers: threads; the result does not depend on their number.

    Raises:
        TextcriticError: too few documents for the largest number, or as `train.fit_ctm`.
    """
    known = tuple(sorted({*numbers}))
    rng = np.random.default_rng((entry.seed, len(known)))
    rows = np.flatnonzero(counts.getnnz(axis=1) > 0)
    units = unit_of(None if groups is None else [groups[row] for row in rows.tolist()], len(rows))
    order = rng.permutation(units.max(initial=-1) + 1)
    parts = deal(units, np.ones(len(rows), np.bool_), order, PARTS)
    smallest = len(rows) - int(np.bincount(parts).max(initial=0))
    if smallest < known[-1]:
        raise TextcriticError(
            f"topics: {known[-1]}, and {smallest:,} documents are left where a part of them is held out; give fewer"
            " topics, or more documents"
        )
    by_part: list[tuple[Array, Array, npt.NDArray[np.int64]]] = []
    unknown = 0
    for part in np.unique(parts).tolist():
        held, fitted = rows[parts == part], counts[rows[parts != part]]
        read, predicted = _halved(counts[held], rng)
        seen = np.asarray(fitted.sum(axis=0)).ravel() > 0
        unknown += int(predicted[:, ~seen].sum())
        read, predicted, fitted = (one[:, seen] for one in (read, predicted, fitted))
        both = np.flatnonzero((read.getnnz(axis=1) > 0) & (predicted.getnnz(axis=1) > 0))
        read, predicted = read[both], predicted[both]
        values = []
        for number in known:
            fit = fit_ctm(fitted, entry.changed(topics=number), workers=workers)
            values.append(predicted_under(fit.critic, read, predicted, entry.seed, workers))
            log.info("part %d of %d held out, %d topics: done", part + 1, parts.max() + 1, number)
        by_part.append((np.stack(values), np.asarray(predicted.sum(axis=1), np.float64).ravel(), held[both]))
    likelihoods, tokens, documents = zip(*by_part, strict=True)
    by_row = np.argsort(np.concatenate(documents))
    return Completed(
        known,
        np.concatenate(likelihoods, axis=1)[:, by_row],
        np.concatenate(tokens)[by_row],
        np.concatenate(documents)[by_row],
        unknown,
    )


def compared(
    completed: Completed, groups: Groups = None, resamples: int = 10_000, seed: int = 1
) -> tuple[HeldOut, ...]:
    """Each number of topics next to the best, and which is taken.

    Args:
        completed: what the models predicted.
        groups: of all documents, in the order of their rows; the documents of a group are drawn together.
        resamples: of the studentised bootstrap.
        seed: of its draws.
    """
    kept = None if groups is None else [groups[row] for row in completed.documents.tolist()]

    def of(values: Array) -> Interval:
        units = unit_sums(np.stack([values, completed.tokens], axis=1), kept)
        return bootstrap_interval(units, ratio_of_sums, resamples, seed=seed)

    best = int(np.argmax(completed.log_likelihoods.sum(axis=1)))
    below = [of(completed.log_likelihoods[best] - values) for values in completed.log_likelihoods]
    # Without an interval we only know which one is the best.
    reach = [place == best or (one.low is not None and one.low <= 0) for place, one in enumerate(below)]
    taken = reach.index(True)
    return tuple(
        HeldOut(number, of(values), one, place == taken)
        for place, (number, values, one) in enumerate(
            zip(completed.numbers, completed.log_likelihoods, below, strict=True)
        )
    )


def predicted_under(critic: CTM, read: csr_matrix, predicted: csr_matrix, seed: int, workers: int = 1) -> Array:
    """Log-likelihood of the predicted tokens of documents, given those that were read, in nats: [documents].

    A token is predicted by `sum_k E[theta_k] beta[k, word]`: the mean of the topic proportions over `DRAWS` of the
    posterior of the read half. That is a distribution over words whatever the posterior is, so models of
    different K can be compared.

    Args:
        critic: a model.
        read: [documents, words], each with a word.
        predicted: likewise.
        seed: of the draws.
        workers: threads.
    """
    theta = _proportions(infer(critic, read, workers=workers), seed)
    entries = predicted.tocoo()
    values = np.empty(len(entries.data))
    step = max(1, CELLS // critic.num_topics)
    words = np.exp(critic.log_topics)
    for start in range(0, len(values), step):
        some = slice(start, start + step)
        values[some] = np.einsum("ek,ke->e", theta[entries.row[some]], words[:, entries.col[some]])
    with np.errstate(divide="ignore"):
        logs = entries.data * np.log(values)
    return np.bincount(entries.row, logs, predicted.shape[0]).astype(np.float64)


def _proportions(posterior: Posterior, seed: int) -> Array:
    """The mean of the topic proportions under each posterior: [documents, K]."""
    documents, free = posterior.means.shape
    shares = np.empty((documents, free + 1))
    noise = np.random.default_rng(seed).standard_normal((DRAWS // 2, free))
    noise = np.concatenate([noise, -noise])
    step = max(1, CELLS // (DRAWS * (free + 1)))
    for start in range(0, documents, step):
        some = slice(start, start + step)
        deviations = np.sqrt(posterior.variances[some])
        eta = posterior.means[some, None] + deviations[:, None] * noise
        eta = np.concatenate([eta, np.zeros((*eta.shape[:2], 1))], axis=2)  # the last coefficient is 0
        eta = np.exp(eta - eta.max(axis=2, keepdims=True))
        shares[some] = (eta / eta.sum(axis=2, keepdims=True)).mean(axis=1)
    return shares


def _halved(counts: csr_matrix, rng: np.random.Generator) -> tuple[csr_matrix, csr_matrix]:
    """The tokens of each document in two random halves; if their number is odd, one more is read."""
    read = counts.copy()
    for start, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        row = counts.data[start:end].astype(np.int64)
        read.data[start:end] = rng.multivariate_hypergeometric(row, (row.sum() + 1) // 2, method="marginals")
    predicted = counts - read
    for half in (read, predicted):
        half.eliminate_zeros()
    return read, predicted
