"""Intervals of shares of independent trials (Clopper and Pearson 1934)."""

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.statistics import Array


def share_interval(hits: npt.ArrayLike, trials: int, level: float = 0.95) -> tuple[Array, Array]:
    """Clopper-Pearson interval of a probability: it covers it at least as often as `level` says.

    Args:
        hits: trials that succeeded, of any shape.
        trials: of each.
        level: of confidence.

    Returns:
        The lower and the upper ends, each of the shape of `hits`.

    Raises:
        TextcriticError: no trials, hits outside 0 ... trials, or a level outside (0, 1).
    """
    from scipy.special import betainccinv, betaincinv  # here: it takes long, and every command loads this package

    k = np.asarray(hits, dtype=np.float64)
    if trials < 1 or not ((k >= 0) & (k <= trials)).all() or not 0 < level < 1:
        raise TextcriticError(
            f"interval of a share: {hits!r} of {trials} at level {level}; give at least 1 trial, no more hits than "
            "trials, and a level inside (0, 1)"
        )
    tail = (1 - level) / 2
    # Ends of the beta distribution. At the edges it has a parameter of 0; the end is that of the range.
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), trials - k + 1, tail), 0.0)
    high = np.where(k < trials, betainccinv(k + 1, np.maximum(trials - k, 1), tail), 1.0)
    return low, high
