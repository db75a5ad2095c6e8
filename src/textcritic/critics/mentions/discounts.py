"""How much of the count of an n-gram goes to lower orders: three ways of discounting.

Counts of counts: N_r of order k is the number of n-grams of that order with an adjusted count of r. The adjusted count
is how often an n-gram occurs (`as_released`, and of the highest order); or, in Kneser-Ney, of lower orders, how many
distinct items stand before it.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from textcritic.critics.mentions.counts import Ints, Level
from textcritic.plan.checks.critics import Discount

Discounts = npt.NDArray[np.float64]

# Of counts of 1, 2, and 3 or more, where the counts of counts give none; KenLM's `--discount_fallback`.
FALLBACK = (0.5, 1.0, 1.5)


def adjusted_counts(levels: Sequence[Level], discount: Discount) -> list[Ints]:
    """The counts that are discounted: [n][n-grams]."""
    if discount == "as_released":
        return [level.raw for level in levels]
    return [*(level.extensions for level in levels[:-1]), levels[-1].raw]


def discounts_of(counts: Sequence[Ints], discount: Discount) -> Discounts:
    """What is taken off counts of 1, 2, and 3 or more, of each order: float64 [n, 3].

    - `as_released`: `d = N1 / (N1 + 2 N2)` of any count; 0 of unigrams, and of an order in which no n-gram occurs once
      or twice (the released code divides by zero there).
    - `kneser-ney`: the same `d`, unigrams included (Ney, Essen and Kneser 1994); 0.5 of an order in which N1 or N2 is
      0: a discount of 0 would give unseen events the probability 0, and one of 1 would give none to those seen once.
    - `modified`: `D_r = r - (r + 1) d N_(r+1) / N_r` for r = 1, 2, 3 (Chen and Goodman 1999); `FALLBACK`
      of an order in which N1, N2 or N3 is 0, or a D_r is outside [0, r], as KenLM has it.
    """
    rows = [_row(np.bincount(np.minimum(of_order, 5), minlength=6), discount) for of_order in counts]
    if discount == "as_released":
        rows[0] = (0.0, 0.0, 0.0)
    return np.array(rows)


def _row(counts_of_counts: npt.NDArray[np.int64], discount: Discount) -> tuple[float, float, float]:
    n1, n2, n3, n4 = (int(number) for number in counts_of_counts[1:5])
    absolute = n1 / (n1 + 2 * n2) if n1 + n2 else 0.0
    if discount == "as_released":
        return (absolute,) * 3
    if discount == "kneser-ney":
        return (absolute if n1 and n2 else FALLBACK[0],) * 3
    if not (n1 and n2 and n3):
        return FALLBACK
    row = (1 - 2 * absolute * n2 / n1, 2 - 3 * absolute * n3 / n2, 3 - 4 * absolute * n4 / n3)
    return row if all(0 <= taken <= r for r, taken in enumerate(row, 1)) else FALLBACK
