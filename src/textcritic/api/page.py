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
from textcritic.report.page import TEMPLATES
from textcritic.report.section import environment
from textcritic.report.sheet import Cell, Sheet, to_html
from textcritic.runlog import versions

PACKAGES = ("numpy", "pyarrow", "scipy", "torch")


@dataclass(frozen=True, slots=True)
class Part:
    """One table of the page.

    Attributes:
        name: of the measure.
        words: what is measured.
        heads, cells: of the table.
        sentence: what it says, or "".
        chart: what it looks like.
    """

    name: str
    words: str
    heads: Sequence[str]
    cells: Sequence[Sequence[str]]
    sentence: str
    chart: Markup


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
        return {
            "name": part.name,
            "words": part.words,
            "sentence": part.sentence,
            "table": Markup(to_html(Sheet(part.name, part.name, header, body))),
            "chart": part.chart,
        }
