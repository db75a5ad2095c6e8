"""How far a metric orders systems as people do: correlations of few points, each with what so few can say."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt

from textcritic.batches import batched
from textcritic.errors import TextcriticError
from textcritic.inference.looks import p_values
from textcritic.inference.statistics import Array

EXACT = 8
"""So many points at most have all their orders counted: 40,320 of 8."""
DRAWN = 20_000
ROUNDING = 1e-9
KINDS = ("pearson", "spearman", "kendall")
# The variance of Fisher's z is c / (n - k): Fisher 1915; Fieller, Hartley and Pearson 1957.
FISHER = {"pearson": (1.0, 3), "spearman": (1.06, 3), "kendall": (0.437, 4)}


@dataclass(frozen=True)
class Correlation:
    """A correlation of a metric with people.

    Attributes:
        kind: `pearson`, `spearman` or `kendall` (tau-b).
        value: in [-1, 1]; None where one of the two has the same value everywhere.
        low, high: 95% interval by Fisher's z; None of too few points (4 at least, of Kendall 5), or where value is 1.
        p: two-sided: the share of orders of the points in which it is as far from 0; of more than 8 points of a sample.
        smallest_p: the smallest that an order of so many different points can have by ranks.
        points: how many.
    """

    kind: str
    value: float | None
    low: float | None
    high: float | None
    p: float | None
    smallest_p: float
    points: int


def correlation(first: npt.ArrayLike, second: npt.ArrayLike, kind: str) -> Correlation:
    """A correlation with its interval and permutation test.

    Args:
        first: [points].
        second: [points].
        kind: one of `KINDS`.

    Raises:
        TextcriticError: fewer than three points, other lengths, or values that are not finite.
    """
    one, two = _checked(first, second)
    number = len(one)
    smallest = 2 / math.factorial(number)
    if kind != "pearson":
        one, two = _ranks(one), _ranks(two)
    measured = _kendall if kind == "kendall" else _pearson
    if not (np.ptp(one) > 0 and np.ptp(two) > 0):
        return Correlation(kind, None, None, None, None, smallest, number)
    value = float(measured(one, two[None])[0])
    exact = number <= EXACT
    null = np.concatenate([measured(one, orders) for orders in _orders(two, exact)])
    extreme = int((np.abs(null) >= abs(value) * (1 - ROUNDING)).sum())
    p = extreme / len(null) if exact else float(p_values(extreme, len(null)))
    scale, lost = FISHER[kind]
    low = high = None
    if number > lost and abs(value) < 1 - ROUNDING:
        reach = 1.959964 * math.sqrt(scale / (number - lost))
        low, high = math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)
    return Correlation(kind, value, low, high, p, smallest, number)


def pairs_ordered_alike(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[int, int]:
    """How many pairs of points two measures order alike, and how many pairs the second orders at all.

    A pair that the first has as equal is not ordered alike. Raises as `correlation`.
    """
    one, two = _checked(first, second)
    pairs = [(one[a] - one[b], two[a] - two[b]) for a, b in combinations(range(len(one)), 2)]
    ordered = [(x, y) for x, y in pairs if y != 0]
    return sum(x * y > 0 for x, y in ordered), len(ordered)


def _checked(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[Array, Array]:
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != two.shape or one.ndim != 1 or len(one) < 3 or not np.isfinite([one, two]).all():
        raise TextcriticError(
            f"correlation of {one.size} and {two.size} values; give both of the same three points at least, all finite"
        )
    return one, two


def _orders(values: Array, exact: bool) -> Iterator[Array]:
    """Orders of values, some thousand at a time: all, or drawn ones."""
    if exact:
        every = permutations(values)
        for chunk in batched(every, 5040):
            yield np.array(chunk)
    else:
        rng = np.random.default_rng(1)
        for _ in range(DRAWN // 1000):
            yield rng.permuted(np.tile(values, (1000, 1)), axis=1)


def _pearson(one: Array, two: Array) -> Array:
    """Of [points] and [B, points]: [B]."""
    x, y = one - one.mean(), two - two.mean(axis=1, keepdims=True)
    return np.asarray((y @ x) / np.sqrt((x**2).sum() * (y**2).sum(axis=1)), dtype=np.float64)


def _kendall(one: Array, two: Array) -> Array:
    """Tau-b of [points] and [B, points]: [B]."""
    a, b = np.triu_indices(len(one), 1)
    x, y = np.sign(one[a] - one[b]), np.sign(two[:, a] - two[:, b])
    return np.asarray((y @ x) / np.sqrt((x != 0).sum() * (y != 0).sum(axis=1)), dtype=np.float64)


def _ranks(values: Array) -> Array:
    """From 1; equal values share their mean rank."""
    return np.array([(values < v).sum() + ((values == v).sum() + 1) / 2 for v in values])
