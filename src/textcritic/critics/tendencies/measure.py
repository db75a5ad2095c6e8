"""All tendencies of a set of documents: its estimates, its distances from laws and from real text, and its curves.

The job of the rules measure_real_tendencies and compare_tendencies is `measure_counts`.
"""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from textcritic.critics.tendencies.counts import Counts, tokenisation_fault
from textcritic.critics.tendencies.curves import Curve, curves_table, own_curves, size_curves, with_band
from textcritic.critics.tendencies.distances import (
    SCALING,
    VALUES,
    Distance,
    Pair,
    distances,
    documents_of,
    plain_distances,
)
from textcritic.critics.tendencies.estimates import as_json, estimates, made_by, pooled
from textcritic.critics.tendencies.heaps import fit_heaps
from textcritic.critics.tendencies.job import draw_files
from textcritic.critics.tendencies.one_size import at_one_size
from textcritic.critics.tendencies.scaling import word_recurrence
from textcritic.critics.tendencies.type_token import law_distances, length_classes
from textcritic.critics.tendencies.zipf import Support, fit_zipf
from textcritic.critics.tendencies.zipf_distances import LEAST, Convention, zipf_distance, zipf_fit_p
from textcritic.errors import TextcriticError, named
from textcritic.files import write_json, write_table
from textcritic.plan.entries import Tendencies
from textcritic.runlog import Progress
from textcritic.values import JsonObject

Floats = npt.NDArray[np.float64]
CONVENTIONS: Mapping[Support, Mapping[str, Convention]] = {
    "infinite": {"": "renormalised-empirical", "_untruncated": "untruncated"},
    "first": {"_truncated": "truncated"},
}
"""How the distance from Zipf's law is taken, by the s that goes with it and the end of its name: the paper's first."""


@dataclass(frozen=True, eq=False)
class Measured:
    """The tendencies of a set of documents.

    Attributes:
        statistics: as JSON has them: `documents`, `tokens`, `empty`; `estimates` and `distances` by name, each with
            `value`, `low`, `high`, distances also with `p_value`, `by_chance`, `noticed` (see `distances.Distance`),
            `floor` and `floor_most` (the same distance of second draws of real text, in the mean and at most);
            `missing`, why others could not be made; `draws`, the `number` of second draws and the `documents` of each;
            of a sample `one_size`, see `one_size.at_one_size`, and `fault`, if its tokens are not cut as those of real
            text are.
        curves: for figures.
    """

    statistics: JsonObject
    curves: list[Curve]

    def write(self, statistics: str | os.PathLike[str], curves: str | os.PathLike[str]) -> None:
        """Write JSON and a Parquet table, whole or not at all."""
        write_json(statistics, self.statistics)
        write_table(curves, curves_table(self.curves))


def measure_real(real: Counts, draws: Iterable[Counts], options: Tendencies) -> Measured:
    """Real text alone, and compared with second draws of it.

    An estimate has `sd`, its standard deviation over the draws (paper, Table 4).

    Args:
        real: the real text that samples are compared with.
        draws: second draws, e.g. random documents of the training set; one at a time is looked at.
        options: how they are measured.

    Raises:
        TextcriticError: real text without a token.
    """
    require_tokens(real, "the real text")
    by_name, missing = estimates(real, options)
    seconds = [_Second.of(real, draw, options) for draw in draws]
    statistics = _counted(real) | {"estimates": as_json(by_name), "missing": missing}
    statistics["draws"] = _described([second.documents for second in seconds])
    for name, estimate in statistics["estimates"].items():
        values = [second.values[name] for second in seconds if name in second.values]
        estimate["sd"] = float(np.std(values, ddof=1)) if len(values) > 1 else None
    floors = [second.distances for second in seconds]
    of_laws, no_laws = _laws(real, real, options)
    statistics["missing"] |= no_laws
    curves = _heaps_curves(of_laws)
    of_laws |= {name: Distance(math.nan) for floor in floors for name in floor}
    statistics["distances"] = _with_floors(of_laws, floors)
    banded = with_band(own_curves(real), [second.curves for second in seconds])
    recurring = [second.recurrence for second in seconds if second.recurrence is not None]
    curves += [*banded.values(), *_recurrence(real, recurring), *size_curves(real, None, options)]
    apart = [floor["unigram_max"] for floor in floors if "unigram_max" in floor]
    curves.append(Curve("floor.unigram_max", range(len(apart)), apart))
    return Measured(statistics, curves)


