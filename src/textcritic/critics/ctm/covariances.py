"""Which topics go together: coefficients of all topics, and the order in which their covariances are drawn."""

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import leaves_list, linkage

from textcritic.errors import TextcriticError


def with_last(coefficients: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Coefficients of all K topics, that of the last 0 without variance: [documents, K - 1] -> [documents, K]."""
    array = np.asarray(coefficients, dtype=np.float64)
    return np.column_stack([array, np.zeros(len(array))])


def cluster_order(covariance: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Order of topics in which those with similar covariances are neighbours: a permutation of range(k).

    That of the leaves of the dendrogram of the rows, average linkage, Euclidean distance: what seaborn's clustermap
    does, by which the released code orders both data and samples (paper, appendix F: by the test set's covariance).

    Args:
        covariance: [k, k], of the data.

    Raises:
        TextcriticError: not a square matrix of finite values.
    """
    matrix = np.asarray(covariance, dtype=np.float64)
    if matrix.ndim != 2 or not len(matrix) or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise TextcriticError(f"covariance: shape {matrix.shape}; it must be a square matrix of finite values")
    if len(matrix) == 1:
        return np.zeros(1, dtype=np.int64)
    return leaves_list(linkage(matrix, method="average", metric="euclidean")).astype(np.int64)
