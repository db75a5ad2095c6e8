"""The figures of measures of one's own: each measure's values with their intervals."""

from collections.abc import Iterator, Mapping
from functools import partial

import pandas as pd

from textcritic.experiments.metrics.files import MetricsFiles
from textcritic.experiments.metrics.rows import measures_of
from textcritic.measures.names import Names
from textcritic.report.charts import interval_chart, marks_of
from textcritic.report.drawings import Drawing


def chart_name(metric: str) -> str:
    """The figure of a measure, `module:function`."""
    return f"metrics-{metric.replace(':', '.')}"


def figures(files: MetricsFiles, rows: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """metrics-MODULE.FUNCTION: a panel for each corpus."""
    names, table = Names.of(files.samples), rows["metrics"]
    for metric, measure in measures_of(table).items():
        of_it = table[table["metric"] == metric]
        marks = {corpus: marks_of(some, names, measure) for corpus, some in of_it.groupby("corpus", sort=False)}
        yield chart_name(metric), partial(interval_chart, marks, measure.name)


FIGURES = {"figures": figures}
