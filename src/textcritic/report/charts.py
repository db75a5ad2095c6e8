"""Charts of values with their intervals, compared with real text, and training curves."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter, NullLocator

from textcritic.inference import over_trainings
from textcritic.measures.labels import corpus_name
from textcritic.measures.measure import Measure
from textcritic.measures.names import SourceNames
from textcritic.measures.numbers import LONGEST, missing, number, shortened
from textcritic.plan.sources import GROUP
from textcritic.report.cells import p_note
from textcritic.report.drawings import WIDE, Drawing
from textcritic.report.palette import BASELINE, FAINT, GREEN, INK, MUTED, RULE, SETTING_COLOURS
from textcritic.report.style import log_ticks, new_figure, tick_label
from textcritic.values import Row

HEAD, FOOT = 0.42, 0.62  # inches over and under a panel
VALUE_WIDTH = 44  # points, for a value right of the chart
CHARACTER = 0.079  # inches, a little more than the mean
NARROW_LABEL = 44  # characters of a line under a narrow chart
LEGEND_LINE, LEGEND_CHARACTER = 0.22, 0.086  # inches
MOST_POINTS = 120  # of a training curve


@dataclass(frozen=True, slots=True)
class Mark:
    """One row of the chart: one dot with its interval for each seed.

    Attributes:
        label: what the row is.
        values: of each seed; infinite values are drawn at the right edge.
        intervals: (low, high) of each seed.
        note: words after the value, e.g. a p-value.
        setting: decides the colour; "" is the real text.
        published: the published value, drawn as an open diamond.
        by_ratio: whether the mean over trainings is the geometric one.
    """

    label: str
    values: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    note: str = ""
    setting: str = ""
    published: float | None = None
    by_ratio: bool = False

    @property
    def value(self) -> float:
        """The value that is written after the row: the mean over trainings when there are several."""
        return over_trainings(self.values, self.by_ratio).mean


def marks_of(rows: pd.DataFrame, names: SourceNames, measure: Measure) -> list[Mark]:
    """The rows of the chart for one corpus: one for each source that has a value, its seeds together.

    Args:
        rows: of one corpus; a column `baseline` says which samples come from a generator that is there to be bad.
        names: of the sources.
        measure: what is drawn; a value without an interval is drawn as a dot.
    """
    marks = []
    for _, group in rows[rows[measure.value].notna()].groupby(["source", *GROUP], sort=False, dropna=False):
        first, values = group.iloc[0].to_dict(), group[measure.value]
        ends = (group[end].fillna(values) for end in (measure.low, measure.high))
        printed = (
            [float(value) for value in group[measure.published] if not missing(value)] if measure.published else []
        )
        mark = Mark(
            label=names.source(first, corpus=False, seed=False),
            values=tuple(values),
            intervals=tuple(zip(*ends, strict=True)),
            note=", ".join(p_note(group, measure)),
            setting=BASELINE if first.get("baseline") else str(first["setting"]),
            published=next(iter(printed), None),
            by_ratio=measure.by_ratio,
        )
        marks.append(mark)
    return marks


def from_low_to_high(marks: Sequence[Mark]) -> list[Mark]:
    """Real text first, then the samples from low to high, the baselines last."""
    return sorted(marks, key=lambda m: (bool(m.setting), m.setting == BASELINE, m.setting and m.value))


def interval_chart(panels: Mapping[str, Sequence[Mark]], quantity: str, width: float) -> Figure:
    """Dots and intervals, sorted, with the real text's interval as a band behind all rows of its panel.

    The scale is logarithmic if the values are far apart and none is negative.

    Args:
        panels: corpus name to its rows; rows with setting "" are the real text, the first of them gives the band.
        quantity: what the values are.
        width: inches; in a narrow chart the labels are above the rows instead of to their left.
    """
    narrow = width < WIDE
    room = int((width - 0.24) / CHARACTER)
    panels = {
        corpus: [_wrapped(mark, room) if narrow else replace(mark, label=shortened(mark.label)) for mark in rows]
        for corpus, rows in panels.items()
    }
    tall = any("\n" in mark.label for rows in panels.values() for mark in rows)
    row_height = (0.72 if tall else 0.56) if narrow else 0.36
    heights = [len(rows) * row_height for rows in panels.values()]
    labels = [mark.label for rows in panels.values() for mark in rows]
    left = 0.12 if narrow else 0.25 + CHARACTER * max(map(len, labels), default=1)
    notes = [mark.note for rows in panels.values() for mark in rows]
    right = 0.12 if narrow else 0.2 + VALUE_WIDTH / 72 + CHARACTER * max(map(len, notes), default=0)
    figure, places = stacked_panels(width, heights, left, right)
    for axes, (corpus, rows) in zip(places, panels.items(), strict=True):
        _panel(axes, corpus, rows, narrow, quantity)
    return figure


def measure_figure(name: str, rows: pd.DataFrame, names: SourceNames, measure: Measure, quantity: str = "") -> Drawing:
    """The `interval_chart` of a measure: a panel for each corpus, samples from low to high.

    Args:
        name: of the figure.
        rows: with the measure's columns.
        names: of the sources.
        measure: what is drawn.
        quantity: what the values are; default: the measure's name.
    """
    panels = {
        corpus: from_low_to_high(marks_of(of, names, measure)) for corpus, of in rows.groupby("corpus", sort=False)
    }
    return name, partial(interval_chart, panels, quantity or measure.name)


def legend_above(figure: Figure, handles: Sequence[Artist], labels: Sequence[str]) -> None:
    """A legend over a figure of panels under one another, with as many columns as fit."""
    width, height = figure.get_size_inches()
    labels, across, tall = legend_size(labels, width)
    above = tall - (HEAD - 0.1) * (figure.axes[0].get_title("left") == "")
    figure.legend(
        list(handles), labels, loc="upper center", bbox_to_anchor=(0.5, 1 + above / height), ncols=across, fontsize=9,
        handlelength=2.0,
    )  # fmt: skip


def legend_size(labels: Sequence[str], width: float) -> tuple[list[str], int, float]:
    """The labels of a legend shortened, how many are side by side in a width, and the height; inches."""
    short = [shortened(label, min(LONGEST, int((width - 0.7) / LEGEND_CHARACTER))) for label in labels]
    longest = max(map(len, short), default=1) * LEGEND_CHARACTER + 0.5
    across = max(1, min(len(short), math.floor((width - 0.2) / longest)))
    return short, across, math.ceil(len(short) / across) * LEGEND_LINE


def stacked_panels(
    width: float, heights: Sequence[float], left: float, right: float, foot: float = FOOT
) -> tuple[Figure, list[Axes]]:
    """A figure of panels under one another, with room for a title over each and an axis under it.

    Args:
        width: of the figure, inches.
        heights: of the panels, inches.
        left: margin, inches.
        right: margin, inches.
        foot: room under each panel, inches; by default for numbers and one line of words.
    """
    total = sum(heights) + len(heights) * (HEAD + foot)
    figure, panels, top = new_figure(width, total), [], total
    for height in heights:
        bottom = top - HEAD - height
        place = (left / width, bottom / total, (width - left - right) / width, height / total)
        panels.append(figure.add_axes(place))
        top = bottom - foot
    return figure, panels


def training_curves(curves: Mapping[str, Sequence[Row]], width: float) -> Figure:
    """Validation loss (green) and training loss (grey) by optimiser step, one panel each, on a shared scale.

    Args:
        curves: label to the `curve` list of training.json; losses are nats per token. A long curve is drawn with at
            most `MOST_POINTS` points, each the mean of neighbouring ones.
        width: inches; in a narrow figure the panels are stacked.
    """
    columns = 1 if width < WIDE else min(3, max(1, len(curves)))
    lines = -(-len(curves) // columns)
    figure = new_figure(width, 2.3 * lines + 0.2)
    grid = np.atleast_1d(figure.subplots(lines, columns, sharey=True, squeeze=False)).ravel()
    for axes, (label, curve) in zip(grid, curves.items(), strict=False):
        for key, colour, name in (("train_loss", MUTED, "training"), ("validation_loss", GREEN, "validation")):
            points = _means([(row["step"], row[key]) for row in curve if row.get(key) is not None])
            marker = "o" if len(points) <= MOST_POINTS // 4 else None
            if len(points):
                axes.plot(*points.T, color=colour, linewidth=1.4, marker=marker, markersize=2.5, label=name)
        axes.set_title(fill(label, 30))
        axes.set_xlabel("step")
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.xaxis.set_major_formatter(tick_label)
        axes.grid(axis="y")
    for axes in grid[len(curves) :]:
        axes.set_visible(False)
    for axes in grid[::columns]:
        axes.set_ylabel("loss (nats per token)")
    if len(grid):
        grid[0].legend(fontsize=9)
    figure.tight_layout(h_pad=1.6)
    return figure


def _wrapped(mark: Mark, room: int) -> Mark:
    """The same mark; if label and value need more than `room` characters, the label is on two lines and shortened."""
    start, comma, last = mark.label.rpartition(", ")
    left = room - 1 - len(_value_and_note(mark))
    lines = [mark.label] if len(mark.label) <= left or not comma else [f"{start},", last]
    return replace(mark, label="\n".join(shortened(line, left) for line in lines))


def _means(points: Sequence[tuple[float, float]]) -> np.ndarray:
    """Means of neighbouring points, at most `MOST_POINTS`: [points, 2]."""
    values = np.array(points, dtype=float).reshape(-1, 2)
    size = -(-len(values) // MOST_POINTS)
    return np.array([values[start : start + size].mean(0) for start in range(0, len(values), max(size, 1))]).reshape(
        -1, 2
    )


def _panel(axes: Axes, corpus: str, rows: Sequence[Mark], narrow: bool, quantity: str) -> None:
    real = [mark for mark in rows if not mark.setting]
    finite = [x for m in rows for x in (*m.values, *(v for i in m.intervals for v in i)) if np.isfinite(x)]
    finite += [mark.published for mark in rows if mark.published is not None]
    low, high = (min(finite), max(finite)) if finite else (1.0, 10.0)
    logarithmic = low > 0 and high / low > 4
    pad = (high / low) ** 0.06 if logarithmic else 0.06 * (high - low) + 1e-3 * (abs(low) or 1.0)
    edges = (low / pad, high * pad) if logarithmic else (low - pad, high + pad)
    if real and np.isfinite(real[0].intervals[0]).all():
        _real_band(axes, real[0], len(rows), narrow)
    for row, mark in enumerate(rows):
        _row(axes, len(rows) - 1 - row, mark, edges, narrow)
    axes.set_ylim(-0.5, len(rows) - 0.4)
    axes.set_xlim(*edges)
    axes.set_yticks([])
    axes.set_title(corpus_name(corpus))
    axes.spines["left"].set_visible(False)
    scale = ", logarithmic scale" * logarithmic
    below = narrow and len(quantity + scale) > NARROW_LABEL
    axes.set_xlabel(fill(quantity, NARROW_LABEL) + scale.replace(" ", "\n", 1) if below else quantity + scale)
    if logarithmic:
        axes.set_xscale("log")
        axes.set_xlim(*edges)
        axes.xaxis.set_major_locator(log_ticks(low, high))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(tick_label)


def _real_band(axes: Axes, real: Mark, rows: int, narrow: bool) -> None:
    """Draw real text's value and interval behind all rows; in a narrow chart, not behind the labels above the rows."""
    low, high = real.intervals[0]
    for bottom, top in [(y - 0.5, y) for y in range(rows)] if narrow else [(-0.5, rows - 0.4)]:
        axes.fill_betweenx([bottom, top], low, high, color=FAINT, linewidth=0, zorder=0)
        axes.plot([real.values[0]] * 2, [bottom, top], color=RULE, linewidth=1.0, zorder=0.5)


