"""Transition matrices of the real text and of a sample side by side, and where they differ."""

from collections.abc import Sequence
from textwrap import fill, wrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from textcritic.experiments.coherence.graph import BEGIN, END
from textcritic.measures.numbers import MINUS
from textcritic.report.drawings import WIDE
from textcritic.report.palette import MUTED, RULE
from textcritic.report.style import DIVERGING, SEQUENTIAL, new_figure

BAR_CELLS = 40
TITLE_CHARACTER = 0.094  # inches, in bold
# Characters of a section type's name, side by side and stacked: longer names would leave the cells no room.
NAME_WIDTH, STACKED_NAME_WIDTH = 20, 16


def next_section_shares(counts: np.ndarray, known: Sequence[str], shown: Sequence[str]) -> np.ndarray:
    """Relative frequencies of the next section given the previous one, among the section types to show.

    Args:
        counts: [1 + known, known + 1] transitions: row 0 is the beginning, the last column the end.
        known: the titles in the order of `counts`.
        shown: the titles to show, in the order to show them.

    Returns:
        [1 + shown, shown + 1] in the same layout. A row sums to 1 if all its next sections are shown; the row of a
        title that no step leaves is NaN.
    """
    places = [known.index(title) for title in shown]
    totals = counts.sum(1, keepdims=True).astype(float)
    shares = np.divide(counts, totals, out=np.full(counts.shape, np.nan), where=totals > 0)
    return shares[np.ix_([0, *(place + 1 for place in places)], [*places, len(known)])]


def transition_heatmaps(
    data: np.ndarray, sample: np.ndarray, titles: Sequence[str], sample_name: str, width: float
) -> Figure:
    """Two matrices on one colour scale from 0 to 1, and sample minus data on its own.

    Args:
        data: as `next_section_shares` returns it.
        sample: the same of the sample.
        titles: the section types, [titles].
        sample_name: a short name for the sample, over its panel.
        width: inches; in a narrow figure the panels are stacked.
    """
    stacked = width < WIDE
    gap = np.nan_to_num(sample) - np.nan_to_num(data)
    gap[np.isnan(sample).all(1) | np.isnan(data).all(1)] = np.nan
    limit = max(0.1, float(np.ceil(10 * np.nanmax(np.abs(gap), initial=0.0)) / 10))
    panels = [
        ("real text", data, SEQUENTIAL, Normalize(0, 1), "share of next sections"),
        (sample_name, sample, SEQUENTIAL, Normalize(0, 1), "share of next sections"),
        ("difference", gap, DIVERGING, Normalize(-limit, limit), "sample minus real text"),
    ]
    room = STACKED_NAME_WIDTH if stacked else NAME_WIDTH
    titles = [title if len(title) <= room else f"{title[: room - 1].rstrip()}…" for title in titles]
    longest = max(map(len, [*titles, BEGIN]))
    margin, below = 0.35 + 0.078 * longest, 0.16 + 0.068 * longest
    foot, gutter = below + 0.62, 0.16
    side = width - margin if stacked else (width - margin - 2 * gutter) / 3
    room = int(side / TITLE_CHARACTER)
    head = 0.14 + 0.2 * len(wrap(sample_name, room))
    height = 3 * (side + foot + head) if stacked else side + foot + head
    figure = new_figure(width, height)
    for index, (name, matrix, colours, norm, label) in enumerate(panels):
        x = margin + (0 if stacked else index * (side + gutter))
        y = foot + ((2 - index) * (side + foot + head) if stacked else 0)
        axes = figure.add_axes((x / width, y / height, side / width, side / height))
        _heatmap(axes, matrix, colours, norm)
        axes.set_title(fill(name, room))
        axes.tick_params(length=0)
        axes.set_xticks(np.arange(len(matrix)), [*titles, END], rotation=90)
        axes.set_yticks(np.arange(len(matrix)), [BEGIN, *titles] if stacked or index == 0 else [])
        if stacked or index == 0:
            axes.set_ylabel("previous section")
        _colour_bar(figure, (x / width, (y - below - 0.1) / height, side / width, 0.1 / height), norm, colours, label)
    return figure


def _colour_bar(
    figure: Figure, place: tuple[float, float, float, float], norm: Normalize, colours: Colormap, label: str
) -> None:
    """A strip of flat cells, not an image, so that its colours follow the page's colour scheme."""
    low, high = float(norm.vmin or 0), float(norm.vmax or 0)
    axes = figure.add_axes(place)
    edges = np.linspace(low, high, BAR_CELLS + 1)
    starts, width = edges[:-1], edges[1] - edges[0]
    strip = _rectangles(starts, np.zeros(BAR_CELLS), width, colours(norm(starts + width / 2)), antialiased=False)
    axes.add_collection(strip)
    axes.tick_params(length=0)
    ticks = [low, (low + high) / 2, high]
    words = [f"{100 * value:{'+' if low < 0 and value else ''}.0f}%".replace("-", MINUS) for value in ticks]
    axes.set(xlim=(low, high), ylim=(0, 1), yticks=[], xlabel=label)
    for text, side in zip(axes.set_xticks(ticks, words), ("left", "center", "right"), strict=True):
        text.label1.set(horizontalalignment=side)
    axes.spines[:].set_visible(True)


def _heatmap(axes: Axes, matrix: np.ndarray, colours: Colormap, norm: Normalize) -> None:
    """Cells as rectangles: zeros have the colour of the page, rows without a step are hatched."""
    cells = len(matrix)
    y, x = np.nonzero(np.abs(np.nan_to_num(matrix)) >= 0.005)
    axes.add_collection(_rectangles(x - 0.5, y - 0.5, 1, colours(norm(matrix[y, x]))))
    for row in np.flatnonzero(np.isnan(matrix).all(1)):
        axes.add_patch(
            Rectangle((-0.5, row - 0.5), cells, 1, facecolor="none", edgecolor=RULE, hatch="////", linewidth=0)
        )
    edges = np.arange(cells + 1) - 0.5
    axes.hlines(edges, edges[0], edges[-1], color=RULE, linewidth=0.4)
    axes.vlines(edges, edges[0], edges[-1], color=RULE, linewidth=0.4)
    axes.set(xlim=(-0.5, cells - 0.5), ylim=(cells - 0.5, -0.5), aspect="equal")
    axes.spines[:].set_visible(True)
    axes.xaxis.label.set_color(MUTED)


def _rectangles(
    x: np.ndarray, y: np.ndarray, width: float, colours: np.ndarray, antialiased: bool = True
) -> PolyCollection:
    """Rectangles of height 1 and one width, by their corners of the smallest x and y."""
    corners = np.array([(0, 0), (width, 0), (width, 1), (0, 1)])
    corners = np.stack([x, y], axis=1)[:, None] + corners
    return PolyCollection(corners, facecolors=colours, linewidths=0, antialiaseds=antialiased)
