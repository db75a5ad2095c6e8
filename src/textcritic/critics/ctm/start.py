"""Where EM starts: the topics that an aspect model finds, from the most promising of several draws of documents.

The aspect model (Hofmann 1999, probabilistic latent semantic analysis) has topics too, but no distribution over the
mixtures of documents. A step of its EM costs some thirtieth of one of the correlated topic model, and its likelihood
says early which draw of documents ends high.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_matrix

from textcritic.critics.ctm.batches import batch_of, document_lengths, word_counts
from textcritic.critics.ctm.em import Parts
from textcritic.critics.ctm.model import Array
from textcritic.critics.ctm.sparse import ByType, entry_products, weighted_sums
from textcritic.plan.entries import Ctm

# DRAWS draws of documents make SCREENING steps each; the one of the highest likelihood continues to STEPS in all.
DRAWS, SCREENING, STEPS = 4, 10, 100
# The share of a topic at the start that comes from the words of all documents; the rest comes from one document. The
# second number is this share for the final topics of the aspect model: it gives every topic every word.
BACKGROUND, LEFT = 0.3, 0.01
# Tokens added to each topic of a document.
SMOOTHING = 0.1
# Added to the variances of the documents' coefficients.
RIDGE = 0.1
# Entries of the documents that the aspect model is fitted on, at most: a sample of larger corpora.
MOST_ENTRIES = 2**20


def start(matrix: csr_matrix, rows: npt.NDArray[np.int64], entry: Ctm) -> Parts:
    """The parameters that EM starts from: topics, and mean and covariance of the documents' coefficients.

    Args:
        matrix: [documents, words].
        rows: the rows of documents that have words.
        entry: only the number of topics and the seed are used.
    """
    rng = np.random.default_rng(entry.seed)
    sample = _sample(matrix, rows, entry.topics, rng)
    batch, background = batch_of(matrix, sample), word_counts(matrix)
    entries = _Entries(batch.starts, batch.types, batch.counts.float(), ByType.of(batch.starts, batch.types))
    states = []
    for _ in range(DRAWS):
        topics = torch.from_numpy(_drawn(matrix, sample, background, entry.topics, rng)).float()
        even = torch.full((len(sample), entry.topics), 1 / entry.topics)
        states.append(entries.stepped(_Aspects(topics, even), SCREENING))
    best = max(states, key=lambda state: state.log_likelihood)
    ended = entries.stepped(best, STEPS - SCREENING)
    own = ended.topics.double().numpy()
    topics = LEFT * (background / background.sum())[:, None] + (1 - LEFT) * own / own.sum(axis=0)
    return Parts(topics, *_prior(ended.shares.double().numpy()))


@dataclass(frozen=True, slots=True)
class _Aspects:
    """An aspect model.

    Attributes:
        topics: [V, K], probability of each word in each topic.
        shares: [D, K], of the topics in each document.
        log_likelihood: of the documents, nats, before the last step.
    """

    topics: torch.Tensor
    shares: torch.Tensor
    log_likelihood: float = 0.0


@dataclass(frozen=True, slots=True)
class _Entries:
    """The documents: where the entries of each start, words and counts of the entries, and the entries by word."""

    starts: torch.Tensor
    types: torch.Tensor
    counts: torch.Tensor
    by_type: ByType

    def stepped(self, state: _Aspects, steps: int) -> _Aspects:
        """The model after some steps of EM (Hofmann 1999, equations 3 to 6, with smoothed shares)."""
        topics, shares = state.topics, state.shares
        present = self.by_type.types
        for _ in range(steps):
            probability = entry_products(shares, topics, self.starts, self.types)
            weights = self.counts / probability
            of_words = topics[present] * self.by_type.sums(shares, weights)
            shares = shares * weighted_sums(topics, self.types, weights, self.starts[:-1]) + SMOOTHING
            shares = shares / shares.sum(dim=1, keepdim=True)
            topics = torch.zeros_like(topics).index_copy_(0, present, of_words / of_words.sum(dim=0))
        return _Aspects(topics, shares, float((self.counts * probability.log()).double().sum()))


def _sample(
    matrix: csr_matrix, rows: npt.NDArray[np.int64], least: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Random documents of `MOST_ENTRIES` entries together, `least` documents or more; all of them if they are few."""
    if matrix.nnz <= MOST_ENTRIES:
        return rows
    order = rng.permutation(rows)
    number = int(np.searchsorted(np.cumsum(np.diff(matrix.indptr)[order]), MOST_ENTRIES))
    return np.sort(order[: max(number, least)])


def _drawn(
    matrix: csr_matrix, rows: npt.NDArray[np.int64], background: Array, num_topics: int, rng: np.random.Generator
) -> Array:
    """Topics with the smoothed words of one document each: [V, K].

    Documents are drawn without replacement, in proportion to their length; the smoothing is the words of all documents,
    each with a random weight, so that no two topics are the same even if two documents are.
    """
    lengths = document_lengths(matrix)[rows]
    chosen = rng.choice(rows, num_topics, replace=False, p=lengths / lengths.sum())
    topics = np.empty((matrix.shape[1], num_topics))
    for topic, row in enumerate(chosen):
        words = background * (0.5 + rng.random(len(background)))
        own = np.asarray(matrix[row].todense(), dtype=np.float64).ravel()
        topics[:, topic] = BACKGROUND * words / words.sum() + (1 - BACKGROUND) * own / own.sum()
    return topics


def _prior(shares: Array) -> tuple[Array, Array]:
    """Mean [K - 1] and covariance [K - 1, K - 1] of the logarithms of shares [D, K], less that of the last topic."""
    logs = np.log(shares)
    coefficients = logs[:, :-1] - logs[:, -1:]
    mean = coefficients.mean(axis=0)
    away = coefficients - mean
    return mean, away.T @ away / len(away) + RIDGE * np.eye(len(mean))
