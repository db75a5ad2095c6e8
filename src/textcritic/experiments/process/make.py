"""The files of a study's known processes: tables and figures."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure

from textcritic.corpora.process import Process
from textcritic.critics import latent_ppl
from textcritic.report.charts import training_curves
from textcritic.report.figures import NARROW, curves_of, write_figures
from textcritic.report.histograms import Histogram
from textcritic.report.inputs import ProcessFiles, SequenceFiles, Synthetic, read_synthetic
from textcritic.report.numbers import number
from textcritic.report.published import read_published
from textcritic.report.rows import read_scores
from textcritic.report.sources import sample_keys
from textcritic.report.style import BLUE, INK
from textcritic.report.synthetic.chart import Panel, spread_chart
from textcritic.report.synthetic.names import TEST, ProcessNames, process_keys
from textcritic.report.synthetic.rows import audit_rows, table1_rows
from textcritic.report.synthetic.sheets import parsing_sheet, table1_sheet
from textcritic.report.tables import write_sheet

CHART, CURVES = "latent-nll", "training-curves"
NOTHING, NOTHING_NARROW = "no sequence could be read", "none read"


def make_synthetic_tables(
    study: Mapping[str, Any], folder: str | Path, published: str | Path | None = None
) -> list[Path]:
    """Write table1 (paper, Table 1) and table1-audit, each as .csv, .tex and .html.

    Args:
        study: as `inputs.read_synthetic` takes it; nothing else of a study is read.
        folder: where the tables go, `results/studies/{study}/tables`.
        published: CSV of the values that stand beside ours, see `published.read_published`; None means none.

    Returns:
        The files written.

    Raises:
        TextcriticError: a file is missing or damaged, or files do not belong together.
    """
    synthetic, theirs = read_synthetic(study), read_published(published)
    names, rows, audit = ProcessNames.of(synthetic), table1_rows(synthetic, theirs), audit_rows(synthetic)
    return [
        *write_sheet(table1_sheet(rows, names, synthetic.decodings), rows, folder),
        *write_sheet(parsing_sheet(audit, names), audit, folder),
    ]


def make_synthetic_figures(study: Mapping[str, Any], folder: str | Path) -> list[Path]:
    """Write latent-nll, how the Latent NLL of sequences is spread, and training-curves, as `figures.make_figures` does.

    Args:
        study: as in `make_synthetic_tables`.
        folder: where the figures go, `results/studies/{study}/synthetic-figures`.

    Raises:
        TextcriticError: a file is missing or damaged.
    """
    return write_figures(_figures(read_synthetic(study)), folder)


def _figures(synthetic: Synthetic) -> Iterator[tuple[str, Figure, Figure]]:
    panels = {files.corpus: _panel(files, synthetic) for files in synthetic.processes}
    yield CHART, spread_chart(panels), spread_chart(panels, NARROW)
    curves = process_curves(synthetic)
    if curves:
        yield CURVES, training_curves(curves), training_curves(curves, NARROW)


def process_curves(synthetic: Synthetic) -> dict[str, Any]:
    """The training curves of the models of a study's processes, by their names."""
    return curves_of(synthetic.samples, lambda row: ProcessNames.of(synthetic).source(row, decoding=False))


def _panel(files: ProcessFiles, synthetic: Synthetic) -> Panel:
    names = ProcessNames.of(synthetic)
    rows = [_spread(names.source(process_keys(files, TEST), corpus=False), files)]
    rows += [_spread(names.source(sample_keys(sample), corpus=False), sample) for sample in synthetic.of(files)]
    return Panel(float(np.log(Process.load(files.process).latent_ppl())), rows)


def _spread(label: str, files: ProcessFiles | SequenceFiles) -> Histogram:
    scores = read_scores(files.scores)
    kept = scores.filter(pc.invert(scores["rejected"]))
    values = kept["nll"].to_numpy() / kept["steps"].to_numpy()
    ppl = number(latent_ppl(scores)) if len(values) else ""
    told, told_narrow = (f"Latent PPL {ppl}", ppl) if ppl else (NOTHING, NOTHING_NARROW)
    colour = BLUE if isinstance(files, SequenceFiles) else INK
    return Histogram(label, values[np.isfinite(values)], colour, told, told_narrow)