def _row(axes: Axes, y: float, mark: Mark, edges: tuple[float, float], narrow: bool) -> None:
    colour = SETTING_COLOURS.get(mark.setting, INK)
    # On a narrow chart the label is above its dot, and nearer to it than to the dot of the row above.
    lines = 1 + mark.label.count("\n")
    centre, label_y = (y - 0.18 / lines, y + 0.14 + 0.06 * lines) if narrow else (y, y)
    offsets = np.linspace(0.12, -0.12, len(mark.values)) if len(mark.values) > 1 else [0.0]
    for value, (low, high), offset in zip(mark.values, mark.intervals, offsets, strict=True):
        at = centre + offset
        if np.isfinite(value):
            axes.plot([low, min(high, edges[1])], [at, at], color=colour, linewidth=2, solid_capstyle="butt", zorder=2)
            axes.plot(value, at, "o", color=colour, markersize=6 if len(mark.values) == 1 else 4.5, zorder=3)
        else:
            axes.plot(edges[1], at, marker=">", color=colour, markersize=7, clip_on=False, zorder=3)
    if mark.published is not None:
        axes.plot(mark.published, centre, "D", markerfacecolor="none", markeredgecolor=MUTED, markersize=6, zorder=4)
    across = axes.get_yaxis_transform()
    if narrow:
        axes.text(0, label_y, mark.label, transform=across, va="center", color=INK)
        axes.text(1, label_y, _value_and_note(mark), transform=across, va="center", ha="right", color=MUTED)
        return
    axes.text(-0.02, y, mark.label, transform=across, va="center", ha="right", color=INK)
    for words, x, side in ((number(mark.value), VALUE_WIDTH, "right"), (mark.note, VALUE_WIDTH + 10, "left")):
        axes.annotate(
            words, (1, y), (x, 0), xycoords=across, textcoords="offset points", ha=side, va="center", color=MUTED
        )


def _value_and_note(mark: Mark) -> str:
    return f"{number(mark.value)}, {mark.note}" if mark.note else number(mark.value)
