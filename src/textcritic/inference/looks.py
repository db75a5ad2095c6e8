"""Monte Carlo tests that stop where nothing differs: few draws are looked at first, all of them where p may be small.

Most of the time of a test goes into telling p = 0.4 from p = 0.41. Besag and Clifford (1991) stop a test when enough
draws are as extreme as the data. Here it is asked once, after the first look: where p is above `CLEAR` there, it is the
p-value; else all draws are made and give it. p is as precise as ever where it is small.

The p-value is valid: for x up to `CLEAR`, p is at most x only if that of all draws is, which has a probability of at
most x under the null hypothesis; for larger x, only if that of the first look is.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Kind = TypeVar("Kind", bound=np.generic)

LEAST = 200
"""Draws that are looked at first, at least; what chance makes of a distance, and its 95% point, come from as many."""
SHARE = 10
"""Of many draws, one in so many is looked at first."""
CLEAR = 0.1
"""From a p-value above this no conclusion is drawn, whatever it is."""


def first_look(resamples: int) -> int:
    """How many of `resamples` draws are looked at first: all of them where a look would save less than half."""
    first = max(LEAST, resamples // SHARE)
    return first if 2 * first <= resamples else resamples


def in_looks(
    draw: Callable[[int], npt.NDArray[Kind]], extreme: Callable[[npt.NDArray[Kind]], npt.ArrayLike], resamples: int
) -> list[tuple[npt.NDArray[Kind], float]]:
    """Values of statistics under the null hypothesis, and the p-value of each, `(b + 1) / (B + 1)`.

    Args:
        draw: makes so many further values of each: [n, statistics].
        extreme: of values [n, statistics], how many are at least as extreme as the observed one: [statistics].
        resamples: B where p may be small.

    Returns:
        Of each statistic its values, [n], and p.
    """
    values = draw(first_look(resamples))
    looks = [(values, p_values(extreme(values), len(values)))]
    if len(values) < resamples and not (looks[0][1] > CLEAR).all():
        values = np.concatenate([values, draw(resamples - len(values))])
        looks.append((values, p_values(extreme(values), resamples)))
    results = []
    for place in range(values.shape[1]):
        # Each by its own rule: that another one needs all draws does not change what is known of this one.
        all_draws, p = looks[0] if looks[0][1][place] > CLEAR else looks[-1]
        results.append((all_draws[:, place], float(p[place])))
    return results


def p_values(extreme: npt.ArrayLike, draws: int) -> npt.NDArray[np.float64]:
    """`(b + 1) / (B + 1)`, the observed value counted in, so that p is never 0."""
    return (np.asarray(extreme) + 1) / (draws + 1)
