"""A detector without training: how much more improbable a document's latent structure is with a sentence than without.

The score of a sentence is the Latent NLL of its document by a critic of topics or of mentions, minus that of the
document without the sentence; or by how much more the document without it is in order, by a critic of order.
"""

import os
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, vstack

from textcritic.corpora.intruders.documents import Document
from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.scoring import latent_nll
from textcritic.critics.detectors.scorer import Scorer
from textcritic.critics.mentions.job import chain_options
from textcritic.critics.mentions.model import MentionCritic
from textcritic.critics.mentions.scoring import document_nll
from textcritic.critics.order.arrangements import arranged
from textcritic.critics.order.critic import UNIT, OrderCritic
from textcritic.critics.order.sentences import sentences_of
from textcritic.errors import TextcriticError
from textcritic.latents.bags import Vocabulary, count_words
from textcritic.latents.resolvers.chains import ChainOptions, chains_of
from textcritic.latents.resolvers.resolve import Resolver, resolver_of
from textcritic.plan.entries import Critic, Mentions, Order
from textcritic.plan.entries import Resolver as ResolverEntry
from textcritic.runlog import Progress

AT_ONCE = 200  # documents


class Without(Scorer):
    """Scores a document with and without each of its sentences."""

    def scores(self, documents: Sequence[Document], what: str = "") -> list[np.ndarray]:
        """See `Scorer.scores`."""
        progress = Progress(what, len(documents), "documents") if what else None
        scored: list[np.ndarray] = []
        for first in range(0, len(documents), AT_ONCE):
            chunk = documents[first : first + AT_ONCE]
            nll = self.nll(chunk)
            sizes = [len(document.sentences) + 1 for document in chunk]
            scored += [part[0] - part[1:] for part in np.split(nll, np.cumsum(sizes)[:-1])]
            if progress:
                progress.advance(len(chunk))
        return scored

    @abstractmethod
    def nll(self, documents: Sequence[Document]) -> np.ndarray:
        """Nats of each document as it is, then without each of its sentences: float64 [sum of sentences + 1]."""


class TopicsWithout(Without):
    """By a correlated topic model.

    Args:
        folder: of the critic, with `critic.npz` and `vocabulary.parquet`.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.critic = CTM.load(Path(folder) / "critic.npz")
        self.vocabulary = Vocabulary.load(Path(folder) / "vocabulary.parquet")
        if self.critic.num_words != len(self.vocabulary):
            raise TextcriticError(f"{folder}: critic and vocabulary do not go together; delete both and fit them again")

    def nll(self, documents: Sequence[Document]) -> np.ndarray:
        """The expected negative log density of the topic coefficients, nats a document.

        Where no word of the vocabulary is left, the posterior is what comes closest to the prior.
        """
        from textcritic.critics.ctm.posterior import infer  # loads torch

        rows = []
        for document in documents:
            sentences = count_words([sentence.split() for sentence in document.sentences], self.vocabulary)
            whole = csr_matrix(sentences.sum(axis=0))
            ones = csr_matrix(np.ones((len(document.sentences), 1), np.int32))
            rows += [whole, ones @ whole - sentences]
        matrix = vstack(rows, format="csr").astype(np.int32)
        matrix.eliminate_zeros()
        posterior = infer(self.critic, matrix)
        expected, _ = latent_nll(self.critic, posterior.means, posterior.variances)
        return expected


class MentionsWithout(Without):
    """By an n-gram model of chains of mentions.

    Args:
        critic: critic.npz.
        options: of chains.
        resolver: finds the mentions; it reads a document as often as it has sentences, and once more.
    """

    def __init__(self, critic: str | os.PathLike[str], options: ChainOptions, resolver: Resolver) -> None:
        self.critic, self.options, self.resolver = MentionCritic.load(critic), options, resolver

    def nll(self, documents: Sequence[Document]) -> np.ndarray:
        """Nats a token of the chain, so that a document that is shorter by a sentence compares; 0 without a token."""
        texts = [text for document in documents for text in _texts(document)]
        resolved = self.resolver.resolve((str(number), text) for number, text in enumerate(texts))
        chained = chains_of(resolved, self.options)
        at, steps = np.array(chained.ids, np.int64), chained.chains.lengths
        nll = np.zeros(len(texts))
        nll[at] = document_nll(self.critic, chained.chains) / np.maximum(steps, 1)
        return nll


class OrderWithout(Without):
    """By a critic of the order of sentences, which has seen coherent documents alone.

    Args:
        critic: critic.npz.
    """

    def __init__(self, critic: str | os.PathLike[str]) -> None:
        self.critic = OrderCritic.load(critic)

    def nll(self, documents: Sequence[Document]) -> np.ndarray:
        """Minus the evidence for the order, nats: that of one sentence is 0, as it has no order."""
        every = sentences_of([one] for document in documents for one in _without_each(document))
        nats: np.ndarray = -(arranged(every, self.critic.vocabulary).found @ self.critic.weights) / UNIT
        return nats


def without_of(critic: Critic, resolver: ResolverEntry | None, path: str | os.PathLike[str]) -> Without:
    """The scorer of a detector.

    Args:
        critic: its entry, of kind ctm, mentions or order.
        resolver: that of its resolver; None of a critic without one.
        path: critic.npz.
    """
    if isinstance(critic, Order):
        return OrderWithout(path)
    if isinstance(critic, Mentions) and resolver is not None:
        return MentionsWithout(path, chain_options(critic, resolver), resolver_of(resolver))
    return TopicsWithout(Path(path).parent)


def _texts(document: Document) -> list[str]:
    """A document as it is, then without each of its sentences."""
    return [" ".join(some) for some in _without_each(document)]


def _without_each(document: Document) -> list[tuple[str, ...]]:
    """The same as sentences."""
    sentences = tuple(document.sentences)
    return [sentences, *(sentences[:number] + sentences[number + 1 :] for number in range(len(sentences)))]
