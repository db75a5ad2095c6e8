"""How often tests, intervals and verdicts on tendencies are wrong if sample and real text are of one population."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import issparse

from textcritic.critics.tendencies.counting import count_texts, divided
from textcritic.critics.tendencies.counts import Counts, ordered, sums_by_group
from textcritic.critics.tendencies.distances import Distance, Pair, distances
from textcritic.critics.tendencies.estimates import estimates
from textcritic.critics.tendencies.one_size import at_one_size
from textcritic.critics.tendencies.verdicts import DIFFERS, KEPT, TENDENCIES, verdict_of
from textcritic.inference import ALPHA
from textcritic.plan.entries import Tendencies


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of the repetitions of a calibration in which something was measured; NaN if there are none.

    Attributes:
        name: of a distance, a difference or an estimate.
        measured: repetitions.
        significant: p below `ALPHA`.
        differs, keeps: verdicts.
        covered: the 95% interval holds the truth, of those that have one.
    """

    name: str
    measured: int
    significant: float
    differs: float
    keeps: float
    covered: float


class Population:
    """Documents that samples are drawn from, each counted once."""

    def __init__(self, texts: Sequence[str], options: Tendencies | None = None) -> None:
        chosen = (options or Tendencies(kind="tendencies")).changed(groups=max(2, len(texts)))
        self.counts = count_texts([pa.array(texts, pa.string())], len(texts), chosen)
        # Each document is a separate group; the number of the group is not its place among the texts.
        self.own_group = self.counts.group.astype(np.int64)

    def draw(
        self,
        documents: npt.NDArray[np.int64],
        groups: int = 100,
        seed: int = 1,
        units: npt.NDArray[np.int64] | None = None,
    ) -> Counts:
        """The counts of some documents, named by their place among the texts, in random groups.

        Args:
            documents: their places.
            groups: at most so many.
            seed: of the groups.
            units: as of `counting.count_texts`.
        """
        group = divided(len(documents), groups, seed, units)
        unit = np.arange(len(group)) if units is None else units
        number = int(group.max()) + 1
        parts = {}
        for field in fields(Counts):
            values = getattr(self.counts, field.name)
            if field.name in ("words", "lags"):
                parts[field.name] = values
            elif field.name == "documents":
                parts[field.name] = values[documents]
            elif issparse(values):
                parts[field.name] = sums_by_group(values[self.own_group[documents]], group, number)
            elif field.name not in ("group", "unit"):
                summed = np.zeros((number, *values.shape[1:]), values.dtype)
                np.add.at(summed, group, values[self.own_group[documents]])
                parts[field.name] = summed
        return ordered(Counts(group=group, unit=unit.astype(np.int32), **parts))

    def pairs(self, sizes: tuple[int, int], repetitions: int, seed: int) -> Iterator[tuple[Counts, Counts]]:
        """Pairs of disjoint random sets of documents, of these sizes."""
        rng = np.random.default_rng(seed)
        for repetition in range(repetitions):
            chosen = rng.permutation(len(self.own_group))[: sum(sizes)]
            first, second = np.split(chosen, [sizes[0]])
            yield self.draw(first, seed=repetition), self.draw(second, seed=repetition + repetitions)

    def pairs_with_units(
        self, units: npt.NDArray[np.int64], sizes: tuple[int, int], repetitions: int, seed: int, both: bool = False
    ) -> Iterator[tuple[Counts, Counts]]:
        """Pairs of single documents and of whole units, disjoint, each unit and each document of one as likely.

        Args:
            units: [documents], the unit of each, all of about one size; several hundred units.
            sizes: single documents, each of a different unit, and units of the other set.
            repetitions: pairs.
            seed: of the draws.
            both: whether the first set is of whole units too.
        """
        rng, names = np.random.default_rng(seed), np.unique(units)
        for repetition in range(repetitions):
            order = rng.permutation(names)
            alone, together = order[: sizes[0]], order[sizes[0] : sum(sizes)]
            sets = [np.flatnonzero(np.isin(units, some)) for some in (alone, together)]
            if not both:
                sets[0] = np.array([rng.choice(np.flatnonzero(units == unit)) for unit in alone])
            own = [np.unique(units[some], return_inverse=True)[1] for some in sets]
            first, second = (
                self.draw(some, seed=repetition + at * repetitions, units=of)
                for at, (some, of) in enumerate(zip(sets, own, strict=True))
            )
            yield first, second


def distance_rates(pairs: Iterable[tuple[Counts, Counts]], options: Tendencies, truth: float = 0.0) -> list[Rates]:
    """Rates of the distances of samples from real text, whose sources are at a distance of `truth`; 0 of one source.

    Args:
        pairs: sample and real text of each repetition.
        options: of the measurement.
        truth: what intervals should hold.
    """
    by_name: dict[str, list[Distance]] = {}
    for sample, real in pairs:
        for name, one in distances(Pair(real, sample), options)[0].items():
            by_name.setdefault(name, []).append(one)
    margins = {tendency.distance: tendency.margin for tendency in TENDENCIES}
    return [_rates(name, some, margins.get(name), truth) for name, some in by_name.items()]


def _rates(name: str, measured: Sequence[Distance], margin: float | None, truth: float) -> Rates:
    values, low, high, p = np.array([(one.value, one.low, one.high, one.p) for one in measured]).T
    words = [] if margin is None else [verdict_of(*one, margin) for one in zip(values, high, p, strict=True)]
    return Rates(
        name=name,
        measured=len(measured),
        significant=_share(p < ALPHA, ~np.isnan(p)),
        differs=words.count(DIFFERS) / len(words) if words else np.nan,
        keeps=words.count(KEPT) / len(words) if words else np.nan,
        covered=_share((low <= truth) & (truth <= high), ~np.isnan(low)),
    )


def estimate_rates(sets: Iterable[Counts], options: Tendencies) -> list[Rates]:
    """How often the intervals of estimates hold the mean of the estimate over all sets."""
    by_name: dict[str, list[tuple[float, float, float]]] = {}
    for counts in sets:
        for name, one in estimates(counts, options)[0].items():
            by_name.setdefault(name, []).append((one.value, one.low, one.high))
    return [_covering(name, some, float(np.mean([value for value, *_ in some]))) for name, some in by_name.items()]


def one_size_rates(pairs: Iterable[tuple[Counts, Counts]], options: Tendencies) -> list[Rates]:
    """How often the intervals of differences at one size, of samples and real text of one source, hold 0."""
    by_name: dict[str, list[tuple[float, float, float]]] = {}
    for sample, real in pairs:
        for name, one in at_one_size(real, sample, estimates(sample, options)[0], options)["estimates"].items():
            ends = [np.nan if one[key] is None else one[key] for key in ("low", "high")]
            by_name.setdefault(name, []).append((one["difference"], ends[0], ends[1]))
    return [_covering(name, some, 0.0) for name, some in by_name.items()]


def _covering(name: str, values: Sequence[tuple[float, float, float]], truth: float) -> Rates:
    _, low, high = np.array(values).T
    covered = _share((low <= truth) & (truth <= high), ~np.isnan(low))
    return Rates(name, len(values), np.nan, np.nan, np.nan, covered)


def _share(hits: npt.NDArray[np.bool_], of: npt.NDArray[np.bool_]) -> float:
    return float(hits[of].mean()) if of.any() else float("nan")