def measure_sample(real: Counts, sample: Counts, draws: Iterable[Counts], options: Tendencies) -> Measured:
    """A sample compared with real text, and with second draws of real text of the same size.

    Args:
        real: real text.
        sample: the sample; of one without a token everything is missing.
        draws: second draws of real text. Of those with more documents than the sample, random groups are taken.
        options: how they are measured.

    Raises:
        TextcriticError: real text has no token.
    """
    require_tokens(real, "the real text")
    by_name, missing = estimates(sample, options)
    pair = Pair(real, sample)
    distances_by_name, more = distances(pair, options)
    of_laws, no_laws = _laws(sample, real, options)
    sizes, floors = [], []
    by_size = {name: one.by_size for name, one in distances_by_name.items()}
    for draw in draws:
        as_large = _at_most(draw, len(sample.documents))
        sizes.append(len(as_large.documents))
        floors.append(plain_distances(real, as_large, options, by_size))
    statistics = _counted(sample) | {
        "estimates": as_json(by_name),
        "distances": _with_floors(distances_by_name | of_laws, floors),
        "missing": missing | more | no_laws,
        "draws": _described(sizes),
        "fault": tokenisation_fault(real, sample),
        "one_size": at_one_size(real, sample, by_name, options) if sample.tokens else {"tokens": 0, "estimates": {}},
    }
    curves = [*_heaps_curves(of_laws | distances_by_name), *own_curves(sample).values(), *_recurrence(sample, [])]
    curves += size_curves(sample, real, options)
    for name, tested in (*((name, f"{name}_difference") for name in VALUES), ("unigram_max", "unigram_max")):
        if (difference := distances_by_name.get(tested)) is not None:
            curves.append(Curve(f"null.{name}", range(len(difference.null)), difference.null))
            curves.append(Curve(f"difference.{name}", [0], [difference.value]))
    return Measured(statistics, curves)


def measure_counts(
    real: str | os.PathLike[str],
    draws: str | os.PathLike[str],
    sample: str | os.PathLike[str] | None,
    options: Tendencies,
) -> Measured:
    """Read counts of real text, a folder of those of second draws, and of a sample if there is one; measure them."""
    drawn = _each(draw_files(draws))
    if sample is None:
        return measure_real(Counts.load(real), drawn, options)
    return measure_sample(Counts.load(real), Counts.load(sample), drawn, options)


@dataclass(frozen=True, eq=False)
class _Second:
    """The results of a second draw: its size, distances from real text, estimates, curves, and recurrence by lag."""

    documents: int
    distances: dict[str, float]
    values: dict[str, float]
    curves: dict[str, Curve]
    recurrence: Floats | None

    @classmethod
    def of(cls, real: Counts, draw: Counts, options: Tendencies) -> "_Second":
        values = {name: one.value for name, one in estimates(draw, options, intervals=False)[0].items()}
        alike = 0.9 < len(draw.documents) / max(1, len(real.documents)) < 1.1
        by_size = dict.fromkeys(("rank", *(f"{name}_distance" for name in SCALING)), 0.0) if alike else {}
        parts = plain_distances(real, draw, options, by_size), values, own_curves(draw), _recurrence_of(pooled(draw))
        return cls(len(draw.documents), *parts)


def _each(paths: Sequence[Path]) -> Iterator[Counts]:
    """One at a time: ten draws of a million documents would take several gigabytes."""
    progress = Progress("second draws", len(paths), "files")
    for path in paths:
        yield Counts.load(path)
        progress.advance()


def require_tokens(counts: Counts, what: str) -> None:
    """Refuse documents without a token; `what` they are."""
    if not counts.tokens:
        raise TextcriticError(f"tendencies: {what} has {len(counts.documents):,} documents and no token; give it text")


def _at_most(draw: Counts, documents: int) -> Counts:
    """Random groups of a draw, with about `documents` documents; the whole draw if it has no more."""
    share = documents / max(1, len(draw.documents))
    return draw if share >= 1 else draw.take(range(max(1, round(share * draw.groups))))


def _counted(counts: Counts) -> JsonObject:
    return {"documents": len(counts.documents), "tokens": counts.tokens, "empty": counts.empty}


def _described(sizes: Sequence[int]) -> dict[str, int]:
    return {"number": len(sizes), "documents": min(sizes, default=0)}


