"""Documents as rows of a matrix of counts: checked, summed, cut into batches, and worked on by several threads.

The matrix may be mapped from disk, so it is read a piece at a time.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_matrix

from textcritic.errors import TextcriticError

Item = TypeVar("Item")
Result = TypeVar("Result")

# Entries of the matrix that are checked or summed at a time.
PIECE = 2**20
# Entries times topics in a batch: enough for the work to outweigh the calls, few enough for several cores.
BATCH_NUMBERS = 2**20


@dataclass(frozen=True, slots=True)
class Batch:
    """Some documents in compressed rows: entries N are pairs of a document and a type that it has.

    Attributes:
        rows: [B] their rows in the matrix.
        starts: int64 [B + 1], where the entries of each document start, and N.
        types: int64 [N], the entries' types.
        counts: float64 [N].
    """

    rows: npt.NDArray[np.int64]
    starts: torch.Tensor
    types: torch.Tensor
    counts: torch.Tensor


def check_counts(counts: csr_matrix, num_words: int | None = None) -> csr_matrix:
    """Check a matrix of counts, and leave out stored zeros; only then the result is a copy.

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


def rows_of_batches(matrix: csr_matrix, num_topics: int) -> list[npt.NDArray[np.int64]]:
    """Cut a matrix [documents, words] into batches of neighbouring documents, without the empty ones.

    The cuts depend on the matrix and the number of topics, never on the number of threads.
    """
    most = max(1, BATCH_NUMBERS // num_topics)
    lengths = np.diff(matrix.indptr)
    rows = np.flatnonzero(lengths).astype(np.int64)
    before = np.cumsum(lengths[rows], dtype=np.int64) - lengths[rows]
    return np.split(rows, np.flatnonzero(np.diff(before // most)) + 1) if len(rows) else []


def batch_of(matrix: csr_matrix, rows: npt.NDArray[np.int64]) -> Batch:
    """The documents of some rows, in the order of the rows."""
    starts = matrix.indptr[rows].astype(np.int64)
    lengths = matrix.indptr[rows + 1] - starts
    ends = np.concatenate([[0], np.cumsum(lengths)])
    cells = np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])
    arrays = (ends, matrix.indices[cells].astype(np.int64), matrix.data[cells].astype(np.float64))
    return Batch(rows, *map(torch.from_numpy, arrays))


def in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Results of `work` in the order of `items`, made by several threads; few are in memory at a time.

    Each item is computed by one thread (torch's own threads are off), so the results do not depend on `workers`.
    """
    with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) >= 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _pieces(entries: int) -> Iterator[slice]:
    return (slice(start, start + PIECE) for start in range(0, entries, PIECE))


def _document(matrix: csr_matrix, piece: slice, wrong: npt.NDArray[np.bool_]) -> int:
    """The number, from 1, of the document that has the first wrong entry of a piece."""
    return int(np.searchsorted(matrix.indptr, piece.start + int(wrong.argmax()), side="right"))
