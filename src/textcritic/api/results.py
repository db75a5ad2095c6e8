"""Results as Python has them: scores, a data frame, text, HTML for notebooks, and a page."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from textcritic.inference import Nearness
from textcritic.measures.card import Block, Column, Row, scorecard
from textcritic.measures.numbers import count, p_value, plural
from textcritic.measures.score import NOT_TESTED, Score
from textcritic.measures.score import REAL as IS_REAL
from textcritic.measures.scored import reasons_in_words
from textcritic.measures.sentences import NEAREST, doubt_of, sentences, separation_of, signs, value_of, verdict_of

if TYPE_CHECKING:
    import pandas as pd

    from textcritic.api.page import Part

HEADS = ("source", "value", "95% interval", "p", "documents", "rejected", "verdict")
WIDTH = 110  # of the text under a table

Table = tuple[str, str, Sequence[str], list[Sequence[str]]]
"""A table as it is shown: its name, what it says, its heads, and its cells."""


class _Scores(dict[str, Score]):
    """The scores of one source by measure; the error on an unknown measure lists the names."""

    def __missing__(self, measure: str) -> Score:
        raise KeyError(f"{measure!r}; the measures are {', '.join(self)}")


@dataclass(frozen=True, repr=False, kw_only=True)
class Result:
    """Scores of some sources; `print` shows them, a notebook shows a table.

    Attributes:
        title: what was done.
        scores: a score for each measure and source, real text first.
        facts: (what, words) on how the numbers were computed.
        page: the report, if one was written.
        warnings: what a reader has to know before any of the numbers, in sentences; mostly there is nothing.
    """

    title: str
    scores: tuple[Score, ...]
    facts: tuple[tuple[str, str], ...]
    page: Path | None = None
    warnings: tuple[str, ...] = ()

    @property
    def table(self) -> "pd.DataFrame":
        """A row for each source and measure, in full precision.

        Columns: `source`, `measure` (`Score.key`), `value`, `low`, `high`, `p`, `n`, `rejected`, `rejected_by_reason`
        ("reason: n; ..."), and `verdict`, "" of real text and without a test.
        """
        import pandas as pd

        rows = [
            {
                "source": score.source,
                "measure": score.key,
                **{name: getattr(score, name) for name in ("value", "low", "high", "p")},
                "n": score.n or 0,
                "rejected": score.rejected,
                "rejected_by_reason": reasons_in_words(score.rejected_by_reason),
                "verdict": "" if score.verdict in (IS_REAL, NOT_TESTED) else score.verdict,
            }
            for score in self.scores
        ]
        return pd.DataFrame(rows).astype(dict.fromkeys(("value", "low", "high", "p"), float))

    def __getitem__(self, source: str) -> dict[str, Score]:
        """The scores of a source, by measure.

        Raises:
            KeyError: there is no such source; of what is given, there is no such measure.
        """
        found = _Scores()
        for score in self.scores:
            if score.source == source:
                found.setdefault(score.key, score)
        if not found:
            raise KeyError(f"{source!r}; the sources are {', '.join(dict.fromkeys(s.source for s in self.scores))}")
        return found

    def compare(self, first: str, second: str) -> dict[str, Nearness]:
        """Which of two sources is nearer to real text, by measure; measures that cannot compare them are left out.

        For each measure: `difference`, the distance of the first source from real text minus that of the second (of
        logarithms, if `by_ratio`), its 95% interval `low` to `high`, and `p`. It is negative if the first is nearer.
        The p-values are not corrected for several comparisons; correct them if you look at many pairs.

        Raises:
            KeyError: there is no such source.
        """
        one, other = self[first], self[second]
        found = {measure: one[measure].nearer_than(other[measure]) for measure in one if measure in other}
        return {measure: near for measure, near in found.items() if near is not None}

    def nearest(self, measure: str) -> list[str]:
        """The source that is nearest to real text by a measure, and all that may be as near (see `inference.nearest`).

        An empty list if there are fewer than two samples, or real text has no interval.

        Raises:
            KeyError: there is no such measure.
        """
        names = {score.key: score.measure for score in reversed(self.scores)}
        if measure not in names:
            raise KeyError(f"{measure!r}; the measures are {', '.join(names)}")
        near = next(self.block.nearest(one) for one in self.block.columns if one.measure == names[measure])
        return [source for source, row in self._rows().items() if row.label in near]

    @cached_property
    def block(self) -> Block:
        """The scores as a block of a study's scorecard: which source is nearest, and sentences."""
        return scorecard({"": self.scores}, {"": ""})[0]

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write a page that needs no other file, with chart, tables and how they were computed; gives its path."""
        from textcritic.api.page import Part, write_page
        from textcritic.report.picture import interval_picture  # matplotlib is loaded for this alone

        parts = [
            Part(*table, self._under(column.measure), interval_picture(column, self._rows_of(column), column.section))
            for column, table in zip(self.block.columns, self.blocks(), strict=True)
        ]
        every = [*parts, *self._more_parts()]
        return write_page(path, self.title, every, self.warnings, self.facts, self._foot())

    def blocks(self) -> Iterator[Table]:
        """A table for each measure."""
        for column in self.block.columns:
            yield column.measure, column.means, HEADS, self._cells(column)

    def tables(self) -> Iterator[Table]:
        """What is printed: by default the blocks."""
        return self.blocks()

    def said_of(self, measure: str) -> str:
        """What the scores of the measure of this name say, in a sentence; "" where nothing is compared."""
        says = next((one.says for one in sentences([self.block]) if one.about == measure), "")
        return f"O{says[1:]}" if says.startswith("of ") else says

    def __repr__(self) -> str:
        lines = [self.title]
        for name, words, heads, rows in self.tables():
            head = f"{name} ({words})" if words else name
            lines += ["", *wrap(head, WIDTH), "", *_lines(heads, rows), *wrap(self._under(name), WIDTH)]
        lines += [line for words in (*self._left_out(), *self._no_interval()) for line in ("", *wrap(words, WIDTH))]
        lines += [line for words in self.warnings for line in ("", *wrap(f"warning: {words}", WIDTH))]
        lines += ["", *(line for words in self._foot() for line in wrap(words, WIDTH))]
        return "\n".join([*lines, *(["", f"report: {self.page}"] if self.page else [])])

    def _repr_html_(self) -> str:
        import pandas as pd

        parts = [f"<p><strong>{escape(self.title)}</strong></p>"]
        for name, words, heads, rows in self.tables():
            table = pd.DataFrame(rows, columns=list(heads))
            parts.append(f"<p>{escape(f'{name} ({words})' if words else name)}</p>")
            parts.append(table.to_html(index=False, border=0, escape=True))
            parts += [f"<p>{escape(words)}</p>"] if (words := self._under(name)) else []
        parts += [f"<p>{escape(words)}</p>" for words in (*self._left_out(), *self._no_interval())]
        parts += [f"<p><strong>Warning.</strong> {escape(words)}</p>" for words in self.warnings]
        foot = " ".join([*self._foot(), *([f"Report: {self.page}"] if self.page else [])])
        return "<div>" + "\n".join([*parts, f"<p>{escape(foot)}</p>"]) + "</div>"

    def _rows(self) -> dict[str, Row]:
        """The row of each source, in the order of the scores; a row may have a longer label than a score."""
        row_of = {id(s): row for row in self.block.rows for cell in row.cells.values() for s in cell.scores}
        return {score.source: row_of[id(score)] for score in self.scores}

    def _rows_of(self, column: Column) -> list[Row]:
        """The rows of a measure, in the order of the scores."""
        return [row for row in self._rows().values() if column in row.cells]

    def _left_out(self) -> list[str]:
        """How many documents of each source were rejected, and why."""
        lines = []
        counts = {(score.source, *score.rejected_by_reason.items()) for score in self.scores}
        for score in self.scores:
            if score.rejected_by_reason:
                reasons = "; ".join(f"{reason}: {n:,}" for reason, n in score.rejected_by_reason.items() if n)
                differs = sum(source == score.source for source, *_ in counts) > 1
                of = f", {score.measure}" if differs else ""
                lines.append(f"{score.source}{of}: {plural(score.rejected, 'document')} rejected ({reasons})")
        return list(dict.fromkeys(lines))

    def _no_interval(self) -> Iterator[str]:
        """Why samples have no interval, where the table does not say how few documents there are."""
        for column in self.block.columns:
            for row in self._rows_of(column):
                score, *_ = row.cells[column].scores
                if score.low is None and score.because and not (score.is_real or doubt_of(row.cells[column])):
                    yield f"{score.source}, {score.measure}: {score.because}"

    def _more_parts(self) -> "Iterator[Part]":
        """What the page has besides the measures."""
        yield from ()

    def _under(self, name: str) -> str:
        """The sentences under the table of this name; by default those of the measure."""
        columns = [column for column in self.block.columns if column.measure == name]
        return " ".join(filter(None, (self.said_of(name), *(separation_of(self.block, one) for one in columns))))

    def _foot(self) -> list[str]:
        """What the signs mean, and what chance gives."""
        return signs([self.block])

    def _cells(self, column: Column) -> list[Sequence[str]]:
        """The cells of a measure's table, sources in their order."""
        near = self.block.nearest(column)
        found: list[Sequence[str]] = []
        for row in self._rows_of(column):
            cell = row.cells[column]
            label = cell.scores[0].source
            p = "" if cell.p is None else p_value(cell.p).removeprefix("p ").removeprefix("= ")
            left_out = count(sum(score.left_out for score in cell.scores))
            verdict = " ".join(filter(None, (verdict_of(cell), NEAREST * (row.label in near))))
            found.append((label, value_of(cell), doubt_of(cell), p, count(cell.n), left_out, verdict))
        return found


def _lines(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of a table: words flush left, numbers flush right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for cells in (heads, *rows):
        name, *numbers, verdict = (
            cell.ljust(width) if place in (0, len(heads) - 1) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        yield "  ".join([name, *numbers, verdict]).rstrip()
