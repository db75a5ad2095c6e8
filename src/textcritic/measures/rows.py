"""The rows of a table of measures: one for each source, with what follows from the declaration of each measure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

import numpy as np
import pandas as pd

from textcritic.errors import TextcriticError
from textcritic.inference import (
    LEAST_TESTED,
    ClusterTest,
    are_grouped,
    bootstrap_interval,
    ratio_of_sums,
    two_sample_test,
    unit_of,
    unit_sums,
)
from textcritic.inference.jackknife import GROUPS, left_out_with, shared_groups
from textcritic.measures.crossed import with_crossed
from textcritic.measures.material import TEXT, Keyed, Material
from textcritic.measures.measure import Estimate, Measure, Resampling, Scored
from textcritic.measures.numbers import count
from textcritic.measures.scored import add_seeds, reasons_in_words
from textcritic.plan.sources import DATA, KEYS, RUN
from textcritic.values import Row

NO_TEST = f"no test of fewer than {LEAST_TESTED} documents"
SourceOf = TypeVar("SourceOf", bound=Keyed, covariant=True)


class Grouped(Protocol[SourceOf]):
    """What rows need of the files of a kind, such as `Compared`."""

    @property
    def resamples(self) -> int:
        """Of each interval and each test."""

    def groups(self) -> Iterator[tuple[SourceOf | None, Sequence[SourceOf]]]:
        """What is compared: of each corpus the yardstick, if there is one, and all its sources."""


def source_rows(
    material: Material[Grouped[SourceOf]],
    read: Callable[[SourceOf, Scored | None], Scored],
    measures: Sequence[Measure],
) -> list[Row]:
    """One row for each source: its keys, `label`, counts of documents, and the columns of every measure.

    Columns: the keys; `label`, the source in words, without its corpus; `documents` scored; `groups`, if some documents
    belong together: the number of independent groups, where a document alone counts as one; `rejected`,
    `rejected_share`, `rejected_by_reason` ("reason: n; ..."); for each measure its value, its 95% interval, the p-value
    of its test against real text (samples only), why one of these is missing (`Measure.why`), its published value; and
    whatever `Scored.more` holds. A source without a scored document has only the counts.

    Args:
        material: the files and the published values; sources are compared within each group of `files.groups()`.
        read: reads one source. The second argument is real text as it was read; None for real text itself.
        measures: what is computed.

    Raises:
        TextcriticError: as `read`, or no document of real text could be scored.
    """
    rows: list[Row] = []
    resampling = Resampling(material.files.resamples, getattr(material.files, "seed", 1))
    for reference, sources in material.files.groups():
        real = None if reference is None else _crossed(read(reference, None), reference, material)
        if real is not None and real.documents == 0:
            reasons = reasons_in_words(real.reasons)
            raise TextcriticError(f"{_scores_of(reference)}: no document could be scored ({reasons})")
        every = [
            real if real is not None and source is reference else _crossed(read(source, real), source, material)
            for source in sources
        ]
        drawn = [
            scored.groups or ()
            for source, scored in zip(sources, every, strict=True)
            if source.keys["generator"] != DATA
        ]
        resampling = replace(resampling, shared=shared_groups(drawn, resampling.seed) if material.paired else {})
        for source, scored in zip(sources, every, strict=True):
            keys = source.keys
            against = None if scored is real or keys["generator"] == DATA else real
            row = {**material.start(source), **counted(scored), **scored.more}
            for measure in measures:
                row |= columns_of(measure, estimated(measure, scored, against, resampling))
                if measure.metric:
                    row[measure.published] = material.published.value(measure.metric, keys)
            rows.append(row)
    return rows


def _crossed(scored: Scored, source: object, material: Material[object]) -> Scored:
    """A source with its results of cross-fitting, if there are any."""
    return with_crossed(scored, material.crossed.get(_scores_of(source)))


def _scores_of(source: object) -> str:
    """The path of a source's scores, "" if it has none."""
    return str(getattr(source, "scores", ""))


def counted(scored: Scored) -> dict[str, object]:
    """How many documents of a source were scored, and how many were left out and why."""
    if scored.documents is None:
        return {}
    rejected = sum(scored.reasons.values())
    share = rejected / max(scored.documents + rejected, 1)
    counts = {"documents": scored.documents, "rejected": rejected, "rejected_share": share}
    if are_grouped(scored.groups):
        counts["groups"] = int(unit_of(scored.groups, scored.documents).max()) + 1
    return counts | {"rejected_by_reason": reasons_in_words(scored.reasons)}


def in_groups(rows: pd.DataFrame) -> str:
    """Words behind the number of documents of some rows: how many groups they are in; "" if all are alone."""
    groups = rows["groups"].sum() if "groups" in rows else 0
    return f" in {count(groups)} groups" if groups else ""


def estimated(measure: Measure, scored: Scored, real: Scored | None, resampling: Resampling) -> Estimate | None:
    """A measure of one source, tested against real text; None if it is not computed here, or nothing was scored.

    There is no test if either side has fewer than `LEAST_TESTED` documents. (An interval takes more documents.)

    Args:
        measure: what is computed.
        scored: the source.
        real: real text; None where there is no test.
        resampling: of intervals and tests.
    """
    estimate = _estimated(measure, scored, real, resampling)
    few = [n for side in (scored, real) if side and (n := side.documents) is not None and n < LEAST_TESTED]
    if estimate is None or estimate.p is None or estimate.low is not None or not few:
        return estimate
    return replace(estimate, p=None, reason="; ".join(filter(None, (estimate.reason, NO_TEST))))


