"""How the Latent NLL of single sequences is spread: data and each sample, under one another on one scale."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from textcritic.report.charts import stacked_panels
from textcritic.report.numbers import number
from textcritic.report.style import BLUE, INK, MUTED, RULE, style

CHARACTER = 0.079  # inches, a little more than the mean
MOST_BINS = 60
NOTHING, NOTHING_NARROW = "no sequence could be read", "none read"


@dataclass(frozen=True, slots=True)
class Spread:
    """One row of the chart.

    Attributes:
        label: what the row is.
        values: Latent NLL per step of each sequence, nats; may be empty.
        latent_ppl: of all of them together, or None.
        sample: whether it is a model's; else it is the process's own data.
    """

    label: str
    values: np.ndarray
    latent_ppl: float | None
    sample: bool


@dataclass(frozen=True, slots=True)
class Panel:
    """The rows of one process, and its exact expectation in nats per step."""

    exact: float
    rows: Sequence[Spread]


def spread_chart(panels: Mapping[str, Panel], width: float = 8.2) -> Figure:
    """Histograms of the sequences' Latent NLL per step; a line through all of them is the exact expectation.

    Args:
        panels: by the process's name, which is written over its panel where there are several.
        width: inches; below 5 the labels stand over the rows in place of beside them.
    """
    narrow = width < 5
    row_height = 0.95 if narrow else 0.72
    labels = [row.label for panel in panels.values() for row in panel.rows]
    left = 0.12 if narrow else 0.25 + CHARACTER * max(len(line) for name in labels for line in _lines(name).split("\n"))
    right = 0.12 if narrow else 1.35
    heights = [len(panel.rows) * row_height for panel in panels.values()]
    with style():
        figure, places = stacked_panels(width, heights, left, right)
        for axes, (corpus, panel) in zip(places, panels.items(), strict=True):
            _panel(axes, panel, corpus if len(panels) > 1 else "", narrow)
    return figure


def _panel(axes: Axes, panel: Panel, title: str, narrow: bool) -> None:
    """Each row is one unit high, its histogram as high as its share of the fullest bin of all rows allows."""
    edges = _bins(panel)
    shares = [np.histogram(row.values, edges)[0] / max(len(row.values), 1) for row in panel.rows]
    highest = max((float(share.max()) for share in shares), default=0.0) or 1.0
    room = 0.62 if narrow else 0.86
    for place, (row, share) in enumerate(zip(panel.rows, shares, strict=True)):
        base = len(panel.rows) - 1 - place
        colour = BLUE if row.sample else INK
        if len(row.values):
            heights = base + room * share / highest
            axes.stairs(heights, edges, baseline=base, fill=True, color=colour, alpha=0.28, linewidth=0)
            axes.stairs(heights, edges, baseline=base, color=colour, linewidth=1.1)
        axes.axhline(base, color=RULE, linewidth=0.8, zorder=0)
        # In a narrow chart the line leaves the words above a row free.
        top = base + (room if narrow else 1)
        axes.vlines(panel.exact, base, top, color=MUTED, linewidth=1.2, linestyle=(0, (4, 3)), zorder=3)
        _words(axes, row, base, narrow)
    side = panel.exact > (edges[0] + edges[-1]) / 2
    place_of_words: dict[str, Any] = {
        "xytext": (-5 if side else 5, 3),
        "ha": "right" if side else "left",
        "va": "bottom",
    }
    axes.annotate(
        f"exact: {panel.exact:.2f}",
        (panel.exact, 1),
        xycoords=axes.get_xaxis_transform(),
        textcoords="offset points",
        color=MUTED,
        **place_of_words,
    )
    axes.set(xlim=(edges[0], edges[-1]), ylim=(-0.04, len(panel.rows)), yticks=[])
    axes.set_title(title, pad=7 if not title else 18)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(5 if narrow else 7))
    axes.set_xlabel("Latent NLL of a sequence, nats per step")


def _words(axes: Axes, row: Spread, base: float, narrow: bool) -> None:
    places: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center"}
    if narrow:
        axes.text(0, base + 0.8, row.label, color=INK, **places)
        told = NOTHING_NARROW if row.latent_ppl is None else number(row.latent_ppl)
        axes.text(1, base + 0.8, told, color=MUTED, ha="right", **places)
        return
    told = NOTHING if row.latent_ppl is None else f"Latent PPL {number(row.latent_ppl)}"
    axes.text(-0.02, base + 0.3, _lines(row.label), color=INK, ha="right", **places)
    axes.text(1.02, base + 0.3, fill(told, 16), color=MUTED, ha="left", **places)


def _lines(label: str) -> str:
    return fill(label, 30)


def _bins(panel: Panel) -> np.ndarray:
    """Edges of the bins of all rows: [bins + 1], as many as the sequences of the shortest row make worth while."""
    values = np.concatenate([*(row.values for row in panel.rows), [panel.exact]])
    low, high = float(values.min()), float(values.max())
    pad = 0.04 * (high - low) or 0.1
    fewest = min((len(row.values) for row in panel.rows if len(row.values)), default=1)
    bins = int(np.clip(2 * np.sqrt(fewest), 12, MOST_BINS))
    return np.linspace(low - pad, high + pad, bins + 1)
