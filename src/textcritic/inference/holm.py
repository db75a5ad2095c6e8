"""Several tests at once: adjusted p-values (Holm 1979), and one p-value of tests of one question."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.statistics import Array


def holm(p_values: npt.ArrayLike) -> Array:
    """Holm's adjusted p-values: with those below 0.05 called different, one false call or more in at most 5% of cases.

    This holds however the tests depend on each other. The smallest of m p-values is multiplied by m, the next one by
    m - 1, and so on; none becomes smaller than the one before it, or larger than 1 (Holm 1979, section 3).

    Args:
        p_values: [tests]; NaN where there was no test. These are not counted in m, and stay NaN.

    Returns:
        [tests], in the order given.

    Raises:
        TextcriticError: another shape, or a p-value outside 0 to 1.
    """
    given = np.asarray(p_values, dtype=np.float64)
    tested = ~np.isnan(given)
    p_tested = given[tested]
    if given.ndim != 1 or ((p_tested < 0) | (p_tested > 1)).any():
        raise TextcriticError(f"Holm's correction: {p_values!r}; give one p-value, from 0 to 1, for each test")
    order = np.argsort(p_tested, kind="stable")
    adjusted = np.empty(len(p_tested))
    adjusted[order] = np.minimum(np.maximum.accumulate(p_tested[order] * np.arange(len(p_tested), 0, -1)), 1)
    corrected = np.full(len(given), np.nan)
    corrected[tested] = adjusted
    return corrected


def twice_median(p_values: Sequence[float]) -> float:
    """One p-value of several tests of one question on random parts of the same documents: twice the median, at most 1.

    It is below 0.05 in at most 5% of cases where each of them is, however they depend on each other (Meinshausen, Meier
    and Bühlmann, JASA 104, 2009, section 3, of gamma = 1/2).

    Args:
        p_values: of the tests, at least one.
    """
    return min(1.0, 2 * float(np.median(p_values)))
