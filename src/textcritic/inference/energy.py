"""The energy distance between two sets of points, its interval, and permutation tests (Székely and Rizzo 2013)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from textcritic.batches import batched
from textcritic.errors import TextcriticError
from textcritic.inference.bootstrap import LEAST_UNITS, times_drawn
from textcritic.inference.looks import in_looks
from textcritic.inference.permutation import few_splits
from textcritic.inference.statistics import Array, checked_columns
from textcritic.runlog import Progress

# Distances that are in memory at a time, 16 MB, and resamples that are multiplied with them at a time.
BLOCK = 2_000_000
CHUNK = 1000
LABELS = (
    16_000_000  # numbers in memory for them, 128 MB; of more than 16,000 points there are fewer resamples at a time
)
# Sums of the same distances in another order differ by less than this share of a distance.
ROUNDING = 1e-11

Kernel = Callable[[slice], Array]
"""Some rows of a matrix that is never in memory as a whole: [rows, columns]."""
Count = Callable[[int], None]
"""Takes how many products of distances and resamples are done."""


@dataclass(frozen=True)
class EnergyTest:
    """How far two sets of points are apart, and how much of it is chance.

    Attributes:
        distance: `energy_distance` of the two sets. Two sets from one distribution have a distance too, and the fewer
            points they have, the larger it is.
        corrected: the same without this bias: no point, and no pair, is compared with itself. It is 0 on average where
            both sets are drawn from one distribution, and may be below 0.
        low, high: bootstrap interval of `corrected`; None where a set has fewer than `LEAST_UNITS`.
        level: of the interval.
        resamples: of the bootstrap.
        p: permutation p-value of `distance`: how often sets whose points are exchanged are at least as far apart.
        splits: number of random exchanges, or of all of them if `exact`.
        exact: whether these were all.
    """

    distance: float
    corrected: float
    low: float | None
    high: float | None
    level: float
    resamples: int
    p: float
    splits: int
    exact: bool


def energy_distance(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """`2 E|X - Y| - E|X - X'| - E|Y - Y'|` of two sets of points, with Euclidean distances.

    Means are over all pairs of points, a point with itself included (a V-statistic): it is that of the two empirical
    distributions, 0 or more, and 0 only if they are the same. In one dimension it is `2 integral (F - G)^2` of the
    distribution functions; `scipy.stats.energy_distance` is its root.

    Args:
        first: [points of the first set, k], finite.
        second: [points of the second set, k].

    Raises:
        TextcriticError: an empty set, values that are not finite, or sets of different k.
    """
    one, two = _checked(first, second)
    labels = np.concatenate([np.full(len(one), 1 / len(one)), np.full(len(two), -1 / len(two))])[:, None]
    return max(0.0, -float(_bilinear(_distances(np.concatenate([one, two])), labels, labels)[0]))


def energy_test(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    paired: bool = False,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 1,
) -> EnergyTest:
    """Energy distance of two sets of points, with an interval and a permutation test.

    Without pairs, the test splits all points at random into sets of the same sizes. With pairs, point i of both sets
    belongs to the same item (translations of one sentence), and only the two points of a pair are exchanged: what pairs
    have in common is no sign that the sets differ, and the test is exact. p is the share of all exchanges whose
    distance is at least the observed one, if they are at most `resamples`; else `(b + 1) / (B + 1)` over B random ones,
    fewer where p is clearly not small, as in `permutation_test`.

    The interval is of `corrected`. Points, or pairs, are drawn with replacement; a drawn set has points twice, so that
    its corrected distance varies about the plain distance of the sets, and the quantiles are moved by the difference
    of plain and corrected. In simulations with topic shares, 60 and 200 points, it held the true distance 91 to 100
    times in 100; where the sets hardly differ it is too wide, and holds it always.

    Each chunk of resamples is one product with the matrix of distances. One block of the matrix is in memory at a time;
    time grows with points^2 x resamples. If the work takes long, the log shows its progress.

    Args:
        first: [points of the first set, k], finite.
        second: [points of the second set, k]; with `paired` as many, in the same order.
        paired: whether point i of both sets belong together.
        resamples: of the bootstrap, and random exchanges.
        level: of confidence.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: fewer than two points in a set, values that are not finite, sets of different k or that cannot
            be paired, no resamples, or a level outside (0, 1).
    """
    one, two = _checked(first, second)
    if min(len(one), len(two)) < 2:
        raise TextcriticError(f"energy test: {len(one)} and {len(two)} points; give at least 2 in each set")
    if paired and len(one) != len(two):
        raise TextcriticError(f"energy test: {len(one)} and {len(two)} points cannot be paired; give as many of each")
    if resamples < 1 or not 0 < level < 1:
        raise TextcriticError(
            f"energy test: {resamples} resamples at level {level}; give at least 1, and a level inside (0, 1)"
        )
    exchanges, draws = np.random.default_rng(seed).spawn(2)
    sets = _Paired(one, two) if paired else _Unpaired(one, two)
    distance = energy_distance(one, two)
    exact, kernel = sets.few(resamples), sets.kernel()
    splits = sets.splits() if exact else resamples
    count = Progress("energy distance", sets.products(splits, resamples), "products", brief=True).advance
    threshold = distance - ROUNDING * sets.scale()

    def reached(labels: Iterator[Array]) -> npt.NDArray[np.bool_]:
        return np.concatenate([-_bilinear(kernel, chunk, chunk, count) for chunk in labels]) >= threshold

    if exact:
        p = float(reached(sets.all_labels()).mean())
    else:
        [(values, p)] = in_looks(
            lambda number: reached(sets.random_labels(number, exchanges))[:, None],
            lambda values: values.sum(axis=0),
            resamples,
        )
        splits = len(values)
    corrected = float(sets.corrected(None, *sets.once())[0])
    drawn = np.concatenate([sets.corrected(count, *chunk) for chunk in sets.resampled(resamples, draws)])
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail]) - (distance - corrected)
    few = min(len(one), len(two)) < LEAST_UNITS
    ends = (None if few else float(low), None if few else float(high))
    return EnergyTest(distance, corrected, ends[0], ends[1], level, resamples, p, splits, exact)


@dataclass(frozen=True, eq=False)
class _Unpaired:
    """Two independent sets. Labels are [points of both, B]: 1 / n in the first set, -1 / m in the second."""

    one: Array
    two: Array

    def kernel(self) -> Kernel:
        return _distances(np.concatenate([self.one, self.two]))

    def scale(self) -> float:
        return _scale(self.one, self.two)

    def few(self, resamples: int) -> bool:
        return few_splits(len(self.one), len(self.two), resamples)

    def splits(self) -> int:
        return comb(len(self.one) + len(self.two), len(self.one))

    def products(self, splits: int, resamples: int) -> int:
        n, m = len(self.one), len(self.two)
        return (n + m) ** 2 * splits + (n * m + n**2 + m**2) * resamples

    def all_labels(self) -> Iterator[Array]:
        subsets = combinations(range(len(self.one) + len(self.two)), len(self.one))
        for some in batched(subsets, CHUNK):
            yield self._labels(np.array(some))

    def random_labels(self, resamples: int, rng: np.random.Generator) -> Iterator[Array]:
        total, size = len(self.one) + len(self.two), len(self.one)
        for number in _chunks(resamples, total):
            yield self._labels(np.stack([rng.choice(total, size, replace=False, shuffle=False) for _ in range(number)]))

    def _labels(self, subsets: npt.NDArray[np.int64]) -> Array:
        labels = np.full((len(self.one) + len(self.two), len(subsets)), -1 / len(self.two))
        np.put_along_axis(labels, subsets.T, 1 / len(self.one), axis=0)
        return labels

    def once(self) -> tuple[Array, Array]:
        return np.ones((len(self.one), 1)), np.ones((len(self.two), 1))

    def resampled(self, resamples: int, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
        for number in _chunks(resamples, max(len(self.one), len(self.two))):
            yield times_drawn(len(self.one), number, rng).T, times_drawn(len(self.two), number, rng).T

    def corrected(self, count: Count | None, first: Array, second: Array) -> Array:
        """Without bias; each point counts as often as `first` [n, B] and `second` [m, B] say: [B]."""
        n, m = len(first), len(second)
        between = _bilinear(_distances(self.one, self.two), first, second, count) / (n * m)
        within = _bilinear(_distances(self.one), first, first, count) / (n * (n - 1))
        return 2 * between - within - _bilinear(_distances(self.two), second, second, count) / (m * (m - 1))


@dataclass(frozen=True, eq=False)
class _Paired:
    """Pairs. Labels are [pairs, B]: 1 / n, or -1 / n where the points of the pair are exchanged."""

    one: Array
    two: Array

    def kernel(self) -> Kernel:
        """Distances of the firsts and of the seconds of two pairs, less those across."""
        parts = [
            (sign, _distances(left, right))
            for sign, left, right in (
                *((1, self.one, self.one), (1, self.two, self.two)),
                *((-1, self.one, self.two), (-1, self.two, self.one)),
            )
        ]
        return lambda rows: np.sum([sign * part(rows) for sign, part in parts], axis=0)

    def scale(self) -> float:
        return _scale(self.one, self.two)

    def few(self, resamples: int) -> bool:
        # To exchange all pairs changes nothing: the last one always stays.
        return 2 ** min(len(self.one) - 1, 64) <= resamples

    def splits(self) -> int:
        return 1 << len(self.one) - 1

    def products(self, splits: int, resamples: int) -> int:
        return len(self.one) ** 2 * (splits + resamples)

    def all_labels(self) -> Iterator[Array]:
        pairs = len(self.one)
        for start in range(0, 2 ** (pairs - 1), CHUNK):
            numbers = np.arange(start, min(start + CHUNK, 2 ** (pairs - 1)))
            yield (1 - 2.0 * (numbers >> np.arange(pairs)[:, None] & 1)) / pairs

    def random_labels(self, resamples: int, rng: np.random.Generator) -> Iterator[Array]:
        for number in _chunks(resamples, len(self.one)):
            yield (1 - 2.0 * rng.integers(0, 2, (len(self.one), number))) / len(self.one)

    def once(self) -> tuple[Array]:
        return (np.ones((len(self.one), 1)),)

    def resampled(self, resamples: int, rng: np.random.Generator) -> Iterator[tuple[Array]]:
        for number in _chunks(resamples, len(self.one)):
            yield (times_drawn(len(self.one), number, rng).T,)

    def corrected(self, count: Count | None, times: Array) -> Array:
        """Without bias, each pair as often as `times` [n, B] says: no drawn pair is compared with itself. [B]."""
        n = len(times)
        own = 2 * np.linalg.norm(self.one - self.two, axis=1)
        return -(_bilinear(self.kernel(), times, times, count) + own @ times) / (n * (n - 1))


def _bilinear(kernel: Kernel, left: Array, right: Array, count: Count | None = None) -> Array:
    """`sum_ij left_ib kernel_ij right_jb`: [n, B], [m, B] -> [B]."""
    rows = max(1, BLOCK // len(right))
    total = np.zeros(left.shape[1])
    for start in range(0, len(left), rows):
        some = slice(start, start + rows)
        total += np.einsum("ib,ib->b", left[some], kernel(some) @ right)
        if count:
            count(len(left[some]) * right.size)
    return total


def _distances(points: Array, others: Array | None = None) -> Kernel:
    to = points if others is None else others
    from scipy.spatial.distance import cdist  # here: it takes long to load, and every command loads this package

    return lambda rows: cdist(points[rows], to)


def _scale(one: Array, two: Array) -> float:
    """A typical distance, for how large rounding errors are."""
    both = np.concatenate([one, two])
    return float(np.linalg.norm(both - both.mean(axis=0), axis=1).mean())


def _chunks(resamples: int, points: int) -> Iterator[int]:
    size = max(1, min(CHUNK, LABELS // points))
    for start in range(0, resamples, size):
        yield min(size, resamples - start)


def _checked(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[Array, Array]:
    one, two = checked_columns(first, "energy distance"), checked_columns(second, "energy distance")
    if one.shape[1] != two.shape[1]:
        raise TextcriticError(
            f"energy distance: points of {one.shape[1]} and of {two.shape[1]} coordinates; both sets have the same"
        )
    return one, two
