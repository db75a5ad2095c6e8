"""Matrices of counts: checked, and summed a piece at a time, since they may be mapped from disk."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from textcritic.errors import TextcriticError

# Entries that are looked at together.
PIECE = 2**20


def check_counts(counts: csr_matrix, num_words: int | None = None) -> csr_matrix:
    """The matrix as one of counts from 1 upwards; a copy only if it has zeros that are stored.

    Args:
        counts: [documents, words], whole numbers from 0.
        num_words: of the critic's vocabulary.

    Raises:
        TextcriticError: counts that are below 0, not finite or not whole, ids beyond the vocabulary, or another number
            of words.
    """
    matrix = csr_matrix(counts)
    words = matrix.shape[1]
    if num_words is not None and words != num_words:
        raise TextcriticError(
            f"counts: {words} words; the critic has a vocabulary of {num_words}, so count them with that"
        )
    zeros = False
    for piece in _pieces(matrix.nnz):
        data, ids = matrix.data[piece], matrix.indices[piece]
        wrong = ~(np.isfinite(data) & (data >= 0) & (data == np.floor(data)))
        if wrong.any():
            document = _document(matrix, piece, wrong)
            value = data[wrong.argmax()]
            raise TextcriticError(
                f"counts: document {document} has a count of {value}; counts are whole numbers from 1"
            )
        wrong = (ids < 0) | (ids >= words)
        if wrong.any():
            document = _document(matrix, piece, wrong)
            raise TextcriticError(
                f"counts: document {document} has a word id beyond the vocabulary; ids go from 0 to {words - 1}"
            )
        zeros = zeros or not data.all()
    if zeros:
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def document_lengths(matrix: csr_matrix) -> npt.NDArray[np.int64]:
    """Tokens of each document, int64 [documents]."""
    lengths = np.zeros(matrix.shape[0], np.int64)
    for piece in _pieces(matrix.nnz):
        sums = np.concatenate([[0], np.cumsum(matrix.data[piece], dtype=np.int64)])
        entries = len(sums) - 1
        first, last = np.searchsorted(matrix.indptr, [piece.start, piece.start + entries - 1], side="right") - 1
        bounds = matrix.indptr[first : last + 2].astype(np.int64) - piece.start
        lengths[first : last + 1] += np.diff(sums[np.clip(bounds, 0, entries)])
    return lengths


def word_counts(matrix: csr_matrix) -> npt.NDArray[np.float64]:
    """Tokens of each word in all documents, [words]."""
    counts = np.zeros(matrix.shape[1])
    for piece in _pieces(matrix.nnz):
        counts += np.bincount(matrix.indices[piece], matrix.data[piece], minlength=len(counts))
    return counts


def _pieces(entries: int) -> Iterator[slice]:
    return (slice(start, start + PIECE) for start in range(0, entries, PIECE))


def _document(matrix: csr_matrix, piece: slice, wrong: npt.NDArray[np.bool_]) -> int:
    """Which document, from 1, has the first entry of a piece that is wrong."""
    return int(np.searchsorted(matrix.indptr, piece.start + int(wrong.argmax()), side="right"))
