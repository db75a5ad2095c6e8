"""A critic of the order of sentences: the direction in which the features of real text differ from random order."""

import os
from dataclasses import dataclass

import numpy as np

from textcritic.critics.order.arrangements import ORDERS, PLACES, Arranged, arranged, order_weights, place_weights
from textcritic.critics.order.features import RELATIONS, Vocabulary, sums_by
from textcritic.critics.order.sentences import Floats, Ints, Sentences
from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, write_arrays

RIDGE, FLOOR = 0.1, 1e-6
"""Added to the covariance: a share of its diagonal, and a number."""
UNIT = 100
"""Evidence is given for this many sentences."""
PERMUTATIONS = 20
"""Random orders that each document is compared with, as in Barzilay and Lapata (2008)."""


@dataclass(frozen=True, slots=True, eq=False)
class OrderCritic:
    """What documents in real order have and the same sentences in random order lack.

    With A the covariance of the features over random orders, a sentence, and m their mean in real text, a sentence, the
    evidence of a document with features x is x' A^-1 m: the part that depends on x of log N(x; m, A) - log N(x; 0, A),
    nats. A document in random order has mean 0, whatever its words.

    Attributes:
        vocabulary: what is counted.
        shape: A, with a ridge: [features, features].
        mean: m: [features].
    """

    vocabulary: Vocabulary
    shape: Floats
    mean: Floats

    @classmethod
    def fit(cls, sentences: Sentences) -> "OrderCritic":
        """Fit on real documents.

        Raises:
            TextcriticError: none has two sentences.
        """
        if not len(sentences.length):
            raise TextcriticError("no document has two sentences in a section; there is no order to learn from")
        vocabulary = Vocabulary.of(sentences)
        documents = arranged(sentences, vocabulary)
        return cls(vocabulary, shape_of(documents), documents.found.sum(axis=0) / documents.counted.sum())

    @property
    def weights(self) -> Floats:
        """The weight of each feature, nats in `UNIT` sentences: [features]."""
        weights: Floats = UNIT * np.linalg.solve(self.shape, self.mean).astype(np.float64)
        return weights

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `critic.npz`, whole or not at all."""
        rarity = self.vocabulary.rarity
        arrays = {
            "keys": _packed(self.vocabulary.keys),
            "terms": _packed(tuple(rarity)),
            "rarity": np.array(list(rarity.values()), np.float64),
            "shape": self.shape,
            "mean": self.mean,
        }
        write_arrays(path, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "OrderCritic":
        """Read `critic.npz`.

        Raises:
            TextcriticError: the file is missing or damaged, or holds something else.
        """
        with arrays_of(
            path, "not a critic of the order of sentences, or damaged; delete it and rerun its rule"
        ) as arrays:
            keys, terms = _unpacked(arrays["keys"]), _unpacked(arrays["terms"])
            rarity = dict(zip(terms, arrays["rarity"].tolist(), strict=True))
            return cls(Vocabulary(keys, rarity), arrays["shape"], arrays["mean"])


def shape_of(documents: Arranged) -> Floats:
    """A, see `OrderCritic`: it does not depend on the order of the sentences in the documents."""
    covariance = documents.covariance / max(int(documents.counted.sum()), 1)
    shape: Floats = covariance + np.diag(RIDGE * np.diag(covariance) + FLOOR)
    return shape


def weakest_pairs(sentences: Sentences, documents: Arranged, weights: Floats) -> tuple[Ints, Floats]:
    """The two neighbouring sentences of each document that belong together least.

    Args:
        sentences: of the documents.
        documents: the same, arranged.
        weights: [features].

    Returns:
        The number in its document of the first of the two, -1 without any, and by how many nats in `UNIT` sentences
        this pair is above two sentences of its passage at random: each [documents].
    """
    one, other = documents.pairs
    of_next = documents.related @ weights[-len(ORDERS) * len(RELATIONS) :][: len(RELATIONS)]
    passage, length = sentences.passage, sentences.length
    mean = np.bincount(passage[one], of_next, len(length)) / (length * (length - 1))
    neighbours = other == one + 1
    values, firsts = (of_next - mean[passage[one]])[neighbours], one[neighbours]
    owner = sentences.document[passage[firsts]]
    order = np.lexsort((firsts, values, owner))
    owners, place = np.unique(owner[order], return_index=True)
    numbers, by = np.full(len(sentences.total), -1), np.full(len(sentences.total), np.nan)
    numbers[owners], by[owners] = sentences.number[firsts[order[place]]], values[order[place]]
    return numbers, by


def accuracies(sentences: Sentences, documents: Arranged, weights: Floats, seed: int = 1) -> Floats:
    """The share of `PERMUTATIONS` random orders of each document that have less evidence than its own: [documents].

    An order with the same evidence counts one half; NaN of a document without a passage.
    """
    evidence = evidence_of_orders(sentences, documents, weights, seed)
    apart = evidence[0] - evidence[1:]
    close = np.abs(apart) <= 1e-9 * np.maximum(np.abs(evidence[0]), 1)
    share: Floats = ((apart > 0) & ~close).mean(axis=0) + close.mean(axis=0) / 2
    return np.where(sentences.counted > 0, share, np.nan)


def evidence_of_orders(sentences: Sentences, documents: Arranged, weights: Floats, seed: int = 1) -> Floats:
    """The evidence of each document as it is, and of random orders of its sentences inside passages.

    Args:
        sentences: of the documents.
        documents: the same, arranged.
        weights: [features].
        seed: of `numpy.random.default_rng`; passages of one length are drawn together, short ones first.

    Returns:
        [1 + `PERMUTATIONS`, documents], without subtracting the mean over all orders.
    """
    rng = np.random.default_rng(seed)
    of_places, of_orders = np.split(weights, [len(PLACES) * documents.unary.shape[1]])
    by_place = np.stack(np.split(of_places, len(PLACES))) @ documents.unary.T  # [places, sentences]
    by_order = documents.related @ np.stack(np.split(of_orders, len(ORDERS))).T  # [pairs, orders]
    placed, length, starts = place_weights(sentences), sentences.length, sentences.starts
    pairs = length * (length - 1)
    first_pairs = np.cumsum(pairs) - pairs
    evidence = np.zeros((1 + PERMUTATIONS, len(length)))
    for n in np.unique(length).tolist():
        at = np.flatnonzero(length == n)
        orders = np.tile(np.arange(n), (1 + PERMUTATIONS, len(at), 1))
        orders[1:] = rng.permuted(orders[1:], axis=-1)
        rows = starts[at][:, None]
        for of, weight in zip(by_place, placed, strict=True):
            evidence[:, at] += (of[rows + orders] * weight[rows + np.arange(n)]).sum(axis=-1)
        one, other = np.nonzero(~np.eye(n, dtype=bool))  # as `pairs_of` has them
        between = np.zeros((len(at), n, n, len(ORDERS)))
        between[:, one, other] = by_order[first_pairs[at][:, None] + np.arange(n * (n - 1))]
        for order, weight in enumerate(order_weights(n)):
            one, other = np.nonzero(weight)
            chosen = between[np.arange(len(at))[:, None], orders[..., one], orders[..., other], order]
            evidence[:, at] += chosen @ weight[one, other]
    of_documents: Floats = evidence @ sums_by(sentences.document, len(sentences.total)).T
    return of_documents


def _packed(words: tuple[str, ...]) -> np.ndarray:
    """Words as bytes: none has a line break."""
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def _unpacked(packed: np.ndarray) -> tuple[str, ...]:
    text = packed.tobytes().decode()
    return tuple(text.split("\n")) if text else ()
