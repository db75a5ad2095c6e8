"""A part of a collection to be searched: how often its documents have each term, by document and by term."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from textcritic.corpora.intruders.terms import BUCKETS

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Places = tuple[Integers, Integers]
"""Pairs of a query and a document of the collection."""


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """Counts of the terms of some documents, in memory or mapped from files.

    Attributes:
        first: place of its first document in the collection.
        size: its documents, D.
        starts, buckets, counts: of the documents: document d has the terms `buckets[starts[d] : starts[d + 1]]`, ascending.
        terms: the buckets of its documents, ascending, each once.
        term_starts, documents, term_counts: of the terms: term t is in `documents[term_starts[t] : term_starts[t + 1]]`.
        most: the largest count of each term.
    """

    first: int
    size: int
    starts: Integers
    buckets: npt.NDArray[np.int32]
    counts: npt.NDArray[np.uint16]
    terms: npt.NDArray[np.int32]
    term_starts: Integers
    documents: npt.NDArray[np.int32]
    term_counts: npt.NDArray[np.uint16]
    most: npt.NDArray[np.uint16]

    @classmethod
    def of(cls, counts: sparse.csr_array, first: int, folder: str | os.PathLike[str] | None) -> "Shard":
        """From counts [documents, BUCKETS] of the documents from `first` on; into files of a folder, if there is one."""
        order = np.argsort(counts.indices, kind="stable")
        terms, term_starts = np.unique(counts.indices[order], return_index=True)
        document = np.repeat(np.arange(counts.shape[0], dtype=np.int32), np.diff(counts.indptr))
        small = counts.data.clip(max=np.iinfo(np.uint16).max).astype(np.uint16)
        by_term = small[order]
        arrays = {
            "starts": counts.indptr.astype(np.int64),
            "buckets": counts.indices.astype(np.int32),
            "counts": small,
            "terms": terms.astype(np.int32),
            "term_starts": np.append(term_starts, len(order)),
            "documents": document[order],
            "term_counts": by_term,
            "most": np.maximum.reduceat(by_term, term_starts) if len(terms) else by_term,
        }
        if folder is not None:
            arrays = {name: _mapped(Path(folder) / f"{first}.{name}.npy", array) for name, array in arrays.items()}
        return cls(first, counts.shape[0], **arrays)

    def counts_of(self, documents: Integers) -> sparse.csr_array:
        """int32 [documents, BUCKETS] of documents of the collection that are in this shard."""
        data, indices, starts = self._rows(documents - self.first)
        return _sparse(data.astype(np.int32), indices, starts)

    def local(self, queries: sparse.csr_array) -> sparse.csr_array:
        """Values [queries, BUCKETS] as [queries, terms], without what is no term here."""
        lookup = np.full(queries.shape[1], -1, np.int32)
        lookup[self.terms] = np.arange(len(self.terms), dtype=np.int32)
        places = lookup[queries.indices]
        known = places >= 0
        starts = np.concatenate([[0], np.cumsum(known)])[queries.indptr]
        return sparse.csr_array((queries.data[known], places[known], starts), shape=(queries.shape[0], len(self.terms)))

    def scores(self, queries: sparse.csr_array, idf: Floats) -> sparse.csr_array:
        """Dot products [queries, D] of weights [queries, terms] with the documents; only products above 0 are stored."""
        weights = np.log1p(self.term_counts, dtype=np.float64) * np.repeat(idf[self.terms], np.diff(self.term_starts))
        shape = (len(self.terms), self.size)
        return queries @ sparse.csr_array((weights, self.documents, self.term_starts), shape=shape)

    def exact_scores(self, queries: sparse.csr_array, pairs: Places, idf: Floats) -> Floats:
        """Dot products of weights [queries, BUCKETS] with documents of this shard, a pair of query and document each.

        Documents with the same counts get the very same score, in whatever shard they are.
        """
        query, document = pairs
        scores = np.zeros(len(query))
        for start in range(0, len(query), _PAIRS):
            part = slice(start, start + _PAIRS)
            counts, indices, starts = self._rows(document[part] - self.first)
            weights = _sparse(np.log1p(counts, dtype=np.float64) * idf[indices], indices, starts)
            scores[part] = queries[query[part]].multiply(weights).sum(axis=1)
        return scores

    def _rows(self, documents: Integers) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int32], Integers]:
        """Counts and buckets of documents, and where each begins."""
        sizes = self.starts[documents + 1] - self.starts[documents]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(starts[-1]) + np.repeat(self.starts[documents] - starts[:-1], sizes)
        return self.counts[places], self.buckets[places], starts


# Pairs whose documents are looked at together.
_PAIRS = 50_000


def _sparse(data: npt.NDArray[np.generic], indices: npt.NDArray[np.int32], starts: Integers) -> sparse.csr_array:
    return sparse.csr_array((data, indices, starts), shape=(len(starts) - 1, BUCKETS))


def _mapped(path: Path, array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    np.save(path, array)
    mapped: npt.NDArray[np.generic] = np.load(path, mmap_mode="r")
    return mapped