def _estimated(measure: Measure, scored: Scored, real: Scored | None, resampling: Resampling) -> Estimate | None:
    if measure.value in scored.estimates:
        return scored.estimates[measure.value]
    if scored.documents == 0:
        return None
    if measure.estimate is not None:
        return measure.estimate(scored, real, resampling)
    if measure.statistic is None:
        return None
    if measure.value not in scored.data:
        if scored.data and measure.value not in scored.more:
            keys = ", ".join(map(repr, scored.data))
            raise TextcriticError(
                f"Measure {measure.name!r}: value: Scored.data has no {measure.value!r}; it has {keys}"
            )
        return None
    return _of_sums(measure, scored, real, resampling)


def columns_of(measure: Measure, estimate: Estimate | None) -> dict[str, object]:
    """An estimate as the columns that the measure names; shares in percent are multiplied by 100."""
    if estimate is None:
        return {}
    scale = measure.whole or 1.0
    numbers = {measure.value: estimate.value, measure.low: estimate.low, measure.high: estimate.high}
    row = {column: None if number is None else scale * number for column, number in numbers.items() if column}
    row |= {measure.p: estimate.p} if measure.p else {}
    without = " ".join(f"{scale * value:.10g}" for value in estimate.without)
    texts = {measure.why: estimate.reason, measure.without: without}
    return row | {column: words for column, words in texts.items() if words} | dict(estimate.more)


def completed(
    rows: Sequence[Row],
    columns: Sequence[str],
    measures: Sequence[Measure],
    whole: Sequence[str],
    texts: Sequence[str] = (),
    real: str = DATA,
) -> pd.DataFrame:
    """The table of the rows: all columns in order, differences from published values, and the seeds of each group.

    The last columns are `Measure.why` and `Measure.without` of the measures that have them in some row.

    Args:
        rows: as `source_rows` makes them.
        columns: those after the keys. The columns `scored.RECIPE` are about the first measure.
        measures: of the rows.
        whole: columns of whole numbers after the keys.
        texts: columns that are no numbers, in addition to those of every table.
        real: the `source` of the rows of real text that samples are compared with.
    """
    table = with_reasons(pd.DataFrame(rows), [*KEYS, *columns], measures)
    table = table.astype({column: float for column in columns if column not in (*TEXT, *texts)})
    for measure in measures:
        if measure.difference:
            table[measure.difference] = table[measure.value] - table[measure.published]
    add_seeds(table, measures[0], real)
    return table.astype(dict.fromkeys((*RUN, *whole), "Int64"))


def with_reasons(rows: pd.DataFrame, columns: Sequence[str], measures: Sequence[Measure]) -> pd.DataFrame:
    """The rows with these columns in order, then `Measure.why` and `Measure.without`, "" where a row has none."""
    behind = [column for measure in measures for column in (measure.why, measure.without) if column in rows]
    table = rows.reindex(columns=[*columns, *behind])
    return table.fillna(dict.fromkeys(behind, ""))


def _of_sums(measure: Measure, scored: Scored, real: Scored | None, resampling: Resampling) -> Estimate:
    """A statistic of column sums; an infinite one has no interval and no test. A group of documents is one unit."""
    assert measure.statistic is not None
    columns = scored.data[measure.value]
    if not np.isfinite(columns).all():
        return Estimate(float(measure.statistic(np.sum(columns, axis=0, keepdims=True))[0]))
    units = unit_sums(columns, scored.groups)
    interval = bootstrap_interval(units, measure.statistic, resampling.resamples, seed=resampling.seed)
    if measure.whole is not None:
        interval = interval.of_share()
    p, reasons = None, [interval.reason]
    if real is not None and measure.p and np.isfinite(real.data[measure.value]).all():
        both, groups = (columns, real.data[measure.value]), (scored.groups, real.groups)
        test = two_sample_test(*both, ratio_of_sums, groups, resampling.resamples, resampling.seed)
        p, reasons = test.p, [*reasons, test.reason if isinstance(test, ClusterTest) else ""]
    reason = "; ".join(filter(None, reasons))
    without = () if interval.low is None else _without(measure, scored, resampling)
    return Estimate(interval.estimate, interval.low, interval.high, p, reason=reason, without=without)


def _without(measure: Measure, scored: Scored, resampling: Resampling) -> tuple[float, ...]:
    """The statistic, or its logarithm, with each of `GROUPS` parts left out; a group that samples share is in the same
    part of each.
    """
    if not resampling.shared or measure.statistic is None:
        return ()
    columns = scored.data[measure.value]
    units = unit_of(scored.groups, len(columns))
    sums = np.zeros((GROUPS, columns.shape[1]))
    np.add.at(sums, left_out_with(units, resampling.seed, scored.groups or (), resampling.shared), columns)
    values = measure.statistic(columns.sum(axis=0) - sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log(values) if measure.by_ratio else values
    return tuple(values.tolist()) if np.isfinite(values).all() else ()
