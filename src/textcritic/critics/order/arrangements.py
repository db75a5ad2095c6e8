"""The order of sentences as numbers whose mean and covariance over all orders are known exactly.

An order of a passage of n sentences has, with U the features of a sentence and R the relations of a pair,

- `first`, `last`: U of the first sentence of a document, and of its last one;
- `place`: sum of p_i U[i], p from -1 to 1;
- `next`: sum of R[i, i + 1];
- `later`: 2 / n times the sum of R[i, j] over i < j.

Under all n! orders each is a linear statistic of a permutation, or one of pairs as in Daniels (1944) and Mantel (1967),
whose first two moments are sums over the ways in which two pairs can share sentences. So a document in random order
has mean 0 here, whatever its words and its length.
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np

from textcritic.critics.order.features import RELATIONS, Vocabulary, pairs_of, relations, sums_by
from textcritic.critics.order.sentences import Floats, Ints, Sentences

PLACES = ("first", "last", "place")
ORDERS = ("next", "later")


@dataclass(frozen=True, slots=True, eq=False)
class Arranged:
    """Documents as they are, and their mean and covariance in random order.

    Attributes:
        found: [documents, features], minus the mean over all orders of the sentences of each passage.
        counted: [documents], sentences in passages.
        covariance: [features, features], over these orders, summed over all passages.
        pairs: (one, other), each [pairs], see `features.pairs_of`.
        unary: [sentences, features of a sentence], without the mean of their passage.
        related: [pairs, relations].
    """

    found: Floats
    counted: Ints
    covariance: Floats
    pairs: tuple[Ints, Ints]
    unary: Floats
    related: Floats


def arranged(sentences: Sentences, vocabulary: Vocabulary) -> Arranged:
    """The features of all documents, in the order of `PLACES` for each feature of a sentence, then of `ORDERS`."""
    length, passage = sentences.length, sentences.passage
    to_passage = sums_by(passage, len(length))
    unary = vocabulary.unary(sentences)
    unary -= ((to_passage @ unary) / length[:, None])[passage]
    one, other = pairs_of(length)
    related = relations(sentences, vocabulary, one, other)
    placed = [to_passage @ (weight[:, None] * unary) for weight in place_weights(sentences)]
    of_pair = passage[one]
    to_pair = sums_by(of_pair, len(length))
    in_order = (other == one + 1, (other > one) * (2 / length[of_pair]))
    ordered = [to_pair @ (weight[:, None] * related) for weight in in_order]
    pair_sums = to_pair @ related
    expected = pair_sums / length[:, None]  # of both: the sum of their weights is n - 1
    features = np.hstack([*placed, *(of - expected for of in ordered)])
    covariance = _covariance(sentences, unary, (one, other, related, pair_sums))
    documents = sums_by(sentences.document, len(sentences.total))
    return Arranged(documents @ features, sentences.counted, covariance, (one, other), unary, related)


def place_weights(sentences: Sentences) -> Floats:
    """How much each sentence counts in each of `PLACES`: [3, sentences]."""
    passage, length = sentences.passage, sentences.length[sentences.passage]
    inside = np.arange(len(passage)) - sentences.starts[passage]
    begins, ends, _ = _has_places(sentences.document)[:, passage]
    weights: Floats = np.stack([(inside == 0) * begins, (inside == length - 1) * ends, 2 * inside / (length - 1) - 1])
    return weights


def _has_places(document: Ints) -> Floats:
    """Whether each of `PLACES` counts in a passage: the first of a document, the last, and any: [3, passages]."""
    changes = document[1:] != document[:-1]
    counts = np.ones((len(PLACES), len(document)))
    counts[0, 1:], counts[1, :-1] = changes, changes
    return counts


def _covariance(sentences: Sentences, unary: Floats, pairs: tuple[Ints, Ints, Floats, Floats]) -> Floats:
    """The covariance over all orders, summed over passages; `unary` is centred in each passage."""
    size = unary.shape[1]
    covariance = np.zeros((len(PLACES) * size + len(ORDERS) * len(RELATIONS),) * 2)
    has, present = _has_places(sentences.document), range(2, int(sentences.length.max(initial=2)) + 1)
    of_length = sentences.length - 2
    passage, (one, other, related, sums) = sentences.passage, pairs
    before, behind = sums_by(one, len(passage)) @ related, sums_by(other, len(passage)) @ related
    turned = related[np.lexsort((one, other))]  # the pair (j, i) in the row of (i, j)
    pair, whole = passage[one], np.arange(len(of_length))
    products = [(related, related, pair), (related, turned, pair), (before, before, passage)]
    products += [(behind, behind, passage), (before, behind, passage), (behind, before, passage), (sums, sums, whole)]

    def of_place(place: int) -> slice:
        return slice(place * size, (place + 1) * size)

    def of_order(order: int) -> slice:
        start = len(PLACES) * size + order * len(RELATIONS)
        return slice(start, start + len(RELATIONS))

    places, across, orders = (np.array([of(n) for n in present]) for of in (_of_places, _of_both, _of_orders))
    for a, b in combinations_with_replacement(range(len(PLACES)), 2):
        weight = places[of_length, a, b] * has[a] * has[b]
        covariance[of_place(a), of_place(b)] = unary.T @ (weight[passage, None] * unary)
    for a, b in product(range(len(PLACES)), range(len(ORDERS))):
        weights = (across[of_length, a, b] * has[a, :, None])[passage]
        covariance[of_place(a), of_order(b)] = unary.T @ (weights[:, :1] * before + weights[:, 1:] * behind)
    for a, b in combinations_with_replacement(range(len(ORDERS)), 2):
        for kind, (left, right, of) in enumerate(products):
            covariance[of_order(a), of_order(b)] += left.T @ (orders[of_length, a, b, kind][of, None] * right)
    return np.triu(covariance) + np.triu(covariance, 1).T


def order_weights(n: int) -> Floats:
    """How much each ordered pair of a passage of n sentences counts in each of `ORDERS`: [2, n, n]."""
    weights: Floats = np.stack([np.eye(n, k=1), np.triu(np.full((n, n), 2 / n), 1)])
    return weights


def _weights(n: int) -> tuple[Floats, Floats]:
    """Of a passage of n sentences that is a whole document, the weights of places [3, n], and of orders [2, n, n]."""
    places = np.stack([np.arange(n) == 0, np.arange(n) == n - 1, np.linspace(-1, 1, n)])
    return places, order_weights(n)


def _of_places(n: int) -> Floats:
    """What the products of two centred features are multiplied by: [3, 3]."""
    places = _weights(n)[0]
    centred = places - places.mean(axis=1, keepdims=True)
    products: Floats = centred @ centred.T / (n - 1)
    return products


def _of_both(n: int) -> Floats:
    """What centred features times the sums of relations before and behind a sentence are multiplied by: [3, 2, 2]."""
    places, orders = _weights(n)
    row, column = (np.einsum("an,bn->ab", places, orders.sum(axis=axis)) for axis in (2, 1))
    apart = places.sum(axis=1)[:, None] * orders.sum(axis=(1, 2)) - row - column
    apart = apart / (n * (n - 1) * (n - 2)) if n > 2 else 0 * apart
    return np.stack([row / (n * (n - 1)) - apart, column / (n * (n - 1)) - apart], axis=-1)


def _of_orders(n: int) -> Floats:
    """What the seven sums of products of relations are multiplied by: [2, 2, 7].

    They are sums of R[i, j] times R'[i, j]; R'[j, i]; of rows times rows; columns times columns; rows times columns;
    columns times rows; and the whole sums. Two pairs share both sentences (in two ways), one (in four), or none.
    """
    c = _weights(n)[1]
    row, column, total = c.sum(axis=2), c.sum(axis=1), c.sum(axis=(1, 2))
    same, turned = np.einsum("aij,bij->ab", c, c), np.einsum("aij,bji->ab", c, c)
    one = [row @ row.T - same, column @ column.T - same, row @ column.T - turned, column @ row.T - turned]
    none = np.outer(total, total) - same - turned - sum(one)
    two, three, four = n * (n - 1), n * (n - 1) * (n - 2), n * (n - 1) * (n - 2) * (n - 3)
    same, turned = same / two, turned / two
    one = [of / three if three else 0 * of for of in one]
    none = none / four if four else 0 * none
    # The sums over pairs that share one sentence are those of rows and columns, less the pairs that share both.
    weights = [same - one[0] - one[1] + none, turned - one[2] - one[3] + none, *(of - none for of in one)]
    whole = none - np.outer(total, total) / two**2
    return np.stack([*weights, whole], axis=-1)
