"""Figures of coreference: Latent PPL with its intervals, and power curves."""

from collections.abc import Iterator, Mapping

import pandas as pd

from textcritic.experiments.coreference.files import CoreferenceFiles
from textcritic.experiments.coreference.passage_figures import PASSAGE_FIGURES
from textcritic.experiments.coreference.power import STUDY
from textcritic.experiments.coreference.rows import PPL
from textcritic.measures.names import Names
from textcritic.report.charts import measure_figure
from textcritic.report.drawings import Drawing
from textcritic.report.power import power_figures

CHART = "coreference-ppl"


def figures(files: CoreferenceFiles, rows: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """coreference-ppl, and coreference-power if it was measured."""
    yield measure_figure(CHART, rows["coreference"], Names.of(files.samples), PPL)
    yield from power_figures(rows[STUDY.name], STUDY)


FIGURES = {"figures": figures} | PASSAGE_FIGURES
