"""The common parts of figures of tendencies: panels by corpus and decoding, a line for each source."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.typing import LineStyleType

from textcritic.experiments.tendencies.files import TendenciesFiles
from textcritic.experiments.tendencies.rows import curves_of
from textcritic.measures.labels import corpus_name, decoding_name
from textcritic.measures.names import Names
from textcritic.plan.sources import SAMPLE
from textcritic.report.cells import unique
from textcritic.report.charts import legend_size
from textcritic.report.drawings import WIDE
from textcritic.report.palette import INK, LINE_COLOURS, MUTED
from textcritic.report.style import DASHES, new_figure
from textcritic.values import Row

# Inches.
HEIGHT = 2.3  # of a row
TICK, NUMBER_CHARACTER, LABEL, GAP = 0.12, 0.07, 0.21, 0.28  # left of axes
BELOW, TITLE_LINE, RIGHT = 0.6, 0.25, 0.15


@dataclass(frozen=True, eq=False)
class Line:
    """One sample in a panel: its label, its curves, how it is drawn, and its closed vocabulary, if any."""

    label: str
    keys: Row
    curves: pd.DataFrame
    colour: str
    dashes: LineStyleType
    vocabulary: int | None = None

    def curve(self, name: str) -> pd.DataFrame:
        """The points of one of its curves, in order."""
        return self.curves[self.curves["curve"] == name]


@dataclass(frozen=True, eq=False)
class Panel:
    """The samples of a corpus that are drawn with one decoding, and the real text behind them."""

    title: str
    real: Line
    lines: Sequence[Line]

    @property
    def all(self) -> list[Line]:
        """Real text first."""
        return [self.real, *self.lines]


def panels(files: TendenciesFiles, names: Names) -> list[Panel]:
    """A panel for each corpus and each decoding of its samples; of several seeds the first is drawn.

    A generator has one colour in all panels; of several settings the second has dashes.
    """
    sources = list(curves_of(files))
    samples = [keys for keys, _ in sources if keys["source"] == SAMPLE]
    generators, settings = unique(k["generator"] for k in samples), unique(k["setting"] for k in samples)
    closed = {sample.generator: sample.vocabulary for sample in files.samples}
    several = len({keys["decoding"] for keys in samples}) > 1
    drawn = []
    for corpus in unique(keys["corpus"] for keys, _ in sources):
        here = [(keys, curves) for keys, curves in sources if keys["corpus"] == corpus]
        real = Line("real text", *here[0], INK, "-")
        for decoding in unique(keys["decoding"] for keys, _ in here[1:]) or [""]:
            lines: dict[tuple[str, str], Line] = {}
            for keys, curves in here[1:]:
                place = (keys["generator"], keys["setting"])
                if keys["decoding"] != decoding or lines.get(place) is not None:
                    continue
                label = names.source(keys, corpus=False, decoding=False, seed=False)
                colour = LINE_COLOURS[generators.index(place[0]) % len(LINE_COLOURS)]
                dashes = DASHES[settings.index(place[1]) % len(DASHES)]
                lines[place] = Line(label, keys, curves, colour, dashes, closed[place[0]])
            words = [corpus_name(corpus)] * names.several_corpora + [decoding_name(decoding)] * several
            title = ", ".join(filter(None, words))
            drawn.append(Panel(title, real, list(lines.values())))
    return drawn


def grid(
    titles: Sequence[str], draw: Callable[[Axes, Panel, int], None], shown: Sequence[Panel], width: float
) -> Figure:
    """A row of axes for each panel, one for each title; in a narrow figure all are stacked. The legend is below.

    Args:
        titles: of the columns.
        draw: draws (axes, panel, column).
        shown: the panels.
        width: of the figure, inches.
    """
    columns = 1 if width < WIDE else len(titles)
    rows = len(shown) * len(titles) // columns
    lines = {line.label: line for panel in shown for line in panel.all}
    labels, across, tall = legend_size(list(lines), width)
    foot = tall + 0.15
    figure = new_figure(width, rows * HEIGHT + foot)
    places = figure.subplots(rows, columns, squeeze=False)
    for number, axes in enumerate(places.flat):
        panel, column = shown[number // len(titles)], number % len(titles)
        draw(axes, panel, column)
        between = ":\n" if columns > 3 else ": "  # two lines where there is little room
        # With a y Matplotlib does not look for room above the axes each time something is drawn.
        axes.set_title(between.join(filter(None, (panel.title, titles[column]))), y=1.0)
    _place(figure, places, foot)
    handles = [Line2D([], [], color=line.colour, linestyle=line.dashes, linewidth=1.8) for line in lines.values()]
    figure.legend(handles, labels, loc="lower center", ncols=across, fontsize=9, handlelength=2.2)
    return figure


def _place(figure: Figure, places: np.ndarray, foot: float) -> None:
    """Place the axes of a figure, [rows, columns], with room for their titles, labels and numbers.

    Matplotlib's `tight_layout` would draw all of them to know how wide the numbers are: a third of a figure's time.

    Args:
        figure: the figure of the axes.
        places: the axes.
        foot: inches below the lowest row.
    """
    width, total = figure.get_size_inches()
    margins = [max(map(_left_of, column)) + GAP * bool(number) for number, column in enumerate(places.T)]
    each = (width - sum(margins) - RIGHT) / len(margins)
    above = TITLE_LINE * (1 + max(axes.get_title("left").count("\n") for axes in places.flat))
    for row, line in enumerate(places):
        bottom = foot + (len(places) - 1 - row) * HEIGHT + BELOW
        for column, axes in enumerate(line):
            left = sum(margins[: column + 1]) + column * each
            axes.set_position((left / width, bottom / total, each / width, (HEIGHT - BELOW - above) / total))


def _left_of(axes: Axes) -> float:
    """The width of the numbers and the label of a y axis, inches, about."""
    numbers = axes.yaxis.get_major_formatter().format_ticks(list(axes.get_yticks()))
    return TICK + NUMBER_CHARACTER * max(map(len, numbers), default=0) + LABEL * bool(axes.get_ylabel())


def band(axes: Axes, curve: pd.DataFrame, colour: str = MUTED) -> None:
    """The range of second draws of real text."""
    if curve["low"].notna().any():
        axes.fill_between(curve["x"], curve["low"], curve["high"], color=colour, alpha=0.22, linewidth=0, zorder=1)


def plot(axes: Axes, line: Line, curve: pd.DataFrame, **look: Any) -> None:
    """A curve of a source; real text's is drawn on top."""
    wide, layer = (1.6, 3) if line.keys["source"] != SAMPLE else (1.3, 2)
    look |= {"color": line.colour, "linestyle": line.dashes, "linewidth": wide, "zorder": layer}
    axes.plot(curve["x"], curve["y"], **look)


def quiet(axes: Axes, x: str, y: str = "") -> None:
    """Axis labels, and a rule at each tick of y. Ticks between those with numbers would double the time of a figure."""
    axes.minorticks_off()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(axis="y")
