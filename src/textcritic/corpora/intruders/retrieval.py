"""Ranking the documents of a collection by their likeness to each of many, as DrQA's retriever does it.

DrQA (Chen et al. 2017) weights the terms of `terms.count_terms` by log(1 + count) times log((N - n + 0.5) / (n + 0.5)), at
least 0, where n of the N documents have the term; a score is the dot product of two documents.

Documents are kept in shards, on the disk if a folder is given. Queries are answered many at once, and exactly, although
most products are never computed: the rare terms of a query give a bound from below for its k-th best score. What the
frequent terms can give together at most is less; a document that has too little of the other terms is not looked at (the
idea of MaxScore, Turtle and Flood 1995).
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt
from scipy import sparse

from textcritic.corpora.intruders.shards import Shard
from textcritic.corpora.intruders.terms import BUCKETS, count_terms
from textcritic.errors import TextcriticError
from textcritic.runlog import Progress

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SHARD = 50_000
"""Documents of a shard."""
QUERIES = 4_096
"""Queries that are answered at once."""
# The terms of a query that give the first bound: the rarest ones, which so many documents have together.
_RARE = 4_000
# What frequent terms may give together, as a share of the k-th best score.
_FREQUENT = 0.5
# Sums of the same numbers in another order differ by less than this.
_ROUNDING = 1e-9


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
    """A collection of documents to be searched.

    Attributes:
        size: number of documents, N.
        idf: float64 [BUCKETS], the weight of each bucket.
    """

    def __init__(self, texts: Iterable[str], folder: str | os.PathLike[str] | None = None, shard: int = SHARD) -> None:
        """Count the terms of a collection.

        Args:
            texts: of the documents, at least one; they are read once, `shard` at a time.
            folder: where shards are kept; None: in memory, some 1 kB for a document of 100 words.
            shard: documents of a shard.

        Raises:
            TextcriticError: there is no document.
        """
        self.size, self._shards = 0, list[Shard]()
        self._having = np.zeros(BUCKETS, np.int32)
        for some in _chunks(texts, shard):
            counts = count_terms(some)
            self._having += np.bincount(counts.indices, minlength=BUCKETS).astype(np.int32)
            self._shards.append(Shard.of(counts, self.size, folder))
            self.size += len(some)
        if not self.size:
            raise TextcriticError("retrieval: the collection has no documents")
        self.idf: Floats = np.log((self.size - self._having + 0.5) / (self._having + 0.5)).clip(min=0)

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
        queries = self._weighted(counts)
        best = _Best(len(without), top)
        for shard in self._shards:
            rarest = shard.local(self._rarest(queries))
            best.offer(*_apart(shard.scores(rarest, self.idf), shard.first, without, best.worst()))
        bound = best.worst()
        best = _Best(len(without), top)
        for shard in self._shards:
            local = shard.local(queries)
            least = np.maximum(bound, best.worst()) * (1 - _ROUNDING)
            frequent, limit = _frequent(local, shard, self.idf, least)
            rest = sparse.csr_array((np.where(frequent, 0, local.data), local.indices, local.indptr), shape=local.shape)
            rest.eliminate_zeros()
            query, document, _ = _apart(shard.scores(rest, self.idf), shard.first, without, least - limit)
            best.offer(query, document, shard.exact_scores(queries, (query, document), self.idf))
        return Nearest(best.documents, best.scores)

    def _weighted(self, counts: sparse.csr_array) -> sparse.csr_array:
        """Weights [queries, BUCKETS]; of each query the most frequent term of the collection comes first."""
        query = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        order = np.lexsort((counts.indices, -self._having[counts.indices], query))
        indices = counts.indices[order]
        weights = np.log1p(counts.data[order], dtype=np.float64) * self.idf[indices]
        return sparse.csr_array((weights, indices, counts.indptr), shape=counts.shape)

    def _rarest(self, queries: sparse.csr_array) -> sparse.csr_array:
        """The same with the rarest terms of each query alone."""
        documents = self._having[queries.indices].astype(np.int64)
        # Of the term and those behind it in its query.
        summed = np.concatenate([np.cumsum(documents[::-1])[::-1], [0]])
        ends = np.repeat(queries.indptr[1:], np.diff(queries.indptr))
        rare = summed[:-1] - summed[ends] <= _RARE
        starts = np.concatenate([[0], np.cumsum(rare)])[queries.indptr]
        return sparse.csr_array((queries.data[rare], queries.indices[rare], starts), shape=queries.shape)

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

    def worst(self) -> Floats:
        """float64 [queries], the last of the best scores."""
        return self.scores[:, -1]

    def offer(self, query: Integers, document: Integers, score: Floats) -> None:
        """Look at documents that were not offered before."""
        good = score > 0
        number, top = self.scores.shape
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


def _apart(scores: sparse.csr_array, first: int, without: Integers, least: Floats) -> tuple[Integers, Integers, Floats]:
    """Queries, documents and scores that are at least `least` of the query, without the document that each leaves out."""
    query = np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))
    document = scores.indices + np.int64(first)
    kept = (scores.data >= least[query]) & (document != without[query])
    return query[kept], document[kept], scores.data[kept]


def _frequent(
    queries: sparse.csr_array, shard: Shard, idf: Floats, least: Floats
) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Which terms of queries [queries, terms] can be left out at first, and the most that they give to a document.

    Terms come in the order in which they are left out: the first ones, as long as together they cannot give more than a
    share of `least`.
    """
    most = queries.data * (np.log1p(shard.most, dtype=np.float64) * idf[shard.terms])[queries.indices]
    summed = np.concatenate([[0], np.cumsum(most)])
    query = np.repeat(np.arange(queries.shape[0]), np.diff(queries.indptr))
    before = summed[queries.indptr[:-1]]
    frequent = summed[1:] - before[query] <= _FREQUENT * least[query]
    return frequent, np.bincount(query, np.where(frequent, most, 0), minlength=queries.shape[0])


def _joined(answers: Sequence[Nearest], top: int) -> Nearest:
    none = Nearest(np.empty((0, top), np.int64), np.empty((0, top)))
    parts = [none, *answers]
    return Nearest(np.concatenate([p.documents for p in parts]), np.concatenate([p.scores for p in parts]))


def _chunks(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    stream = iter(texts)
    while some := list(islice(stream, size)):
        yield some
