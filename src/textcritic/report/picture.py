"""The scorecard of one corpus as a picture: the intervals of its first measure, and small ones of the others."""

import math
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from textwrap import fill

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from textcritic.measures.card import Block, Cell, Column, Row
from textcritic.measures.numbers import p_value, shortened
from textcritic.measures.sentences import PERCENT, doubt_of, value_of
from textcritic.report.charts import Mark, interval_chart
from textcritic.report.drawings import NARROW, WIDE, Draw, write_figures
from textcritic.report.palette import BASELINE, FAINT, INK, RULE, SETTING_COLOURS
from textcritic.report.style import new_figure, tick_label
from textcritic.report.svg import inline_forms

ACROSS, SMALL_NAMES = {WIDE: 3, NARROW: 1}, {WIDE: 28, NARROW: 22}  # small charts side by side, letters of a name
SMALL = 8.5  # points of a letter
SMALL_CHARACTER = 0.066  # inches, a little more than the mean
ROW, OVER, UNDER, GAP = 0.2, 0.42, 0.3, 0.25  # inches: of a row, over and under a small chart, and between two
MOST_ROWS = 40
"""The most sources that are drawn: real text and the first ones."""


def picture(block: Block, key: str) -> Markup:
    """The intervals of all sources, for each measure that real text has too; "" if nothing can be drawn.

    Args:
        block: of the scorecard.
        key: unique in the page; it starts every element id.
    """
    columns = [column for column in block.columns if _drawn(block, column)]
    if not columns:
        return Markup("")
    first, *others = columns
    parts = [interval_picture(first, [row for row in block.rows if first in row.cells][:MOST_ROWS], f"{key}-0")]
    if others:
        words = " ".join(_in_words(column, block.rows) for column in others)
        parts.append(_both(partial(_small, block, others), f"{key}-1", words))
    return Markup('<figure class="picture">{}</figure>').format(Markup("").join(parts))


def interval_picture(column: Column, rows: Sequence[Row], key: str) -> Markup:
    """The values and intervals of a measure, in a wide and a narrow form; the page shows the one that fits.

    Args:
        column: the measure.
        rows: the sources in their order; those without a value are left out.
        key: unique in the page; it starts every element id.
    """
    drawn = [row for row in rows if row.cells[column].number.value is not None]
    quantity = f"{column.measure.removesuffix(PERCENT)}{' (%)' * column.measure.endswith(PERCENT)}"
    marks = [_mark(row, row.cells[column]) for row in drawn]
    return marks_picture(marks, quantity, key, _in_words(column, drawn))


def marks_picture(marks: Sequence[Mark], quantity: str, key: str, words: str) -> Markup:
    """Marks in a wide and a narrow form.

    Args:
        marks: see `charts.interval_chart`.
        quantity: what the values are.
        key: unique in the page; it starts every element id.
        words: the same for those who do not see the picture.
    """
    return _both(partial(interval_chart, {"": marks}, quantity), key, words)


def _both(draw: Draw, key: str, words: str) -> Markup:
    """A figure in both forms, as SVG elements of a page."""
    with tempfile.TemporaryDirectory() as folder:
        write_figures([("figure", draw)], folder, pdf=False)
        return inline_forms(Path(folder) / "figure", key, words)


def _drawn(block: Block, column: Column) -> bool:
    """Whether a measure compares samples with real text, and some sample has a value."""
    return block.real(column) is not None and any(
        not row.is_real and column in row.cells and row.cells[column].number.value is not None for row in block.rows
    )


def _mark(row: Row, cell: Cell) -> Mark:
    value = cell.number.value if cell.number.value is not None else math.nan
    low, high = (value if end is None else end for end in (cell.number.low, cell.number.high))
    note = "" if cell.p is None else p_value(cell.p)
    return Mark(row.label, (value,), ((low, high),), note, setting=_setting(row))


def _setting(row: Row) -> str:
    return "" if row.is_real else BASELINE if row.baseline else "control" if row.control else "w-title"


def _in_words(column: Column, rows: Sequence[Row]) -> str:
    """The numbers of a measure in a sentence, for those who do not see the picture."""
    cells = [(row, row.cells[column]) for row in rows if column in row.cells]
    each = [f"{row.name or row.label} {value_of(cell)}{_doubt_note(cell)}" for row, cell in cells]
    return f"{column.measure} with 95% intervals: {', '.join(each)}."


def _doubt_note(cell: Cell) -> str:
    doubt = doubt_of(cell)
    return f" ({doubt})" if doubt else ""


def _small(block: Block, columns: Sequence[Column], width: float) -> Figure:
    """Small charts of several measures, each with the same rows; the names are to the left of each line of charts."""
    rows = [row for row in block.rows if any(column in row.cells for column in columns)][:MOST_ROWS]
    names = [shortened(row.label, SMALL_NAMES[width]) for row in rows]
    lines = -(-len(columns) // ACROSS[width])
    across = -(-len(columns) // lines)
    left = 0.1 + SMALL_CHARACTER * max(map(len, names))
    panel, height = (width - left) / across - GAP, len(rows) * ROW
    line = height + OVER + UNDER
    total = line * lines
    figure = new_figure(width, total)
    for place, column in enumerate(columns):
        down, aside = divmod(place, across)
        x, y = left + aside * (panel + GAP), total - (down + 1) * line + UNDER
        axes = figure.add_axes((x / width, y / total, panel / width, height / total))
        _small_chart(axes, column, rows, fill(column.measure, max(12, int(panel / SMALL_CHARACTER))))
        if not aside:
            transform = axes.get_yaxis_transform()
            for y, name in enumerate(reversed(names)):
                axes.text(-0.02, y, name, transform=transform, fontsize=SMALL, color=INK, va="center", ha="right")
    return figure


def _small_chart(axes: Axes, column: Column, rows: Sequence[Row], title: str) -> None:
    """Dots and intervals of one measure, real text's as a band."""
    for place, row in enumerate(rows):
        number = row.cells[column].number if column in row.cells else None
        if number is None or number.value is None or not math.isfinite(number.value):
            continue
        y, colour = len(rows) - 1 - place, SETTING_COLOURS.get(_setting(row), INK)
        low, high = (number.value if end is None else end for end in (number.low, number.high))
        if row.is_real:
            axes.axvspan(low, high, color=FAINT, linewidth=0, zorder=0)
            axes.axvline(number.value, color=RULE, linewidth=1.0, zorder=0.5)
        axes.plot([low, high], [y, y], color=colour, linewidth=1.6, solid_capstyle="butt", zorder=2)
        axes.plot(number.value, y, "o", color=colour, markersize=4, zorder=3)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.margins(x=0.08)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.xaxis.set_major_formatter(tick_label)
    axes.tick_params(labelsize=SMALL - 1)
    axes.set_title(title, fontsize=SMALL, pad=4)
