"""The rows of a table of measures: one for each source, with what follows from the declaration of each measure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from textcritic.errors import TextcriticError
from textcritic.inference import bootstrap_interval
from textcritic.plan.sources import DATA, KEYS
from textcritic.report.measure import Estimate, Measure, Scored
from textcritic.report.scored import add_seeds, reasons_in_words
from textcritic.report.tables import TEXT, Material

Read = Callable[[Any, Scored | None], Scored]
"""Reads a source of `Compared.groups`; the second argument is the yardstick as it was read, None for the yardstick."""


def source_rows(material: Material, read: Read, measures: Sequence[Measure]) -> list[dict[str, Any]]:
    """One row for each source: its keys, `label`, counts of documents, and the columns of every measure.

    Columns: the keys; `label`, the source in words, without its corpus; `documents` scored; `rejected`,
    `rejected_share`, `rejected_by_reason` ("reason: n; ..."); of each measure its value, its 95% interval, the p-value
    of its test against the yardstick (samples alone), its published value; and whatever `Scored.more` holds. A source
    of which nothing could be scored has the counts alone.

    Args:
        material: the files, whose `groups` are compared, and the published values.
        read: of one source.
        measures: what is computed.

    Raises:
        TextcriticError: as `read`, or a yardstick of which no document could be scored.
    """
    rows = []
    for yardstick, sources in material.files.groups():
        real = None if yardstick is None else read(yardstick, None)
        if real is not None and real.documents == 0:
            reasons = reasons_in_words(real.reasons)
            raise TextcriticError(f"{yardstick.scores}: no document could be scored ({reasons})")
        for source in sources:
            scored = real if real is not None and source is yardstick else read(source, real)
            keys = source.keys
            beside = None if scored is real or keys["generator"] == DATA else real
            row = keys | {"label": material.names.source(keys, corpus=False)} | counted(scored) | dict(scored.more)
            for measure in measures:
                row |= columns_of(measure, estimated(measure, scored, beside, material.files))
                if measure.metric:
                    row[measure.published] = material.published.value(measure.metric, keys)
            rows.append(row)
    return rows


def counted(scored: Scored) -> dict[str, Any]:
    """How many documents of a source were scored, and how many were left out and why."""
    if scored.documents is None:
        return {}
    rejected = sum(scored.reasons.values())
    share = rejected / max(scored.documents + rejected, 1)
    counts = {"documents": scored.documents, "rejected": rejected, "rejected_share": share}
    return counts | {"rejected_by_reason": reasons_in_words(scored.reasons)}


def estimated(measure: Measure, scored: Scored, real: Scored | None, files: Any) -> Estimate | None:
    """A measure of one source against the yardstick; None where it is not computed here, or nothing was scored.

    Args:
        measure: what is computed.
        scored: the source.
        real: the yardstick; None where there is no test.
        files: of the experiment; its `resamples` are those of intervals and tests.
    """
    if scored.documents == 0:
        return None
    if measure.estimate is not None:
        return measure.estimate(scored, real, files.resamples)
    if measure.statistic is None or measure.value not in scored.data:
        return None
    return _of_sums(measure, scored.data[measure.value], real and real.data[measure.value], files.resamples)


def columns_of(measure: Measure, estimate: Estimate | None) -> dict[str, Any]:
    """An estimate as the columns that the measure names; shares in percent are multiplied by 100."""
    if estimate is None:
        return {}
    scale = measure.whole or 1.0
    numbers = {measure.value: estimate.value, measure.low: estimate.low, measure.high: estimate.high}
    row = {column: None if number is None else scale * number for column, number in numbers.items() if column}
    return row | ({measure.p: estimate.p} if measure.p else {}) | dict(estimate.more)


def completed(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    measures: Sequence[Measure],
    whole: Sequence[str],
    texts: Sequence[str] = (),
) -> pd.DataFrame:
    """The table of the rows: all columns in order, differences from published values, and the seeds of each group.

    Args:
        rows: as `source_rows` makes them.
        columns: after the keys. `seeds`, `seeds_mean` and `seeds_sd` are of the first measure.
        measures: of the rows.
        whole: columns of whole numbers.
        texts: columns that are no numbers, in addition to those of every table.
    """
    table = pd.DataFrame(rows).reindex(columns=[*KEYS, *columns])
    table = table.astype({column: float for column in columns if column not in (*TEXT, *texts)})
    for measure in measures:
        if measure.difference:
            table[measure.difference] = table[measure.value] - table[measure.published]
    add_seeds(table, measures[0].value)
    return table.astype(dict.fromkeys(whole, "Int64"))


def _of_sums(measure: Measure, columns: Any, real: Any, resamples: int) -> Estimate:
    """A statistic of column sums; an infinite one has no interval and no test."""
    assert measure.statistic is not None
    if not np.isfinite(columns).all():
        return Estimate(float(measure.statistic(np.sum(columns, axis=0, keepdims=True))[0]))
    interval = bootstrap_interval(columns, measure.statistic, resamples)
    test = None
    if real is not None and measure.p and np.isfinite(real).all():
        test = measure.test(columns, real, measure.tested, resamples)
    return Estimate(interval.estimate, interval.low, interval.high, test and test.p)
