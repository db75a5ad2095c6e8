"""A scorecard on the terminal: tables of plain text, as many columns side by side as fit."""

from collections.abc import Collection, Sequence
from itertools import zip_longest
from textwrap import wrap

from textcritic.measures.card import Block, Cell, Column, Row
from textcritic.measures.numbers import count, percent
from textcritic.measures.phrases import seeds_in_words, with_n
from textcritic.measures.score import NOT_COMPARED
from textcritic.measures.sentences import (
    NEAREST,
    SIGNS,
    WORTH_SAYING,
    doubt_of,
    left_out_of,
    noticed_of,
    short_legend,
    value_of,
)

GAP = 2
NO_SIGN = "  "
LOST = "*"  # follows a value for which many documents are left out
HEAD = 20  # characters of a head that fit in one line
LEAST_LABEL = 22
"""The least width, in characters, for the names of sources; longer names take several lines."""


def card_lines(blocks: Sequence[Block], width: int) -> list[str]:
    """The card: for each corpus one table, or several under one another if the columns do not fit side by side.

    Args:
        blocks: as `card.scorecard` makes them.
        width: characters of a line; a table of one column may be wider than a very narrow terminal.
    """
    lines: list[str] = []
    for block in blocks:
        for columns in _side_by_side(block, width):
            lines += ["", *_table(block, columns, width)]
        lines += ["", *_counts(block, width)]
    lost = any(left_out_of(cell) for block in blocks for row in block.rows for cell in row.cells.values())
    legend, remark = short_legend(blocks), f" {LOST} {100 * WORTH_SAYING:g}% of the documents or more are left out."
    legend = [f"{words}{remark}" if lost and not place else words for place, words in enumerate(legend or [""] * lost)]
    meanings = [line for words in legend for line in wrap(words, width, subsequent_indent="  ")]
    return [*lines, *(["", *meanings] if meanings else [])]


def _side_by_side(block: Block, width: int) -> list[list[Column]]:
    """The columns of a block in groups, each as wide as fits next to the names of its sources."""
    label = min(LEAST_LABEL, max(len(row.label) for row in block.rows))
    groups: list[list[Column]] = [[]]
    for column in block.columns:
        needed = label + sum(GAP + _width(block, other) for other in (*groups[-1], column))
        if groups[-1] and needed > width:
            groups.append([])
        groups[-1].append(column)
    return groups


def _table(block: Block, columns: Sequence[Column], width: int) -> list[str]:
    rows = [row for row in block.rows if any(column in row.cells for column in columns)]
    widths = [_width(block, column) for column in columns]
    room = width - sum(GAP + each for each in widths)
    longest = max(len(text) for text in (block.corpus, *(row.label for row in rows)))
    sizes = [min(longest, max(room, LEAST_LABEL)), *widths]
    titles = [
        "" if place and columns[place - 1].experiment == column.experiment else column.title
        for place, column in enumerate(columns)
    ]
    heads = [wrap(column.measure, size - len(NO_SIGN)) for column, size in zip(columns, widths, strict=True)]
    titled = [wrap(title, size - len(NO_SIGN)) for title, size in zip(titles, widths, strict=True)]
    lines = _row([[block.corpus], *(map(_under_values, titled))], sizes)
    lines += _row([[], *(map(_under_values, heads))], sizes)
    near = {column: block.nearest(column) for column in columns}
    for row in rows:
        label = wrap(row.label, sizes[0], subsequent_indent="  ")
        lines += _row([label, *([_text(row, column, near[column])] for column in columns)], sizes)
    return lines


def _under_values(lines: Sequence[str]) -> list[str]:
    return [NO_SIGN + line for line in lines]


def _row(cells: Sequence[Sequence[str]], sizes: Sequence[int]) -> list[str]:
    """The lines of a row, whose cells have one or several."""
    return [
        (" " * GAP).join(f"{part:<{size}}" for part, size in zip(line, sizes, strict=True)).rstrip()
        for line in zip_longest(*cells, fillvalue="")
    ]


def _width(block: Block, column: Column) -> int:
    """The width of a column in characters: its heads may take several lines, its values may not."""
    words, near = f"{column.title} {column.measure}".split(), block.nearest(column)
    return max(
        *(len(_text(row, column, near)) for row in block.rows),
        *(len(NO_SIGN + word) for word in words),
        min(len(NO_SIGN + column.measure), HEAD),
    )


def _text(row: Row, column: Column, near: Collection[str]) -> str:
    """A cell: its sign, value and interval, `≠ 15.0 (12.7–17.9) ★`; "" if the source has no score."""
    if column not in row.cells:
        return ""
    cell: Cell = row.cells[column]
    judged, doubt = cell.verdict in SIGNS, doubt_of(cell)
    value = f"{SIGNS[cell.verdict] if judged else NO_SIGN[1:]} {value_of(cell)}"
    if judged:  # n, if it is small, is written once: in front of the value
        value, doubt = with_n(cell.n, value), "" if cell.number.low is None else doubt
    note = f" ({doubt})" if doubt else ""
    star = f" {NEAREST}" if row.label in near else ""
    return f"{value}{note}{LOST if left_out_of(cell) else ''}{star}"


def _counts(block: Block, width: int) -> list[str]:
    """For each measure, the number of documents, the seeds, and how many documents were left out."""
    lines = []
    for column in block.columns:
        real, samples = block.real(column), [row for row in block.rows if column in row.cells and not row.is_real]
        own = [row.cells[column] for row in samples]
        compared = [cell for cell in own if cell.verdict != NOT_COMPARED]
        sets = [([real.cells[column]], real.label)] if real else []
        numbers = [f"{_n(cells)} of {label}" for cells, label in (*sets, (compared, "a sample")) if _n(cells)]
        parts = [f"n = {', '.join(numbers)}"] if numbers else []
        seeds = {seed for cell in own for seed in cell.seeds}
        parts += [f"seed{'s' * (len(seeds) > 1)} {seeds_in_words(seeds)}"] if seeds else []
        lost = [cell.left_out for cell in own if cell.left_out]
        parts += [f"at most {percent(max(lost))} of a sample left out"] if lost else []
        if noticed := [cell for cell in own if noticed_of(cell)]:
            ends = [noticed_of(least(noticed, key=_noticeable)) for least in (min, max)]
            parts.append(f"a difference of {' to '.join(dict.fromkeys(ends))} would be noticed in 80% of cases")
        if parts:
            lines += wrap(f"{column.measure}: {', '.join(parts)}.", width, subsequent_indent="  ")
    return lines


def _noticeable(cell: Cell) -> float:
    apart = cell.score.gap if cell.score else None
    return apart.noticeable if apart else 0.0


def _n(cells: Sequence[Cell]) -> str:
    counts = [cell.n for cell in cells if cell.n is not None]
    if not counts:
        return ""
    low, high = count(min(counts)), count(max(counts))
    return low if low == high else f"{low} to {high}"
