"""How single documents' values are spread: histograms of several sources under one another, on one scale."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import fill

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from textcritic.measures.numbers import shortened
from textcritic.report.charts import CHARACTER, stacked_panels
from textcritic.report.drawings import NARROW, WIDE
from textcritic.report.palette import INK, MUTED, RULE

MARGIN = 0.12  # inches, on both sides of a narrow chart, where labels are above the rows instead of to their left
LABEL_CHARACTERS = 30  # a line
FEWEST_BINS = 12
Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Histogram:
    """One row of a chart.

    Attributes:
        label: what the row is.
        values: of each document; may be empty.
        colour: of the row.
        note: words to the right of the row, or over it in a narrow chart.
    """

    label: str
    values: Values
    colour: str
    note: str


def histogram_panels(
    panels: Mapping[str, Sequence[Histogram]], width: float, right: float
) -> tuple[Figure, list[Axes], bool]:
    """A figure with room for the rows of each panel, its panels, and whether it is a narrow one.

    Args:
        panels: rows by the name of their panel.
        width: of the figure, inches.
        right: margin of a wide figure, for the words to the right of the rows, inches.
    """
    narrow = width < WIDE
    row_height = 0.95 if narrow else 0.72
    lines = [line for rows in panels.values() for row in rows for line in _label(row).split("\n")]
    left = MARGIN if narrow else 0.25 + CHARACTER * max(map(len, lines), default=0)
    heights = [len(rows) * row_height for rows in panels.values()]
    figure, axes = stacked_panels(width, heights, left, MARGIN if narrow else right)
    return figure, axes, narrow


def bin_edges(low: float, high: float, rows: Sequence[Histogram], most: int) -> Values:
    """Edges of the bins of all rows: [bins + 1]; at most `most` bins, fewer if a row has few values."""
    pad = 0.03 * (high - low) or 0.5
    fewest = min((len(row.values) for row in rows if len(row.values)), default=1)
    bins = int(np.clip(2 * np.sqrt(fewest), FEWEST_BINS, most))
    return np.linspace(low - pad, high + pad, bins + 1)


def draw_histograms(axes: Axes, rows: Sequence[Histogram], edges: Values, narrow: bool) -> list[tuple[float, Values]]:
    """Draw the rows of a panel, with their words, and its axis.

    Each row is one unit high. The heights of bins are proportional to the share of the row's values; the fullest bin of
    all rows has the full height. Values beyond the edges are counted in the first and the last bin.

    Returns:
        For each row, the height of its base line in the chart, and the heights of its bins [bins].
    """
    shares = [
        np.histogram(np.clip(row.values, edges[0], edges[-1]), edges)[0] / max(len(row.values), 1) for row in rows
    ]
    highest = max((float(share.max()) for share in shares), default=0.0) or 1.0
    heights = [room(narrow) * share / highest for share in shares]
    bases = [float(len(rows) - 1 - place) for place in range(len(rows))]
    for row, height, base in zip(rows, heights, bases, strict=True):
        axes.axhline(base, color=RULE, linewidth=0.8, zorder=0)
        if len(row.values):
            axes.stairs(base + height, edges, baseline=base, fill=True, color=row.colour, alpha=0.35, linewidth=0)
        _words(axes, row, base, narrow)
    axes.set(xlim=(edges[0], edges[-1]), ylim=(-0.04, len(rows)), yticks=[])
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(5 if narrow else 7))
    return list(zip(bases, heights, strict=True))


def room(narrow: bool) -> float:
    """How much of a row's height its histogram may take; in a narrow chart it leaves room for the words above it."""
    return 0.62 if narrow else 0.86


def _words(axes: Axes, row: Histogram, base: float, narrow: bool) -> None:
    write = partial(axes.text, transform=axes.get_yaxis_transform(), va="center")
    if narrow:
        characters = int((NARROW - 2 * MARGIN) / CHARACTER) - len(row.note) - 2
        write(0, base + 0.8, shortened(row.label, characters), color=INK)
        write(1, base + 0.8, row.note, color=MUTED, ha="right")
        return
    write(-0.02, base + 0.3, _label(row), color=INK, ha="right")
    write(1.02, base + 0.3, fill(row.note, 16), color=MUTED, ha="left")


def _label(row: Histogram) -> str:
    return fill(shortened(row.label, 2 * LABEL_CHARACTERS), LABEL_CHARACTERS)
