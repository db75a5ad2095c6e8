"""Statistics of a set of documents that depend on column sums alone."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError

Array = npt.NDArray[np.float64]
Statistic = Callable[[Array], Array]


def ratio_of_sums(sums: Array) -> Array:
    """First column over second: [B, 2] -> [B]. With (NLL, steps): log Latent PPL; with (x, 1): the mean of x."""
    return sums[..., 0] / sums[..., 1]


def exp_ratio_of_sums(sums: Array) -> Array:
    """`exp(first / second)`: [B, 2] -> [B]. With (NLL in nats, steps): Latent PPL; with (NLL, tokens): perplexity."""
    return np.exp(sums[..., 0] / sums[..., 1])


def with_ones(values: npt.ArrayLike) -> Array:
    """(x, 1) for each document, so that `ratio_of_sums` is the mean: [documents] -> [documents, 2]."""
    column = np.asarray(values, dtype=np.float64)
    return np.column_stack([column, np.ones_like(column)])


def checked_columns(columns: npt.ArrayLike, what: str) -> Array:
    """float64 [documents, k], finite and not empty."""
    array = np.asarray(columns, dtype=np.float64)
    if array.ndim != 2 or not len(array):
        raise TextcriticError(
            f"{what}: an array of shape {array.shape}; it must be [documents, columns] with documents"
        )
    if not np.isfinite(array).all():
        raise TextcriticError(f"{what}: infinite or missing values have no interval and no test; smooth the critic")
    return array


def distinct_rows(columns: Array) -> tuple[Array, npt.NDArray[np.int64]]:
    """Distinct rows and how often each occurs; documents of one chain have equal rows."""
    # Rows as opaque bytes sort many times faster than np.unique(axis=0) does.
    keys = np.ascontiguousarray(columns + 0.0).view(np.dtype((np.void, columns.dtype.itemsize * columns.shape[1])))
    _, first, counts = np.unique(keys.ravel(), return_index=True, return_counts=True)
    return columns[first], counts.astype(np.int64)