def _with_floors(
    distances_by_name: Mapping[str, Distance], floors: Sequence[Mapping[str, float]]
) -> dict[str, dict[str, float | None]]:
    """Distances as JSON has them, each with the same distance of second draws: the mean and the largest."""
    rows: dict[str, dict[str, float | None]] = {}
    for name, distance in distances_by_name.items():
        drawn = [floor[name] for floor in floors if name in floor]
        numbers = {"value": distance.value, "low": distance.low, "high": distance.high, "p_value": distance.p}
        numbers |= {"p_as_printed": distance.p_as_printed, "by_chance": distance.by_chance}
        numbers |= {"noticed": distance.noticed}
        numbers |= {"floor": float(np.mean(drawn)) if drawn else math.nan, "floor_most": max(drawn, default=math.nan)}
        rows[name] = {key: None if math.isnan(number) else float(number) for key, number in numbers.items()}
    return rows


def _recurrence(counts: Counts, draws: Sequence[Floats]) -> Iterator[Curve]:
    """The recurrence by lag in units of chance, with the range of that of the draws where there are some."""
    own = _recurrence_of(counts)
    if own is not None:
        # fmin and fmax leave out NaN, and warn if there is nothing else.
        ends = {"low": np.fmin, "high": np.fmax}
        yield Curve("recurrence", counts.lags, own, **{name: end.reduce(draws) for name, end in ends.items() if draws})


def _recurrence_of(counts: Counts) -> Floats | None:
    """By lag, NaN at those that no document is long enough for; None where there are fewer than two tokens."""
    try:
        curve = word_recurrence(counts.recurrence, counts.lags, counts.matrix)
    except TextcriticError:
        return None
    by_lag: Floats = np.where(curve.pairs > 0, curve.correlation, np.nan) / curve.chance
    return by_lag


def _laws(counts: Counts, real: Counts, options: Tendencies) -> tuple[dict[str, Distance], dict[str, str]]:
    """Distances from Zipf's and Heaps' laws, with coefficients of its own (`_own`) and of real text (`_real`).

    The second are the reasons why others could not be measured.
    """
    laws = [counts] if real is counts else [counts, real]
    recipes: dict[tuple[str, ...], Callable[[], dict[str, Distance]]] = {
        tuple(f"zipf_{_whose(counts, of)}{end}" for end in ends): partial(_from_zipf, counts, of, support, options)
        for support, ends in CONVENTIONS.items()
        for of in laws
    }
    recipes |= {(f"heaps_{_whose(counts, of)}",): partial(_from_heaps, counts, of, options) for of in laws}
    return made_by(recipes, counts)


def _from_zipf(counts: Counts, of: Counts, support: Support, options: Tendencies) -> dict[str, Distance]:
    """The distances of one support from Zipf's law as fitted `of` the same documents, or of real text."""
    with _blamed(counts, of):
        s = fit_zipf(of.unigrams(), support, options.ranks).s
    conventions = {f"zipf_{_whose(counts, of)}{end}": way for end, way in CONVENTIONS[support].items()}
    words, given = counts.unigrams(), None if of is counts else s
    if words.sum() < LEAST:  # too few tokens for the test
        return {
            name: Distance(zipf_distance(words, s, way, options.ranks).distance) for name, way in conventions.items()
        }
    tests = zipf_fit_p(words, list(conventions.values()), given, options.ranks, options.resamples, options.seed)
    return {name: Distance(tests[way].distance, p=tests[way].p) for name, way in conventions.items()}


def _from_heaps(counts: Counts, of: Counts, options: Tendencies) -> dict[str, Distance]:
    """The same of Heaps' law: the mean over lengths."""
    documents, fitted = documents_of(counts), documents_of(of)
    with _blamed(counts, of):
        law = fit_heaps(fitted.lengths, fitted.types)
    classes = length_classes(documents, documents, options.least)
    result = law_distances(documents, law, classes, options.resamples, options.seed)
    weights = np.array([len(documents.lengths[documents.inside(*ends)]) for ends in classes.tolist()])
    mean = float(result.distances @ weights / weights.sum())
    return {f"heaps_{_whose(counts, of)}": Distance(mean, by_length=result)}


def _whose(counts: Counts, of: Counts) -> str:
    return "own" if of is counts else "real"


def _blamed(counts: Counts, of: Counts) -> AbstractContextManager[None]:
    """Name real text in the errors of a law that is fitted to real text."""
    return nullcontext() if of is counts else named("real text")


def _heaps_curves(distances_by_name: Mapping[str, Distance]) -> list[Curve]:
    """Distances of the number of types by length: from laws, and from real text."""
    return [
        Curve(name, one.by_length.lengths, one.by_length.distances, p=one.by_length.p)
        for name, one in distances_by_name.items()
        if one.by_length is not None
    ]
