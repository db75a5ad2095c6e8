"""Documents in batches that fit a cache or a GPU, and work on them side by side."""

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

# Documents that are sorted by length among themselves: far-apart rows of a large matrix are never read together.
SORTED_TOGETHER = 8192
# Numbers in a batch's largest array, [documents, types, topics]: what a core's cache holds, and what fills a GPU.
CPU_NUMBERS, GPU_NUMBERS = 2**20, 2**26


@dataclass(frozen=True, slots=True)
class Batch:
    """Some documents, padded to the most types that one of them has.

    Attributes:
        rows: [B] their rows in the matrix.
        types: [B, n] ids of their types, 0 in the padding.
        counts: [B, n] float64, 0 in the padding.
    """

    rows: npt.NDArray[np.int64]
    types: torch.Tensor
    counts: torch.Tensor


def rows_of_batches(matrix: csr_matrix, num_topics: int, device: str = "cpu") -> list[npt.NDArray[np.int64]]:
    """Cut a matrix [documents, words] into batches of documents of like length, without the empty ones.

    How it is cut depends on the matrix and the number of topics alone, never on how many work on it.
    """
    cells = max(1, (CPU_NUMBERS if device == "cpu" else GPU_NUMBERS) // num_topics)
    lengths = np.diff(matrix.indptr)
    found = []
    for start in range(0, len(lengths), SORTED_TOGETHER):
        rows = start + np.argsort(-lengths[start : start + SORTED_TOGETHER], kind="stable")
        rows = rows[lengths[rows] > 0]
        while len(rows):
            size = max(1, cells // int(lengths[rows[0]]))
            found.append(rows[:size].astype(np.int64))
            rows = rows[size:]
    return found


def batch_of(matrix: csr_matrix, rows: npt.NDArray[np.int64], device: str = "cpu") -> Batch:
    """The documents of some rows, the longest first or not."""
    starts, lengths = matrix.indptr[rows].astype(np.int64), np.diff(matrix.indptr)[rows]
    within = np.arange(max(int(lengths.max()), 1))
    there = within < lengths[:, None]
    cells = (starts[:, None] + within)[there]
    types, counts = np.zeros(there.shape, np.int64), np.zeros(there.shape)
    types[there], counts[there] = matrix.indices[cells], matrix.data[cells]
    return Batch(rows, torch.from_numpy(types).to(device), torch.from_numpy(counts).to(device))


def in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Results of `work` in the order of `items`, made by several threads; few are held at a time.

    Each thread computes alone (torch's own threads off), so that what comes out does not depend on `workers`.
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


def check_counts(matrix: csr_matrix, num_words: int | None = None) -> csr_matrix:
    """The matrix, if it is one of counts.

    Args:
        matrix: [documents, words].
        num_words: of the critic's vocabulary.

    Raises:
        TextcriticError: counts below zero or not finite, ids beyond the vocabulary, or another number of words.
    """
    if num_words is not None and matrix.shape[1] != num_words:
        raise TextcriticError(
            f"counts: {matrix.shape[1]} words; the critic has a vocabulary of {num_words}, so count them with that"
        )
    for start in range(0, matrix.nnz, 2**24):
        data, ids = matrix.data[start : start + 2**24], matrix.indices[start : start + 2**24]
        if not np.isfinite(data).all() or data.min() < 0:
            row = _document(matrix, start, ~np.isfinite(data) | (data < 0))
            raise TextcriticError(f"counts: document {row} has a count below 0; counts are whole numbers from 1")
        if ids.min() < 0 or ids.max() >= matrix.shape[1]:
            row = _document(matrix, start, (ids < 0) | (ids >= matrix.shape[1]))
            raise TextcriticError(
                f"counts: document {row} has a word id beyond the vocabulary; ids go from 0 to {matrix.shape[1] - 1}"
            )
    return matrix


def _document(matrix: csr_matrix, start: int, wrong: npt.NDArray[np.bool_]) -> int:
    return int(np.searchsorted(matrix.indptr, start + int(wrong.argmax()), side="right"))
