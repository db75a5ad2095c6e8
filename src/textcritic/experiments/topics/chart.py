"""How the Latent NLL of single documents is spread: each source against real text, on one scale."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from textcritic.report.histograms import Histogram, bin_edges, draw_histograms, histogram_panels, room
from textcritic.report.numbers import count, number
from textcritic.report.style import BLUE, INK, SETTING_COLOURS, style

MOST_BINS = 48
TAIL = 0.5  # percent of a source's documents at either end that the first and the last bin gather
UNBROKEN = "\N{NO-BREAK SPACE}"
NOTHING, NOTHING_NARROW = "nothing could be scored", "none scored"


def spread_row(label: str, values: npt.NDArray[np.float64], setting: str) -> Histogram:
    """A row of the chart, with the mean and how many documents there are.

    Args:
        label: what the row is.
        values: Latent NLL of each document, nats; may be empty.
        setting: decides the colour; "" is real text.
    """
    colour = SETTING_COLOURS.get(setting, BLUE) if setting else INK
    if not len(values):
        return Histogram(label, values, colour, NOTHING, NOTHING_NARROW)
    mean, documents = number(float(values.mean())), f"n{UNBROKEN}={UNBROKEN}{count(len(values))}"
    return Histogram(label, values, colour, f"mean {mean}, {documents}", f"{mean}, {documents}")


def spread_chart(panels: Mapping[str, Sequence[Histogram]], width: float = 8.2) -> Figure:
    """Histograms of the documents' Latent NLL, with the outline of real text's over every row, and their means.

    Args:
        panels: by corpus, whose name is written over its panel where there are several; the first row is real text.
        width: inches; below 5 the labels stand over the rows in place of beside them.
    """
    with style():
        figure, places, narrow = histogram_panels(panels, width, right=1.1)
        for axes, (corpus, rows) in zip(places, panels.items(), strict=True):
            _panel(axes, rows, corpus if len(panels) > 1 else "", narrow)
    return figure


def _panel(axes: Axes, rows: Sequence[Histogram], title: str, narrow: bool) -> None:
    # A few far outliers do not press all others into one bin.
    ends = [np.percentile(row.values, [TAIL, 100 - TAIL]) for row in rows if len(row.values)] or [np.array([0.0, 1.0])]
    edges = bin_edges(min(end[0] for end in ends), max(end[1] for end in ends), rows, MOST_BINS)
    drawn = draw_histograms(axes, rows, edges, narrow)
    (_, real), *_ = drawn
    for row, (base, _) in zip(rows, drawn, strict=True):
        if len(row.values):
            mean = float(np.clip(row.values.mean(), edges[0], edges[-1]))
            axes.vlines(mean, base, base + room(narrow), color=row.colour, linewidth=1.4, zorder=3)
        if row is not rows[0] and len(rows[0].values):
            axes.stairs(base + real, edges, baseline=base, color=INK, linewidth=0.9)
    axes.set_title(title, pad=7)
    axes.set_xlabel("Latent NLL of a document, nats")
