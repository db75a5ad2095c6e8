"""What EM adds up over documents, and the closed-form M-step from it."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from textcritic.critics.ctm.model import Array
from textcritic.critics.ctm.posterior import Expected


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parameters that EM works on.

    Attributes:
        topics: [V, K], probability of each word in each topic.
        mean: [K - 1].
        covariance: [K - 1, K - 1].
    """

    topics: Array
    mean: Array
    covariance: Array


@dataclass(slots=True, eq=False)
class Sums:
    """Sums over documents of what the M-step needs.

    Attributes:
        in_topics: [V, K], expected tokens of each word in each topic.
        origin: [K - 1], what means are counted from, so that no digits are lost.
        first: [K - 1], of `lambda - origin`.
        second: [K - 1, K - 1], of `(lambda - origin)(lambda - origin)'`.
        variance: [K - 1], of nu.
        documents: how many; a real number once sums are averaged.
        bound: nats.
    """

    in_topics: Array
    origin: Array
    first: Array
    second: Array
    variance: Array
    documents: float = 0.0
    bound: float = 0.0

    @classmethod
    def empty(cls, num_words: int, origin: Array) -> Self:
        """Of no documents."""
        size = len(origin)
        return cls(np.zeros((num_words, size + 1)), origin, np.zeros(size), np.zeros((size, size)), np.zeros(size))

    @classmethod
    def of_document(cls, parts: Parts, tokens: float) -> Self:
        """Of one document as parameters have it, with some tokens: what stochastic EM begins its averages with."""
        size = len(parts.mean)
        in_topics = parts.topics * (tokens / (size + 1))
        return cls(in_topics, parts.mean.copy(), np.zeros(size), parts.covariance.copy(), np.zeros(size), documents=1.0)

    def add(self, expected: Expected) -> None:
        """Add a batch."""
        centred = expected.means - self.origin
        self.in_topics[expected.types] += expected.in_topics
        self.first += centred.sum(axis=0)
        self.second += centred.T @ centred
        self.variance += expected.variances.sum(axis=0)
        self.documents += len(centred)
        self.bound += expected.bound

    def average(self, other: "Sums", weight: float) -> None:
        """Move the sums of a document by `weight` towards another's (Cappe and Moulines 2009, equation 8)."""
        scale, share = (1 - weight) / self.documents, weight / other.documents
        for key in ("in_topics", "first", "second", "variance"):
            mine, theirs = getattr(self, key), getattr(other, key)
            mine *= scale
            mine += share * theirs
        self.documents = 1.0

    def maximised(self, before: Parts, shrinkage: float) -> Parts:
        """The M-step: topics, mean and covariance that make the bound largest (Blei and Lafferty 2006, section 3).

        Args:
            before: what the sums were worked out with; a topic without a single expected token stays as it was.
            shrinkage: share by which the covariances between topics are made smaller.
        """
        tokens = self.in_topics.sum(axis=0)
        topics = np.where(tokens > 0, self.in_topics / np.where(tokens > 0, tokens, 1), before.topics)
        shift = self.first / self.documents
        covariance = self.second / self.documents - np.outer(shift, shift)
        covariance *= 1 - shrinkage
        variances = np.diag(self.second) / self.documents - shift**2 + self.variance / self.documents
        np.fill_diagonal(covariance, variances)
        return Parts(topics, self.origin + shift, (covariance + covariance.T) / 2)
