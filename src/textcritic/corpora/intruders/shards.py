"""A part of a collection to be searched: how often its documents have each term, by document and by term."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from textcritic.corpora.intruders.terms import BUCKETS

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Pairs = tuple[Integers, Integers]
"""Queries, and for each of them a document of the collection."""

# Pairs whose documents are looked at together.
_AT_ONCE = 50_000


@dataclass(frozen=True, eq=False)
class Shard:
    """Counts of the terms of D documents, in memory or mapped from files. A term is a bucket that one of them has.

    Attributes:
        first: place of the first document in the collection.
        size: D.
        starts, buckets, counts: document d has `buckets[starts[d] : starts[d + 1]]`, ascending.
        terms: the buckets, ascending, each once.
        term_starts, documents, logs: term t is in `documents[term_starts[t] : term_starts[t + 1]]`; logs of 1 + count.
        most: of each term the largest of its logs.
    """

    first: int
    size: int
    starts: npt.NDArray[np.int32]
    buckets: npt.NDArray[np.int32]
    counts: npt.NDArray[np.uint16]
    terms: npt.NDArray[np.int32]
    term_starts: npt.NDArray[np.int32]
    documents: npt.NDArray[np.int32]
    logs: npt.NDArray[np.float32]
    most: npt.NDArray[np.float32]

    @classmethod
    def of(cls, counts: sparse.csr_array, first: int, folder: str | os.PathLike[str] | None) -> "Shard":
        """From counts [documents, BUCKETS] of the documents from `first` on; into files of a folder, if any."""
        order = np.argsort(counts.indices, kind="stable")
        terms, term_starts = np.unique(counts.indices[order], return_index=True)
        document = np.repeat(np.arange(counts.shape[0], dtype=np.int32), np.diff(counts.indptr))
        small = counts.data.clip(max=np.iinfo(np.uint16).max).astype(np.uint16)
        logs = np.log1p(small[order], dtype=np.float32)
        arrays: dict[str, np.ndarray] = {
            "starts": counts.indptr.astype(np.int32),
            "buckets": counts.indices.astype(np.int32),
            "counts": small,
            "terms": terms.astype(np.int32),
            "term_starts": np.append(term_starts, len(order)).astype(np.int32),
            "documents": document[order],
            "logs": logs,
            "most": np.maximum.reduceat(logs, term_starts) if len(terms) else logs,
        }
        if folder is not None:
            arrays = {name: _mapped(Path(folder) / f"{first}.{name}.npy", array) for name, array in arrays.items()}
        return cls(first, counts.shape[0], **arrays)

    @cached_property
    def by_term(self) -> sparse.csr_array:
        """float32 [terms, D], log(1 + count)."""
        shape = (len(self.terms), self.size)
        return sparse.csr_array((self.logs, self.documents, self.term_starts), shape=shape)

    def counts_of(self, documents: Integers) -> sparse.csr_array:
        """int32 [documents, BUCKETS], of documents that are in this shard."""
        counts, buckets, starts = self._rows(documents - self.first)
        return sparse.csr_array((counts.astype(np.int32), buckets, starts), shape=(len(documents), BUCKETS))

    def local(self, queries: sparse.csr_array) -> sparse.csr_array:
        """Values [queries, BUCKETS] as float32 [queries, terms], in the same order, without what is no term here."""
        number = np.zeros(BUCKETS, np.int32)
        number[self.terms] = np.arange(1, len(self.terms) + 1, dtype=np.int32)
        places = number[queries.indices]
        present = places > 0
        starts = np.concatenate([[0], np.cumsum(present)])[queries.indptr].astype(np.int32)
        values = queries.data[present].astype(np.float32)
        return sparse.csr_array((values, places[present] - 1, starts), shape=(queries.shape[0], len(self.terms)))

    def exact_scores(self, queries: sparse.csr_array, pairs: Pairs) -> Floats:
        """Dot products of values [queries, BUCKETS] with log(1 + count) of documents, for each pair.

        Indices of `queries` are sorted. Documents with the same counts get the very same score, whatever their shard.
        """
        query, document = pairs
        scores = np.zeros(len(query))
        for start in range(0, len(query), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            counts, buckets, starts = self._rows(document[part] - self.first)
            logs = np.log1p(counts, dtype=np.float64)
            documents = sparse.csr_array((logs, buckets, starts), shape=(len(starts) - 1, BUCKETS))
            scores[part] = queries[query[part]].multiply(documents).sum(axis=1)
        return scores

    def _rows(self, documents: Integers) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int32], Integers]:
        """Counts and buckets of documents, one after the other, and where each begins."""
        sizes = (self.starts[documents + 1] - self.starts[documents]).astype(np.int64)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        places = np.arange(starts[-1]) + np.repeat(self.starts[documents] - starts[:-1], sizes)
        return self.counts[places], self.buckets[places], starts


def _mapped(path: Path, array: np.ndarray) -> np.ndarray:
    np.save(path, array)
    return np.asarray(np.load(path, mmap_mode="r"))
