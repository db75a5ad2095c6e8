"""Sums over the entries of a sparse matrix of counts, without an array as large as entries times topics.

Entries N are pairs of a document d and a word w; they are in the order of documents.
"""

import warnings
from dataclasses import dataclass
from typing import Self

import torch

# What is used of it here is tested against loops.
warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state", UserWarning)


def entry_products(
    documents: torch.Tensor, words: torch.Tensor, starts: torch.Tensor, types: torch.Tensor
) -> torch.Tensor:
    """`sum_k documents_dk words_wk` of each entry (d, w): [N].

    Args:
        documents: [D, K].
        words: [V, K].
        starts: int64 [D + 1], where the entries of each document start, and N.
        types: int64 [N], the word of each entry.
    """
    zeros = torch.zeros(len(types), dtype=documents.dtype)
    size = len(documents), len(words)
    entries = torch.sparse_csr_tensor(starts, types, zeros, size=size, check_invariants=False)
    return torch.sparse.sampled_addmm(entries, documents, words.T, beta=0.0).values()


def weighted_sums(table: torch.Tensor, ids: torch.Tensor, weights: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
    """Sums of the table's rows [., K] of some ids [N], each with a weight [N], over runs that start at [R]: [R, K]."""
    return torch.nn.functional.embedding_bag(ids, table, starts, mode="sum", per_sample_weights=weights)


@dataclass(frozen=True, slots=True)
class ByType:
    """The same entries in the order of words.

    Attributes:
        types: [U], ids of the words that occur, ascending.
        order: [N], the entries.
        documents: [N], the document of each in this order.
        starts: [U], where the entries of each word start.
    """

    types: torch.Tensor
    order: torch.Tensor
    documents: torch.Tensor
    starts: torch.Tensor

    @classmethod
    def of(cls, starts: torch.Tensor, types: torch.Tensor) -> Self:
        """Of entries in the order of documents."""
        ordered, order = types.sort(stable=True)
        present, lengths = ordered.unique_consecutive(return_counts=True)
        documents = torch.arange(len(starts) - 1).repeat_interleave(starts.diff())
        return cls(present, order, documents[order], lengths.cumsum(0) - lengths)

    def sums(self, documents: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """`sum_d weight_dw documents_dk` of each word: [U, K], of documents [D, K] and weights [N]."""
        return weighted_sums(documents, self.documents, weights[self.order], self.starts)
