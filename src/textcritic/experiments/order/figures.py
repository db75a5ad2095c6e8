"""The figure of the order of sentences: how much of real text's order each source has."""

from collections.abc import Iterator, Mapping

import pandas as pd

from textcritic.experiments.order.files import OrderFiles
from textcritic.experiments.order.rows import ORDERED
from textcritic.measures.names import Names
from textcritic.report.charts import measure_figure
from textcritic.report.drawings import Drawing

CHART = "order"


def figures(files: OrderFiles, rows: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """How much of real text's order each source has."""
    yield measure_figure(CHART, rows["order"], Names.of(files.samples), ORDERED, "evidence, nats in 100 sentences")


FIGURES = {"figures": figures}
