"""A scorecard on the report's front page."""

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from markupsafe import Markup

from textcritic.inference import ALPHA, DIFFERENT, Nearness
from textcritic.measures.card import MOST_LOST, Block, Cell, Column, Row
from textcritic.measures.numbers import count, counted, interval, listed, p_value, percent
from textcritic.measures.score import NOT_COMPARED, Score
from textcritic.measures.sentences import (
    NEAREST,
    SIGNS,
    doubt_of,
    left_out_of,
    legend,
    noticed_of,
    separations,
    short_legend,
    value_of,
    verdict_of,
)
from textcritic.report.section import environment, plain_id
from textcritic.report.sheet import Cell as SheetCell
from textcritic.report.sheet import Line, Sheet, plain_sheet, to_html, unrepeated

MOST_ROWS = 40
"""A card with more rows shows the first corpus only; a click opens each of the others."""
MOST_PAIRS = 66
"""The most pairs of samples that the page compares; if there are more, it only marks the nearest samples."""


def card_html(blocks: Sequence[Block], templates: Path) -> Markup:
    """The card: a table for each corpus; a click shows n, seeds and p-values of every number.

    Args:
        blocks: as `card.scorecard` makes them.
        templates: the folder with scorecard.html.j2.
    """
    long = sum(len(block.rows) for block in blocks) > MOST_ROWS
    variables = {
        "blocks": [_block(block) for block in blocks],
        "folded": long,
        "legend": [*short_legend(blocks), *separations(blocks)],
        "meanings": [*legend(blocks), *_noticed(blocks), *_left_out(blocks)],
        "numbers": Markup(to_html(numbers_sheet(blocks))),
        "pairs": [Markup(to_html(sheet)) for block in blocks if (sheet := pairs_sheet(block, len(blocks) > 1))],
    }
    return Markup(environment(templates).get_template("scorecard.html.j2").render(**variables))


def _noticed(blocks: Sequence[Block]) -> list[str]:
    """Explains "would be noticed", if a cell names such a difference."""
    named = any(noticed_of(cell) for block in blocks for row in block.rows for cell in row.cells.values())
    return ["A difference that would be noticed is one that has p < 0.05 in 80% of cases."] * named


def _left_out(blocks: Sequence[Block]) -> list[str]:
    """How much could not be scored, at most."""
    lost = [cell.left_out for block in blocks for row in block.rows if not row.is_real for cell in row.cells.values()]
    if not lost:
        return []
    if not max(lost):
        return ["No document of a sample is left out."]
    return [f"At most {percent(max(lost))} of a sample's documents are left out. The section of the measure says why."]


def numbers_sheet(blocks: Sequence[Block]) -> Sheet:
    """Every score of a card with its n, seed and p-value: one row a score."""
    heads = ("Source", "Measure", "Value", "95% interval", "n", "Left out", "Seed", "p-value")
    body: list[Line] = []
    for block in blocks:
        for row in block.rows:
            name = f"{block.corpus}: {row.label}" if len(blocks) > 1 else row.label
            for column, cell in row.cells.items():
                redrawn = 0 < len(cell.seeds) < len(cell.scores)
                body += [[name, column.measure, *_numbers(score, redrawn)] for score in cell.scores]
    return plain_sheet("scorecard", "Every number of the scorecard", heads, unrepeated(body), stubs=2)


def pairs_sheet(block: Block, several: bool = False) -> Sheet | None:
    """Which of two samples is nearer to real text by each measure; one row a pair.

    Args:
        block: of the scorecard.
        several: whether the scorecard has other blocks, so that the caption names the corpus.

    Returns:
        None where there is no pair, or there are more than `MOST_PAIRS`.
    """
    differences = {column: block.pairs(column) for column in block.columns}
    pairs = list(dict.fromkeys(pair for by_pair in differences.values() for pair in by_pair))
    if not 0 < len(pairs) <= MOST_PAIRS:
        return None
    columns = [column for column in block.columns if differences[column]]
    body: list[Line] = [
        [*(SheetCell(label, heading=True) for label in pair)]
        + [_nearer(pair, differences[column].get(pair)) for column in columns]
        for pair in pairs
    ]
    caption = f"Which of two samples is nearer to real text{f' ({block.corpus})' if several else ''}"
    heads = ("Sample", "Other sample", *(column.measure for column in columns))
    return plain_sheet(f"pairs-{plain_id(block.corpus)}", caption, heads, body, stubs=2)


