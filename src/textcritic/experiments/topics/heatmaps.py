"""Covariances of the aggregated posterior, sources side by side (paper, Figures 6, 8 and 9)."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from textcritic.measures.numbers import MINUS, count
from textcritic.report.drawings import WIDE
from textcritic.report.palette import MUTED, RULE
from textcritic.report.style import DIVERGING, new_figure

PAPER_LIMIT = 5.0  # paper, appendix F
PERCENTILE = 97  # of the entries; larger ones have the colour of the limit
STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 10.0)
MOST_NAMED = 32  # topics; the names of more could not be read
LARGEST_TYPE, LINE = 8.5, 1.15  # of a name, points; and how far apart names are at least, in their own height
NAME_CHARACTERS = 20
CHARACTER, TITLE_CHARACTER = 0.066, 0.094  # inches, a little more than the mean; in bold
HEAD_LINE, FOOT_LINE = 0.19, 0.17  # inches, of a panel's title and of the words under the scale
LONGEST_PANEL, LONGEST_BAR = 3.6, 3.4  # inches
BAR_STEPS = 41
NOTHING = "nothing could be scored"
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """The covariances of one source [k, k], None if it has too few documents, and the number of documents."""

    label: str
    documents: int
    matrix: Matrix | None


def common_limit(matrices: Sequence[Matrix | None]) -> float:
    """A limit for the colours of all matrices: only a few entries are above it; rounded up, at most 5."""
    entries = np.concatenate([np.abs(matrix).ravel() for matrix in matrices if matrix is not None] or [np.ones(1)])
    wanted = float(np.percentile(entries, PERCENTILE)) or 1.0
    size = 10.0 ** np.floor(np.log10(wanted))
    return float(min(PAPER_LIMIT, size * next(step for step in STEPS if size * step >= wanted * (1 - 1e-9))))


def covariance_heatmaps(
    panels: Sequence[Panel], names: Sequence[str], limit: float, quantity: str, width: float
) -> Figure:
    """Matrices on one diverging scale, each cell an average over documents; larger values look like the limit.

    Args:
        panels: in the order to show them, all with rows and columns in one order.
        names: of the topics in this order, to the left of the first panel of each line if there is room for them.
        limit: the scale goes from -limit to limit.
        quantity: what is shown, under the scale.
        width: inches; in a narrow figure there are two panels a line and no names.
    """
    narrow = width < WIDE
    named = not narrow and len(names) <= MOST_NAMED
    columns = _columns(len(panels), narrow, named)
    lines = -(-len(panels) // columns)
    shown = [name if len(name) <= NAME_CHARACTERS else f"{name[: NAME_CHARACTERS - 1].rstrip()}…" for name in names]
    left = 0.15 + CHARACTER * max(map(len, shown), default=0) if named else 0.05
    words = fill(quantity, int((width - left) / CHARACTER))
    gutter, foot = 0.18, 0.62 + FOOT_LINE * words.count("\n")
    side = min((width - left - (columns - 1) * gutter) / columns, LONGEST_PANEL)
    size = min(LARGEST_TYPE, 72 * side / (len(names) * LINE))
    room = max(8, int(side / TITLE_CHARACTER))
    titles = [f"{fill(panel.label, room)}\nn = {count(panel.documents)}" for panel in panels]
    heads = [
        0.16 + HEAD_LINE * max(title.count("\n") + 1 for title in titles[line * columns : (line + 1) * columns])
        for line in range(lines)
    ]
    height = sum(heads) + lines * side + foot
    figure = new_figure(width, height)
    bottom = height
    for line, head in enumerate(heads):
        bottom -= head + side
        for column, place in enumerate(range(line * columns, min((line + 1) * columns, len(panels)))):
            x = left + column * (side + gutter)
            axes = figure.add_axes((x / width, bottom / height, side / width, side / height))
            _heatmap(axes, panels[place].matrix, len(names), limit)
            axes.set_title(titles[place])
            if named and column == 0:
                axes.set_yticks(np.arange(len(shown)), shown, fontsize=size)
    long = min(columns * side + (columns - 1) * gutter, LONGEST_BAR)
    bar = (left / width, (foot - 0.28) / height, long / width, 0.1 / height)
    _colour_bar(figure.add_axes(bar), limit, words)
    return figure


def _columns(panels: int, narrow: bool, named: bool) -> int:
    """Panels per line: lines are as equal as possible, and shorter if topics have names."""
    most = 2 if narrow else 3 if named else 4
    return -(-panels // -(-panels // most))


def _heatmap(axes: Axes, matrix: Matrix | None, size: int, limit: float) -> None:
    axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5), xticks=[], yticks=[], aspect="equal")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color(RULE)
    if matrix is None:
        axes.text(0.5, 0.5, fill(NOTHING, 14), transform=axes.transAxes, ha="center", va="center", color=MUTED)
        return
    # Cells as one image: a hundred topics have ten thousand cells, too many shapes for a page.
    axes.imshow(np.clip(matrix, -limit, limit), cmap=DIVERGING, norm=Normalize(-limit, limit), interpolation="none")


def _colour_bar(axes: Axes, limit: float, quantity: str) -> None:
    """An image, like the cells, so that a page in dark mode does not change its colours."""
    steps = np.linspace(-limit, limit, BAR_STEPS)[None]
    norm, extent = Normalize(-limit, limit), (-limit, limit, 0.0, 1.0)
    axes.imshow(steps, cmap=DIVERGING, norm=norm, extent=extent, aspect="auto", interpolation="none")
    axes.set_yticks([])
    axes.set_xlabel(quantity, loc="left")
    words = (f"{MINUS}{limit:g}", "0", f"{limit:g}")
    for text, side in zip(axes.set_xticks([-limit, 0, limit], words), ("left", "center", "right"), strict=True):
        text.label1.set(horizontalalignment=side)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(True)
