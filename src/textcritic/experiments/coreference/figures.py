"""Figures of coreference: Latent PPL with its intervals, and power curves."""

from collections.abc import Iterator, Mapping

import pandas as pd
from matplotlib.figure import Figure

from textcritic.experiments.coreference.files import CoreferenceFiles
from textcritic.experiments.coreference.passage_figures import PASSAGE_FIGURES
from textcritic.experiments.coreference.power_chart import power_chart
from textcritic.report.charts import Mark, interval_chart
from textcritic.report.drawings import NARROW, WIDE
from textcritic.report.names import GROUP, Names
from textcritic.report.numbers import missing, p_value

CHART, POWER = "coreference-ppl", "coreference-power"


def figures(files: CoreferenceFiles, rows: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, Figure, Figure]]:
    """coreference-ppl, and coreference-power if it was measured: name, wide figure, narrow figure."""
    names, table = Names.of(files.samples), rows["coreference"]
    marks = {data.corpus: _marks(table[table["corpus"] == data.corpus], names) for data in files.data}
    yield CHART, interval_chart(marks), interval_chart(marks, NARROW)
    power = rows["coreference-power"]
    if len(power):
        yield POWER, power_chart(power, WIDE), power_chart(power, NARROW)


def _marks(rows: pd.DataFrame, names: Names) -> list[Mark]:
    marks = []
    for _, group in rows.groupby(["source", *GROUP], sort=False):
        known = group[group["latent_ppl"].notna()]
        if known.empty:
            continue
        worst = [value for value in known["p_value"] if not missing(value)]
        first = group.iloc[0].to_dict()
        published = [float(value) for value in known["published"] if not missing(value)]
        mark = Mark(
            label=names.source(first, corpus=False, seed=False),
            values=tuple(known["latent_ppl"]),
            intervals=tuple(zip(known["ci_low"], known["ci_high"], strict=True)),
            note=p_value(max(worst)) if worst else "",
            setting=str(first["setting"]),
            published=published[0] if published else None,
        )
        marks.append(mark)
    return marks


FIGURES = {"figures": figures} | PASSAGE_FIGURES