def _nearer(pair: tuple[str, str], nearness: Nearness | None) -> str:
    if nearness is None:
        return ""
    p = p_value(nearness.p)
    return f"cannot be said ({p})" if nearness.p >= ALPHA else f"{pair[nearness.difference > 0]} ({p})"


def _numbers(score: Score, redrawn: bool) -> list[str]:
    seed = "" if score.seed is None else f"{score.seed}{f', draw {score.draw}' if redrawn else ''}"
    p = "" if score.p is None else p_value(score.p).removeprefix("p = ").removeprefix("p ")
    ends = "" if score.number.low is None else interval(score.number.low, score.number.high)
    nothing = ("", "") if score.verdict == NOT_COMPARED else ("exact value", "")
    n = nothing if score.n is None else (count(score.n), count(score.left_out))
    return [counted(score.number.value, score.number.low), ends, *n, seed, p]


def _block(block: Block) -> dict[str, object]:
    from textcritic.report.picture import picture  # matplotlib is loaded for this alone

    near = {column: block.nearest(column) for column in block.columns}
    experiments = [(name, list(columns)) for name, columns in groupby(block.columns, lambda column: column.experiment)]
    return {
        "corpus": block.corpus,
        "experiments": [{"id": name, "title": own[0].title, "span": len(own)} for name, own in experiments],
        "columns": [{"measure": column.measure, "section": column.section} for column in block.columns],
        "rows": [_row(row, block.columns, near) for row in block.rows],
        "picture": picture(block, plain_id(f"picture-{block.corpus}")),
        "tally": _tally(block),
    }


def _tally(block: Block) -> str:
    """The heading of a corpus whose table has to be opened: how many samples differ from real text."""
    parts: list[str] = []
    for column in block.columns:
        if block.real(column) is None:
            continue
        verdicts = [cell.verdict for _, cell in block.samples(column)]
        what = "" if parts else " samples differ from real text"
        parts.append(f"{verdicts.count(DIFFERENT)} of {len(verdicts)}{what} by {column.measure}")
    return f"{block.corpus}: {listed(parts)}"


def _row(row: Row, columns: Sequence[Column], near: Mapping[Column, Collection[str]]) -> dict[str, object]:
    kind = "real" if row.is_real else "baseline" if row.baseline else "control" if row.control else "sample"
    cells = [
        _cell(row.cells[column], column, row.label in near[column]) if column in row.cells else None
        for column in columns
    ]
    return {"label": row.label, "name": row.name if row.name != row.label else "", "kind": kind, "cells": cells}


def _cell(cell: Cell, column: Column, near: bool) -> dict[str, str]:
    noticed = noticed_of(cell)
    value, of, most = value_of(cell).partition(" of ")
    return {
        "measure": column.measure,
        "section": column.section,
        "value": value,
        "doubt": f"of {most}" if of else "" if cell.verdict in SIGNS and cell.number.low is None else doubt_of(cell),
        "words": verdict_of(cell),
        "nearest": NEAREST if near else "",
        "verdict": f"{cell.verdict.replace(' ', '-')}{' lost' if cell.left_out > MOST_LOST else ''}",
        "left_out": left_out_of(cell),
        "noticed": f"{noticed} would be noticed" if noticed else "",
        "hint": _hint(cell),
    }


def _hint(cell: Cell) -> str:
    """What the cell shows when the pointer is over it; the table of every number has the same facts."""
    parts = [] if cell.verdict == NOT_COMPARED else ["exact value" if cell.n is None else f"n = {count(cell.n)}"]
    if cell.seeds:
        parts.append(f"seed{'s' * (len(cell.seeds) > 1)} {', '.join(map(str, cell.seeds))}")
    if cell.p is not None:
        parts.append(p_value(cell.p))
    parts += dict.fromkeys(score.because for score in cell.scores if score.because)
    return ", ".join(parts)
