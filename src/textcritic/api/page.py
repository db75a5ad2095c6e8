"""A page of results that were computed in this process: charts, tables, and how the numbers were computed."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from platform import python_version

from markupsafe import Markup

from textcritic import __version__
from textcritic.files import write_text
from textcritic.measures.card import Column, Row
from textcritic.report.page import TEMPLATES
from textcritic.report.picture import interval_picture
from textcritic.report.section import environment
from textcritic.report.sheet import Cell, Sheet, to_html
from textcritic.runlog import versions

PACKAGES = ("numpy", "pyarrow", "scipy", "torch")


@dataclass(frozen=True, slots=True)
class Part:
    """One measure on the page.

    Attributes:
        column: the measure.
        sentence: what its scores say, or "".
        heads, cells: of its table.
        rows: the sources in the table's order, with their scores.
    """

    column: Column
    sentence: str
    heads: Sequence[str]
    cells: Sequence[Sequence[str]]
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page says.

    Attributes:
        title: its heading.
        parts: the measures in their order.
        warnings: sentences over the tables.
        facts: (what, words) on how the numbers were computed.
        signs: what the signs in the tables mean, in sentences.
    """

    title: str
    parts: Sequence[Part]
    warnings: Sequence[str]
    facts: Sequence[tuple[str, str]]
    signs: Sequence[str]

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write it as one self-contained HTML file; gives its path.

        Raises:
            TextcriticError: the file cannot be written.
        """
        target = Path(path).expanduser()
        packages = ", ".join(f"{name} {number}" for name, number in versions(*PACKAGES).items())
        made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC by textcritic {__version__}, Python {python_version()}"
        page = (
            environment(TEMPLATES)
            .get_template("result.html.j2")
            .render(
                title=self.title,
                warnings=self.warnings,
                parts=[self._rendered(part) for part in self.parts],
                signs=self.signs,
                facts=[*self.facts, ("Made", f"{made}, {packages}")],
            )
        )
        write_text(target, page)
        return target

    def _rendered(self, part: Part) -> dict[str, str]:
        """What the template shows of a measure."""
        header = [[Cell(head.capitalize() if head == "source" else head) for head in part.heads]]
        body = [[Cell(row[0], heading=True), *map(Cell, row[1:])] for row in part.cells]
        column = part.column
        sheet = Sheet(column.section, column.measure, header, body)
        return {
            "name": column.measure,
            "words": column.means,
            "sentence": part.sentence,
            "table": Markup(to_html(sheet)),
            "chart": interval_picture(column, part.rows, column.section),
        }
