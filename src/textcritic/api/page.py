"""The page of a result that was computed in this process: chart, tables, and how the numbers were computed."""

import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from platform import python_version
from typing import Any

from markupsafe import Markup

from textcritic import __version__
from textcritic.api.results import MEASURES, REAL, Result
from textcritic.files import write_text
from textcritic.measures.numbers import p_value
from textcritic.report.charts import Mark, interval_chart
from textcritic.report.page import TEMPLATES
from textcritic.report.section import environment
from textcritic.report.sheet import Cell, Sheet, to_html
from textcritic.report.style import save
from textcritic.report.svg import inline_svg
from textcritic.runlog import versions

WIDTHS = {"wide": 8.2, "narrow": 4.2}
PACKAGES = ("numpy", "pyarrow", "scipy", "torch")


def write_page(result: Result, path: str | os.PathLike[str]) -> Path:
    """Write a result as one self-contained HTML file.

    Raises:
        TextcriticError: the file cannot be written.
    """
    target = Path(path).expanduser()
    packages = ", ".join(f"{name} {number}" for name, number in versions(*PACKAGES).items())
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC by textcritic {__version__}, Python {python_version()}, {packages}"
    page = (
        environment(TEMPLATES)
        .get_template("result.html.j2")
        .render(
            title=result.title,
            warnings=result.warnings,
            parts=_parts(result),
            facts=[*result.facts, ("Made", made)],
        )
    )
    write_text(target, page)
    return target


def _parts(result: Result) -> list[dict[str, Any]]:
    parts = []
    for (name, words, heads, rows), measure in zip(
        result.blocks(), dict.fromkeys(score.measure for score in result.scores), strict=True
    ):
        header = [[Cell(head.capitalize() if head == "source" else head) for head in heads]]
        body = [[Cell(row[0], heading=True), *map(Cell, row[1:])] for row in rows]
        sheet = Sheet(measure.replace("_", "-"), name, header, body)
        parts.append({"name": name, "words": words, "table": Markup(to_html(sheet)), "chart": _chart(result, measure)})
    return parts


def _chart(result: Result, measure: str) -> Markup:
    """The values and intervals of a measure, in a wide and a narrow form of which the page shows one."""
    name = MEASURES[measure][0]
    marks = [
        Mark(
            label=score.source,
            values=(score.value,),
            intervals=((score.value if score.low is None else score.low, score.high or score.value),),
            note="" if score.p is None else p_value(score.p),
            setting="" if score.source == REAL else "w-title",
        )
        for score in result.scores
        if score.measure == measure
    ]
    drawn = []
    with tempfile.TemporaryDirectory() as folder:
        for form, width in WIDTHS.items():
            file = Path(folder) / form
            save(interval_chart({"": marks}, width, name), file, formats=("svg",))
            svg = inline_svg(file.with_name(f"{form}.svg"), f"{measure}-{form}", f"{name} of each source")
            drawn.append(f'<div class="{form}">{svg}</div>')
    return Markup("".join(drawn))
