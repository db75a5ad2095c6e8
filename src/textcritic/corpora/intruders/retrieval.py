"""Ranking the documents of a collection by their likeness to each of many, as DrQA's retriever does it.

DrQA (Chen et al. 2017) weights the terms of `terms.count_terms` by log(1 + count) times log((N - n + 0.5) / (n + 0.5)),
at least 0, where n of the N documents have the term; a score is the dot product of two documents.

Documents are kept in shards, on the disk if a folder is given. Queries are answered many at once, and exactly, although
most products are never computed: the rare terms of a query give a bound from below for its k-th best score. What the
frequent terms can give together at most is less; a document that has too little of the other terms is not looked at
(the idea of MaxScore, Turtle and Flood 1995).
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from textcritic.batches import batched
from textcritic.corpora.intruders.shards import Shard
from textcritic.corpora.intruders.terms import BUCKETS, count_terms
from textcritic.errors import TextcriticError
from textcritic.runlog import Progress

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SHARD = 50_000
"""Documents of a shard."""
QUERIES = 16_384
"""Queries that are answered at once."""
# The terms of a query that give the first bound: the rarest ones, which so many documents have together.
_RARE = 1_000
# What frequent terms may give together, as a share of the k-th best score.
_FREQUENT = 0.5
# Scores of single precision are wrong by a smaller share.
_ROUNDING = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """The documents that are most like each of Q queries, the best first.

    Attributes:
        documents: int64 [Q, k], their places in the collection; -1 where fewer than k have a score above 0.
        scores: float64 [Q, k]; 0 there. Of documents with one score the first of the collection comes first.
    """

    documents: Integers
    scores: Floats


class Ranker:
    """A collection of documents to be searched; `size` is their number, N."""

    def __init__(self, texts: Iterable[str], folder: str | os.PathLike[str] | None = None, shard: int = SHARD) -> None:
        """Count the terms of a collection.

        Args:
            texts: of the documents, at least one; they are read once, `shard` at a time.
            folder: where shards are kept; None: in memory, some 1.5 kB for a document of 100 words.
            shard: documents of a shard.

        Raises:
            TextcriticError: there is no document.
        """
        self.size, self._shards = 0, list[Shard]()
        self._having = np.zeros(BUCKETS, np.int32)
        for some in batched(texts, shard):
            counts = count_terms(some)
            self._shards.append(Shard.of(counts, self.size, folder))
            self._having[self._shards[-1].terms] += np.diff(self._shards[-1].term_starts)
            self.size += len(some)
        if not self.size:
            raise TextcriticError("retrieval: the collection has no documents")

    def nearest(self, texts: Sequence[str], top: int) -> Nearest:
        """The `top` best documents of the collection for each text.

        Raises:
            TextcriticError: `top` is less than 1.
        """
        parts = (texts[start : start + QUERIES] for start in range(0, len(texts), QUERIES))
        return _joined([self._answer(count_terms(part), np.full(len(part), -1), top) for part in parts], top)

    def nearest_others(self, places: Integers, top: int) -> Nearest:
        """The `top` best documents for each of the documents at these places, without the document itself.

        Raises:
            TextcriticError: `top` is less than 1, or there is no such place.
        """
        if len(places) and not 0 <= places.min() <= places.max() < self.size:
            raise TextcriticError(f"retrieval: places should be from 0 to {self.size - 1}")
        progress = Progress("retrieval", len(places), "documents")
        answers = []
        for start in range(0, len(places), QUERIES):
            part = places[start : start + QUERIES]
            answers.append(self._answer(self._counts_of(part), part, top))
            progress.advance(len(part))
        return _joined(answers, top)

    def _answer(self, counts: sparse.csr_array, without: Integers, top: int) -> Nearest:
        """The best documents for queries, given by their counts; `without` is the document that each leaves out."""
        if top < 1:
            raise TextcriticError(f"retrieval: top: {top} should be 1 or more")
        weighted = self._weighted(counts)
        frequent_first = self._frequent_first(weighted)
        bound = self._first_bound(self._rarest(frequent_first), without, top)
        best = _Best(len(without), top)
        for shard in self._shards:
            least = np.maximum(bound, best.scores[:, -1]) * (1 - _ROUNDING)
            rest, most = _without_frequent(shard.local(frequent_first), shard, least)
            query, document, _ = _passing(shard, rest, without, least - most)
            best.offer(query, document, shard.exact_scores(weighted, (query, document)))
        return Nearest(best.documents, best.scores)

    def _first_bound(self, queries: sparse.csr_array, without: Integers, top: int) -> Floats:
        """The `top`-th best score of each query by these terms alone; 0 where fewer documents have one of them."""
        scale = 2 * max(self._most(queries), 1e-30)
        # Of each query the best scores so far, as its number plus a share below 1: one plain sort does for all.
        best = np.repeat(np.arange(len(without), dtype=np.float64), top)
        bound = np.zeros(len(without))
        for shard in self._shards:
            query, _, scores = _passing(shard, shard.local(queries), without, bound)
            shares = np.sort(np.concatenate([best, query + scores / scale]))
            ends = np.searchsorted(shares, np.arange(1, len(without) + 1))
            best = shares[(ends[:, None] - np.arange(top, 0, -1)).ravel()]
            bound = (best[::top] - np.arange(len(without))) * scale
        return bound

    def _most(self, queries: sparse.csr_array) -> float:
        """More than any score of these queries can be."""
        largest = max((float(shard.most.max(initial=0)) for shard in self._shards), default=0.0)
        sums = np.add.reduceat(np.append(queries.data, 0), queries.indptr[:-1])
        return float(sums.max(initial=0)) * largest

    def _weighted(self, counts: sparse.csr_array) -> sparse.csr_array:
        """What log(1 + count) of a document is multiplied by: float64 [queries, BUCKETS]."""
        having = self._having[counts.indices]
        idf = np.log((self.size - having + 0.5) / (having + 0.5)).clip(min=0)
        weights = np.log1p(counts.data, dtype=np.float64) * idf**2
        return sparse.csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)

    def _frequent_first(self, queries: sparse.csr_array) -> sparse.csr_array:
        """The same, but of each query the terms of most documents first."""
        query = np.repeat(np.arange(queries.shape[0]), np.diff(queries.indptr))
        order = np.lexsort((-self._having[queries.indices], query))
        return sparse.csr_array((queries.data[order], queries.indices[order], queries.indptr), shape=queries.shape)

    def _rarest(self, queries: sparse.csr_array) -> sparse.csr_array:
        """Of queries with their frequent terms first the last terms alone, which `_RARE` documents have together."""
        having = self._having[queries.indices].astype(np.int64)
        # Of a term and those behind it.
        summed = np.concatenate([np.cumsum(having[::-1])[::-1], [0]])
        ends = np.repeat(queries.indptr[1:], np.diff(queries.indptr))
        return _kept(queries, summed[:-1] - summed[ends] <= _RARE)

    def _counts_of(self, places: Integers) -> sparse.csr_array:
        """int32 [places, BUCKETS], of documents of the collection."""
        firsts = np.array([shard.first for shard in self._shards])
        where = np.searchsorted(firsts, places, side="right") - 1
        order = np.argsort(where, kind="stable")
        parts = [self._shards[number].counts_of(places[where == number]) for number in np.unique(where)]
        return sparse.vstack(parts, format="csr")[np.argsort(order)]


class _Best:
    """The best documents so far for each of Q queries.

    Attributes:
        documents, scores: see `Nearest`.
    """

    def __init__(self, queries: int, top: int) -> None:
        self.documents = np.full((queries, top), -1)
        self.scores = np.zeros((queries, top))

    def offer(self, query: Integers, document: Integers, score: Floats) -> None:
        """Look at documents that were not offered before; `query` ascends."""
        number, top = self.scores.shape
        good = (score > 0) & (score >= self.scores[query, -1])
        had, rank = np.nonzero(self.documents >= 0)
        queries = np.concatenate([had, query[good]])
        documents = np.concatenate([self.documents[had, rank], document[good]])
        scores = np.concatenate([self.scores[had, rank], score[good]])
        order = np.lexsort((documents, -scores, queries))
        queries = queries[order]
        place = np.arange(len(queries)) - np.searchsorted(queries, queries)
        kept = place < top
        self.documents, self.scores = np.full((number, top), -1), np.zeros((number, top))
        self.documents[queries[kept], place[kept]] = documents[order][kept]
        self.scores[queries[kept], place[kept]] = scores[order][kept]


def _passing(
    shard: Shard, queries: sparse.csr_array, without: Integers, least: Floats
) -> tuple[Integers, Integers, Floats]:
    """Queries, documents and scores, where these are at least `least` of the query, without what it leaves out."""
    scores = queries @ shard.by_term
    passing = np.flatnonzero(scores.data >= np.repeat(least.astype(np.float32), np.diff(scores.indptr)))
    query = np.searchsorted(scores.indptr, passing, side="right") - 1
    document = scores.indices[passing] + np.int64(shard.first)
    others = document != without[query]
    return query[others], document[others], scores.data[passing][others].astype(np.float64)


def _without_frequent(queries: sparse.csr_array, shard: Shard, least: Floats) -> tuple[sparse.csr_array, Floats]:
    """Queries without their first terms, and the most that these give to a document; see `_FREQUENT`.

    Args:
        queries: float32 [queries, terms].
        shard: whose terms they are.
        least: float64 [queries], what a document needs.
    """
    gains = (queries.data * shard.most[queries.indices]).astype(np.float64)
    summed = np.concatenate([[0], np.cumsum(gains)])
    query = np.repeat(np.arange(queries.shape[0]), np.diff(queries.indptr))
    frequent = summed[1:] - summed[queries.indptr[:-1]][query] <= _FREQUENT * least[query]
    most: Floats = np.bincount(query, gains * frequent, minlength=queries.shape[0]).astype(np.float64)
    return _kept(queries, ~frequent), most


def _kept(queries: sparse.csr_array, kept: npt.NDArray[np.bool_]) -> sparse.csr_array:
    """Queries with some of their terms alone."""
    starts = np.concatenate([[0], np.cumsum(kept)])[queries.indptr].astype(np.int32)
    return sparse.csr_array((queries.data[kept], queries.indices[kept], starts), shape=queries.shape)


def _joined(answers: Sequence[Nearest], top: int) -> Nearest:
    parts = [Nearest(np.empty((0, top), np.int64), np.empty((0, top))), *answers]
    return Nearest(np.concatenate([p.documents for p in parts]), np.concatenate([p.scores for p in parts]))
