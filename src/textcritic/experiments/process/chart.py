"""How the Latent NLL of single sequences is spread: data and each sample, under one another on one scale."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from textcritic.report.histograms import Histogram, bin_edges, draw_histograms, histogram_panels, room
from textcritic.report.style import MUTED, style

MOST_BINS = 60


@dataclass(frozen=True, slots=True)
class Panel:
    """The rows of one process, Latent NLL per step of each sequence, and its exact expectation; nats per step."""

    exact: float
    rows: Sequence[Histogram]


def spread_chart(panels: Mapping[str, Panel], width: float = 8.2) -> Figure:
    """Histograms of the sequences' Latent NLL per step; a line through all of them is the exact expectation.

    Args:
        panels: by the process's name, which is written over its panel where there are several.
        width: inches; below 5 the labels stand over the rows in place of beside them.
    """
    with style():
        figure, places, narrow = histogram_panels({name: panel.rows for name, panel in panels.items()}, width, 1.35)
        for axes, (corpus, panel) in zip(places, panels.items(), strict=True):
            _panel(axes, panel, corpus if len(panels) > 1 else "", narrow)
    return figure


def _panel(axes: Axes, panel: Panel, title: str, narrow: bool) -> None:
    values = np.concatenate([*(row.values for row in panel.rows), [panel.exact]])
    edges = bin_edges(float(values.min()), float(values.max()), panel.rows, MOST_BINS)
    for base, _ in draw_histograms(axes, panel.rows, edges, narrow):
        # In a narrow chart the line leaves the words above a row free.
        top = base + (room(narrow) if narrow else 1)
        axes.vlines(panel.exact, base, top, color=MUTED, linewidth=1.2, linestyle=(0, (4, 3)), zorder=3)
    side = panel.exact > (edges[0] + edges[-1]) / 2
    place: dict[str, Any] = {"xytext": (-5 if side else 5, 3), "ha": "right" if side else "left", "va": "bottom"}
    axes.annotate(
        f"exact: {panel.exact:.2f}",
        (panel.exact, 1),
        xycoords=axes.get_xaxis_transform(),
        textcoords="offset points",
        color=MUTED,
        **place,
    )
    axes.set_title(title, pad=18 if title else 7)
    axes.set_xlabel("Latent NLL of a sequence, nats per step")
