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

    How it is cut depends on the matrix, the number of topics and the device, never on how many work on it.
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
    starts = matrix.indptr[rows].astype(np.int64)
    lengths = matrix.indptr[rows + 1] - starts
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
