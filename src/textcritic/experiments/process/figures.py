"""Figures of known processes: how the Latent NLL of sequences is spread, and how the models were trained."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from textcritic.corpora.synthetic.process import Process
from textcritic.critics import latent_ppl
from textcritic.experiments.process.files import TEST, KnownData, ProcessFiles, Sequences
from textcritic.experiments.process.names import ProcessNames
from textcritic.measures.numbers import number
from textcritic.measures.scored import read_scores
from textcritic.plan.sources import data_keys
from textcritic.report.charts import training_curves
from textcritic.report.drawings import Drawing, curves_of
from textcritic.report.histograms import Histogram, bin_edges, draw_histograms, histogram_panels, room
from textcritic.report.palette import BLUE, INK, MUTED
from textcritic.values import Row

CHART, CURVES = "latent-nll", "training-curves"
NOTHING = "none read"
MOST_BINS = 60


@dataclass(frozen=True, slots=True)
class Panel:
    """The rows of one process, Latent NLL per step of each sequence, and its exact expectation; nats per step."""

    exact: float
    rows: Sequence[Histogram]


def figures(experiment: ProcessFiles, _: Mapping[str, pd.DataFrame]) -> Iterator[Drawing]:
    """latent-nll, how the Latent NLL of sequences is spread, and training-curves."""
    panels = {data.corpus: _panel(data, experiment) for data in experiment.data}
    yield CHART, partial(spread_chart, panels)
    if curves := process_curves(experiment):
        yield CURVES, partial(training_curves, curves)


def process_curves(experiment: ProcessFiles) -> dict[str, list[Row]]:
    """The training curves of the models of the processes, by their names."""
    names = ProcessNames.of(experiment)
    return curves_of((names.source(s.keys, decoding=False), s.training) for s in experiment.samples)


FIGURES = {"figures": figures}


def spread_chart(panels: Mapping[str, Panel], width: float) -> Figure:
    """Histograms of the sequences' Latent NLL per step; a line through all of them is the exact expectation.

    Args:
        panels: by the process's name, which is written over its panel where there are several.
        width: inches; in a narrow chart the labels are above the rows instead of to their left.
    """
    figure, places, narrow = histogram_panels({name: panel.rows for name, panel in panels.items()}, width, 1.35)
    for axes, (corpus, panel) in zip(places, panels.items(), strict=True):
        _draw_panel(axes, panel, corpus if len(panels) > 1 else "", narrow)
    return figure


def _panel(data: KnownData, experiment: ProcessFiles) -> Panel:
    names = ProcessNames.of(experiment)
    rows = [_spread(names.source(data_keys(data.corpus, TEST), corpus=False), data)]
    rows += [_spread(names.source(sample.keys, corpus=False), sample) for sample in experiment.samples_of(data)]
    return Panel(float(np.log(Process.load(data.process).latent_ppl())), rows)


def _spread(label: str, data: KnownData | Sequences) -> Histogram:
    scores = read_scores(data.scores)
    kept = scores.filter(pc.invert(scores["rejected"]))
    values = kept["nll"].to_numpy() / kept["steps"].to_numpy()
    note = f"Latent PPL {number(latent_ppl(scores))}" if len(values) else NOTHING
    colour = BLUE if isinstance(data, Sequences) else INK
    return Histogram(label, values[np.isfinite(values)], colour, note)


def _draw_panel(axes: Axes, panel: Panel, title: str, narrow: bool) -> None:
    values = np.concatenate([*(row.values for row in panel.rows), [panel.exact]])
    edges = bin_edges(float(values.min()), float(values.max()), panel.rows, MOST_BINS)
    for base, _ in draw_histograms(axes, panel.rows, edges, narrow):
        # In a narrow chart the line does not cross the words above a row.
        top = base + (room(narrow) if narrow else 1)
        axes.vlines(panel.exact, base, top, color=MUTED, linewidth=1.2, linestyle=(0, (4, 3)), zorder=3)
    side = panel.exact > (edges[0] + edges[-1]) / 2
    axes.annotate(
        f"exact: {panel.exact:.2f}", (panel.exact, 1), (-5 if side else 5, 3), axes.get_xaxis_transform(),
        "offset points", color=MUTED, ha="right" if side else "left", va="bottom",
    )  # fmt: skip
    axes.set_title(title, pad=18 if title else 7)
    axes.set_xlabel("Latent NLL of a sequence, nats per step")
