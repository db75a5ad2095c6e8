"""How the Latent NLL of single documents is spread: each source against real text, on one scale."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from textcritic.report.charts import stacked_panels
from textcritic.report.numbers import number
from textcritic.report.style import BLUE, INK, MUTED, RULE, SETTING_COLOURS, style

CHARACTER = 0.079  # inches, a little more than the mean
FEWEST_BINS, MOST_BINS = 12, 48
TAIL = 0.5  # percent of a source's documents at either end that the first and the last bin gather
NO_VALUES = np.empty(0)
NOTHING, NOTHING_NARROW = "nothing could be scored", "none scored"


@dataclass(frozen=True, slots=True)
class Spread:
    """One row of the chart.

    Attributes:
        label: what the row is.
        values: Latent NLL of each document, nats; may be empty.
        setting: decides the colour; "" is real text.
    """

    label: str
    values: npt.NDArray[np.float64]
    setting: str


def spread_chart(panels: Mapping[str, Sequence[Spread]], width: float = 8.2) -> Figure:
    """Histograms of the documents' Latent NLL, with the outline of real text's over every row, and their means.

    Args:
        panels: by corpus, whose name is written over its panel where there are several; the first row is real text.
        width: inches; below 5 the labels stand over the rows in place of beside them.
    """
    narrow = width < 5
    row_height = 0.95 if narrow else 0.72
    labels = [row.label for rows in panels.values() for row in rows]
    left = 0.12 if narrow else 0.25 + CHARACTER * max(len(line) for name in labels for line in _lines(name).split("\n"))
    right = 0.12 if narrow else 1.0
    heights = [len(rows) * row_height for rows in panels.values()]
    with style():
        figure, places = stacked_panels(width, heights, left, right)
        for axes, (corpus, rows) in zip(places, panels.items(), strict=True):
            _panel(axes, rows, corpus if len(panels) > 1 else "", narrow)
    return figure


def _panel(axes: Axes, rows: Sequence[Spread], title: str, narrow: bool) -> None:
    """Each row is one unit high, its histogram as high as its share of the fullest bin of all rows allows."""
    edges = _bins(rows)
    shares = [
        np.histogram(np.clip(row.values, edges[0], edges[-1]), edges)[0] / max(len(row.values), 1) for row in rows
    ]
    highest = max(float(share.max()) for share in shares) or 1.0
    room = 0.62 if narrow else 0.86
    for place, (row, share) in enumerate(zip(rows, shares, strict=True)):
        base = len(rows) - 1 - place
        colour = SETTING_COLOURS.get(row.setting, BLUE) if row.setting else INK
        axes.axhline(base, color=RULE, linewidth=0.8, zorder=0)
        if len(row.values):
            axes.stairs(base + room * share / highest, edges, baseline=base, fill=True, color=colour, alpha=0.35)
            mean = float(np.clip(row.values.mean(), edges[0], edges[-1]))
            axes.vlines(mean, base, base + room, color=colour, linewidth=1.4, zorder=3)
        if place and len(rows[0].values):
            axes.stairs(base + room * shares[0] / highest, edges, baseline=base, color=INK, linewidth=0.9)
        _words(axes, row, base, narrow)
    axes.set(xlim=(edges[0], edges[-1]), ylim=(-0.04, len(rows)), yticks=[])
    axes.set_title(title, pad=7)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(5 if narrow else 7))
    axes.set_xlabel("Latent NLL of a document, nats")


def _words(axes: Axes, row: Spread, base: float, narrow: bool) -> None:
    places: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center"}
    mean = number(float(row.values.mean())) if len(row.values) else ""
    if narrow:
        axes.text(0, base + 0.8, row.label, color=INK, **places)
        axes.text(1, base + 0.8, mean or NOTHING_NARROW, color=MUTED, ha="right", **places)
        return
    axes.text(-0.02, base + 0.3, _lines(row.label), color=INK, ha="right", **places)
    axes.text(1.02, base + 0.3, fill(f"mean {mean}" if mean else NOTHING, 12), color=MUTED, ha="left", **places)


def _lines(label: str) -> str:
    return fill(label, 30)


def _bins(rows: Sequence[Spread]) -> npt.NDArray[np.float64]:
    """Edges of the bins of all rows: [bins + 1]. A few far outliers do not press all others into one bin."""
    ends = [np.percentile(row.values, [TAIL, 100 - TAIL]) for row in rows if len(row.values)] or [np.array([0.0, 1.0])]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    pad = 0.02 * (high - low) or 0.5
    fewest = min((len(row.values) for row in rows if len(row.values)), default=1)
    bins = int(np.clip(2 * np.sqrt(fewest), FEWEST_BINS, MOST_BINS))
    return np.linspace(low - pad, high + pad, bins + 1)
