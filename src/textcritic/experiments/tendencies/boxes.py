"""Figures with a row for each source: box plots, differences of means among permutations, sizes of vocabularies."""

from collections.abc import Callable, Mapping, Sequence
from textwrap import fill
from typing import TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.typing import LineStyleType

from textcritic.experiments.tendencies.panels import Line, Panel
from textcritic.measures.numbers import count, shortened
from textcritic.report.charts import CHARACTER, stacked_panels
from textcritic.report.drawings import WIDE
from textcritic.report.palette import FAINT, INK, MUTED, PAPER, RULE
from textcritic.report.style import share_label, tick_label

T = TypeVar("T")
ROW = 0.3  # inches
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
DASHES: LineStyleType = (0, (3, 1.5))
WORDS = "unigram_max"
LABEL = 26  # characters of a line of a label
AXES = {"length": "tokens of a document", "stopwords": "share of stop words", "symbols": "share of symbols"}


def box_chart(name: str, shown: Sequence[Panel], width: float) -> Figure:
    """Boxes from the first to the third quartile with the median, whiskers from 5% to 95%; real text is the band
    behind.

    Args:
        name: of the quantity, a key of `AXES`.
        shown: panels, one under another.
        width: inches.
    """

    def draw(axes: Axes, panel: Panel) -> None:
        for place, line in enumerate(panel.all):
            curve = line.curve(f"box.{name}")
            if len(curve):
                _box(axes, len(panel.all) - 1 - place, np.interp(QUANTILES, curve["x"], curve["y"]), line.colour)
        real = panel.real.curve(f"box.{name}")
        if len(real):
            first, third = np.interp((0.25, 0.75), real["x"], real["y"])
            axes.axvspan(first, third, color=FAINT, linewidth=0, zorder=0)
        _scale(axes, name)

    return _rows(shown, draw, width, lambda panel: panel.all)


def permutation_chart(titles: Mapping[str, str], shown: Sequence[Panel], width: float) -> Figure:
    """The difference of each sample from real text (dot), and the middle 95% and 50% of permuted ones (bars).

    Of means, or the largest one of the frequencies of words, which has no sign; `titles` by name of the curves.
    """
    every = [(panel, name) for panel in shown for name in titles]
    # A quantity that was not measured for any sample would be an empty chart.
    stacked = [
        (panel, name) for panel, name in every if any(len(one.curve(f"difference.{name}")) for one in panel.lines)
    ]

    def draw(axes: Axes, entry: tuple[Panel, str]) -> None:
        panel, name = entry
        for place, line in enumerate(panel.lines):
            y = len(panel.lines) - 1 - place
            null, observed = (line.curve(f"{curve}.{name}") for curve in ("null", "difference"))
            if len(null):
                ends = np.quantile(null["y"], (0.025, 0.25, 0.75, 0.975))
                axes.plot(ends[[0, 3]], [y, y], color=MUTED, linewidth=2, solid_capstyle="butt", zorder=2)
                axes.plot(ends[[1, 2]], [y, y], color=MUTED, linewidth=6, alpha=0.6, solid_capstyle="butt", zorder=2)
            axes.plot(observed["y"], [y] * len(observed), "o", color=line.colour, markersize=5.5, zorder=3)
        axes.axvline(0, color=RULE, linewidth=1, zorder=0)
        label = "largest difference\nof the frequency of a word"
        _scale(axes, name, label if name == WORDS else "difference of the mean:\nsample minus real text")

    def title(entry: tuple[Panel, str]) -> str:
        return ": ".join(filter(None, (entry[0].title, titles[entry[1]])))

    return _rows(stacked or every, draw, width, lambda entry: entry[0].lines, title)


def vocabulary_chart(shown: Sequence[Panel], width: float) -> Figure:
    """Different words of each source: bars, the number of real text as a line, and closed vocabularies dashed."""

    def draw(axes: Axes, panel: Panel) -> None:
        sizes = [line.curve("size.types") for line in panel.all]
        totals = [float(curve["y"].iloc[-1]) if len(curve) else 0.0 for curve in sizes]
        for place, (line, total) in enumerate(zip(panel.all, totals, strict=True)):
            y = len(panel.all) - 1 - place
            axes.barh(y, total, height=0.55, color=line.colour, alpha=0.75)
            _at_end(axes, total, y)
            if line.vocabulary:
                axes.vlines(line.vocabulary, y - 0.45, y + 0.45, line.colour, DASHES, linewidth=1.3)
                _at_end(axes, line.vocabulary, y, 9)
        axes.axvline(totals[0], color=INK, linewidth=1)
        closed = [line.vocabulary for line in panel.lines if line.vocabulary]
        axes.set_xlim(0, 1.18 * max([*totals, *closed]))
        axes.xaxis.set_major_formatter(tick_label)
        axes.set_xlabel("different words" + "\n(dashed: of a closed vocabulary)" * bool(closed))

    return _rows(shown, draw, width, lambda panel: panel.all)


def _at_end(axes: Axes, number: float, y: float, above: float = 0) -> None:
    """A number at the end of its bar, some points above the middle."""
    box = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.0}  # over the line of real text
    place = (number, y), (4, above)
    axes.annotate(count(number), *place, textcoords="offset points", va="center", fontsize=9, bbox=box)


def _rows(
    entries: Sequence[T],
    draw: Callable[[Axes, T], None],
    width: float,
    lines: Callable[[T], Sequence[Line]],
    title: Callable[[T], str] = lambda entry: getattr(entry, "title", ""),
) -> Figure:
    """Panels under one another whose rows are sources, with labels to their left."""
    room = 16 if width < WIDE else LABEL
    labels = [[fill(shortened(line.label, 2 * room), room) for line in lines(entry)] for entry in entries]
    longest = max((len(part) for names in labels for name in names for part in name.split("\n")), default=1)
    row = ROW * (1 + 0.6 * max((name.count("\n") for names in labels for name in names), default=0))
    left = 0.2 + CHARACTER * longest
    figure, places = stacked_panels(width, [max(2, len(names)) * row for names in labels], left, 0.25)
    for axes, entry, names in zip(places, entries, labels, strict=True):
        draw(axes, entry)
        axes.xaxis.set_major_locator(MaxNLocator(4 if width < WIDE else 6))
        axes.set_ylim(-0.6, len(names) - 0.4)
        axes.set_yticks(range(len(names) - 1, -1, -1), names, fontsize=9)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_title(title(entry))
    return figure


def _box(axes: Axes, y: float, values: np.ndarray, colour: str) -> None:
    low, first, middle, third, high = values
    axes.plot([low, high], [y, y], color=colour, linewidth=1.2, zorder=2)
    axes.barh(y, third - first, left=first, height=0.5, color=colour, alpha=0.55, zorder=2)
    axes.plot([middle, middle], [y - 0.25, y + 0.25], color=colour, linewidth=2, zorder=3)


def _scale(axes: Axes, name: str, label: str = "") -> None:
    axes.set_xlabel(label or AXES[name])
    axes.xaxis.set_major_formatter(share_label if name != "length" else tick_label)
