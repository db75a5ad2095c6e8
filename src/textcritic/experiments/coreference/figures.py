"""Figures of coreference: Latent PPL with its intervals, and power curves."""

from collections.abc import Iterator, Mapping

import pandas as pd
from matplotlib.figure import Figure

from textcritic.experiments.coreference.files import CoreferenceFiles
from textcritic.experiments.coreference.passage_figures import PASSAGE_FIGURES
from textcritic.experiments.coreference.power import STUDY
from textcritic.experiments.coreference.rows import PPL
from textcritic.measures.names import Names
from textcritic.report.charts import interval_chart, marks_of
from textcritic.report.drawings import NARROW, WIDE
from textcritic.report.power import power_chart

CHART = "coreference-ppl"


def figures(files: CoreferenceFiles, rows: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, Figure, Figure]]:
    """coreference-ppl, and coreference-power if it was measured: name, wide figure, narrow figure."""
    names, table = Names.of(files.samples), rows["coreference"]
    marks = {corpus: marks_of(of, names, PPL) for corpus, of in table.groupby("corpus", sort=False)}
    yield CHART, interval_chart(marks), interval_chart(marks, NARROW)
    power = rows[STUDY.name]
    if len(power):
        yield STUDY.name, power_chart(power, STUDY, WIDE), power_chart(power, STUDY, NARROW)


FIGURES = {"figures": figures} | PASSAGE_FIGURES
