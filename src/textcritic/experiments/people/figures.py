"""Figures of what people say: MAUVE, and the share of articles that people call coherent."""

from collections.abc import Iterator, Mapping

import pandas as pd

from textcritic.experiments.people.files import PeopleFiles
from textcritic.experiments.people.rows import COHERENT, MAUVE
from textcritic.measures.names import Names
from textcritic.report.charts import measure_figure
from textcritic.report.drawings import Drawing

CHARTS = {"mauve": MAUVE, "coherent": COHERENT}


def figures(files: PeopleFiles, rows: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """A chart of each measure that has a value."""
    names, table = Names.of(files.samples), rows["people-metrics"]
    for name, measure in CHARTS.items():
        if len(measured := table[table[measure.value].notna()]):
            yield measure_figure(name, measured, names, measure)


FIGURES = {"figures": figures}
