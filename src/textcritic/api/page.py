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


def write_page(
    path: str | os.PathLike[str],
    title: str,
    parts: Sequence[Part],
    warnings: Sequence[str],
    facts: Sequence[tuple[str, str]],
    signs: Sequence[str],
) -> Path:
    """Write a result as one self-contained HTML file; gives its path.

    Args:
        path: of the file.
        title: its heading.
        parts: the measures in their order.
        warnings: sentences over the tables.
        facts: (what, words) on how the numbers were computed.
        signs: what the signs in the tables mean, in sentences.

    Raises:
        TextcriticError: the file cannot be written.
    """
    target = Path(path).expanduser()
    packages = ", ".join(f"{name} {number}" for name, number in versions(*PACKAGES).items())
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC by textcritic {__version__}, Python {python_version()}"
    template = environment(TEMPLATES).get_template("result.html.j2")
    page = template.render(
        title=title,
        warnings=warnings,
        parts=[_rendered(part) for part in parts],
        signs=signs,
        facts=[*facts, ("Made", f"{made}, {packages}")],
    )
    write_text(target, page)
    return target


def _rendered(part: Part) -> dict[str, str]:
    """What the template shows of a measure."""
    header = [[Cell(head.capitalize() if head == "source" else head) for head in part.heads]]
    body = [[Cell(row[0], heading=True), *map(Cell, row[1:])] for row in part.cells]
    table = Markup(to_html(Sheet(part.name, part.name, header, body)))
    return {"name": part.name, "words": part.words, "sentence": part.sentence, "table": table, "chart": part.chart}
