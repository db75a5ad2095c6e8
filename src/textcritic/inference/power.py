"""How often a test notices a fault that was put into real text on purpose, by how much of it there is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.equivalence import ALPHA
from textcritic.inference.permutation import permutation_p_values
from textcritic.inference.shares import share_interval
from textcritic.inference.statistics import Array, Statistic, ratio_of_sums
from textcritic.values import Row

RESAMPLES = 999
MOST = 8
"""Documents are drawn from at most so many times the largest number on a side; no more are changed and scored."""
POWER_COLUMNS: Mapping[str, type] = {
    "share": float,
    "articles": int,
    "repetitions": int,
    "detected": float,
    "low": float,
    "high": float,
    "documents": int,
}
"""What every row says, see `power_rows`."""
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerOptions:
    """What is tried; the key `power` of an experiment.

    Attributes:
        shares: how much is faulty; 0, no fault, is always tried too. Without any, nothing is tried.
        articles: documents on each side of the test; more than half of the documents are not tried.
        repetitions: of each test, with other documents.
        seed: of the draws.
    """

    shares: Sequence[float]
    articles: Sequence[int]
    repetitions: int = 200
    seed: int = 1

    def tried(self) -> list[float]:
        """The shares in ascending order, 0 first."""
        return sorted({0.0, *self.shares}) if self.shares else []

    def sizes(self, documents: int) -> list[int]:
        """The numbers on each side that so many documents allow, in ascending order.

        Raises:
            TextcriticError: no repetitions.
        """
        if self.repetitions < 1:
            raise TextcriticError(f"power: {self.repetitions} repetitions; give at least 1")
        return [size for size in sorted(set(self.articles)) if 2 * size <= documents]

    def some(self, documents: int, rng: np.random.Generator) -> Ints:
        """The documents that are drawn from, ascending: at most `MOST` times the largest number on a side."""
        most = MOST * max(self.articles, default=0)
        return np.sort(rng.choice(documents, most, replace=False)) if documents > most else np.arange(documents)


@dataclass(frozen=True, slots=True, eq=False)
class PowerDraws:
    """Documents of each repetition, int64 [repetitions, n]: that stay, that may change, and in which version."""

    kept: Ints
    changed: Ints
    version: Ints

    @classmethod
    def of(cls, documents: int, size: int, repetitions: int, versions: int, rng: np.random.Generator) -> "PowerDraws":
        """`size` documents on each side, drawn from so many without replacement.

        Raises:
            TextcriticError: too few documents, or no repetitions.
        """
        if 2 * size > documents or repetitions < 1:
            raise TextcriticError(
                f"power: {size} documents on each side and {repetitions} repetitions, of {documents} documents; give "
                "at most half of them, and at least 1 repetition"
            )
        drawn = np.stack([rng.choice(documents, 2 * size, replace=False) for _ in range(repetitions)])
        return cls(drawn[:, :size], drawn[:, size:], rng.integers(0, versions, (repetitions, size)))


def noticed(real: Array, others: Array, statistic: Statistic = ratio_of_sums, seed: int = 1) -> dict[str, float]:
    """The share of permutation tests with p below `ALPHA`, `detected`, with its 95% interval `low`, `high`.

    The interval is Clopper and Pearson's over repetitions: it holds for these documents.

    Args:
        real: [repetitions, documents, k], columns whose sums the statistic is of.
        others: the same of the other side.
        statistic: what is tested.
        seed: of the splits.
    """
    p = permutation_p_values(real, others, statistic, RESAMPLES, seed)
    hits = int((p < ALPHA).sum())
    low, high = share_interval(hits, len(p))
    return {"detected": hits / len(p), "low": float(low), "high": float(high)}


def power_rows(
    plain: Array, faulty: Array, options: PowerOptions, statistic: Statistic = ratio_of_sums
) -> Iterator[Row]:
    """How often a permutation test notices that a share of the documents of one side has a fault.

    In each repetition 2n documents are drawn without replacement: n stay as they are, and each of the other n gets the
    fault with probability `share`. All are real text, so that whatever the test notices is the fault. A share of 0 is
    the check of the test's level. The documents of a repetition are the same for all shares.

    Args:
        plain: of each document the columns whose sums are tested: [documents, k].
        faulty: the same documents with the fault, in V random versions: [V, documents, k].
        options: what is tried.
        statistic: what is tested.

    Yields:
        `POWER_COLUMNS`: `articles` is n, `documents` those that are drawn from; `detected`, `low`, `high` of `noticed`.

    Raises:
        TextcriticError: no repetitions, or values that are not finite.
    """
    rng = np.random.default_rng(options.seed)
    for size in options.sizes(len(plain)):
        draws = PowerDraws.of(len(plain), size, options.repetitions, len(faulty), rng)
        chance = rng.random(draws.changed.shape)
        for share in options.tried():
            hit = (chance < share)[:, :, None]
            others = np.where(hit, faulty[draws.version, draws.changed], plain[draws.changed])
            facts = {"share": share, "articles": size, "repetitions": options.repetitions, "documents": len(plain)}
            yield facts | noticed(plain[draws.kept], others, statistic, options.seed)
