"""A table: its recipe, and its files: CSV (tidy, full precision), LaTeX (booktabs) and HTML."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from textcritic.errors import TextcriticError, first_line
from textcritic.files import whole_file, write_text
from textcritic.measures.material import TEXT, FilesOf, Material
from textcritic.measures.published import Published
from textcritic.plan.sources import RUN
from textcritic.report.rehearsed import CAPTION, rehearsed
from textcritic.report.sheet import Line, Sheet, plain_sheet, to_html, to_latex

REHEARSED = "rehearsal"
"""The last column of the CSV of a rehearsal; readers of rows do not get it."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table for reading, and the rows in long format that it was made from."""

    sheet: Sheet
    rows: pd.DataFrame


def recipe(
    rows: Callable[[Material[FilesOf]], pd.DataFrame], sheet: Callable[..., Sheet]
) -> Callable[[Material[FilesOf]], Table]:
    """How a table is made: from its rows in long format, and the sheet that people read, from rows and names."""

    def table(material: Material[FilesOf]) -> Table:
        return Table(sheet(material.get(rows), material.names), material.get(rows))

    return table


def published_table(published: Published, number: str) -> Table:
    """A table of the paper that cannot be reproduced here: its published values, one row each, as in their file.

    Args:
        published: those of the kind.
        number: of the table in the paper.
    """
    columns = [*published.keys, "metric"]
    cells = [(cell, value) for cell, value in published.values.items() if number in published.tables[cell]]
    rows = pd.DataFrame([[*cell, value] for cell, value in cells], columns=[*columns, "published"])
    heads = [name.replace("_", " ").capitalize() for name in [*columns, "published"]]
    body: list[Line] = [[*cell, f"{value:g}"] for cell, value in cells]
    return Table(plain_sheet("published", "", heads, body, ["Published values alone."], stubs=len(columns)), rows)


def write_table(table: Table, folder: str | Path) -> list[Path]:
    """Write {name}.csv, {name}.tex and {name}.html; returns the paths."""
    base = Path(folder) / table.sheet.name
    sheet, rows = table.sheet, table.rows
    if rehearsed():
        sheet, rows = replace(sheet, caption=f"{CAPTION} {sheet.caption}"), rows.assign(**{REHEARSED: CAPTION})
    write_text(base.with_suffix(".tex"), to_latex(sheet))
    write_text(base.with_suffix(".html"), to_html(sheet))
    with whole_file(base.with_suffix(".csv")) as temporary:
        rows.to_csv(temporary, index=False, lineterminator="\n")
    return [base.with_suffix(suffix) for suffix in (".csv", ".tex", ".html")]


def read_rows(folder: str | Path, name: str, text: Sequence[str] = ()) -> pd.DataFrame:
    """The rows of a table that was written before.

    Args:
        folder: where the table is.
        name: of the table.
        text: further columns that are text, in addition to `TEXT`.

    Raises:
        TextcriticError: the table has not been made, or is no longer CSV in UTF-8.
    """
    path = Path(folder) / f"{name}.csv"
    if not path.is_file():
        raise TextcriticError(f"{path}: no such file; make the tables of the experiment first")
    try:
        columns = list(pd.read_csv(path, nrows=0).columns)
        numbers = {column: [""] for column in columns if column not in (*TEXT, *text)}
        rows = pd.read_csv(path, keep_default_na=False, na_values=numbers)
        rows = rows.drop(columns=REHEARSED, errors="ignore")
        return rows.astype({column: "Int64" for column in RUN if column in rows})
    except (ValueError, TypeError, OSError) as error:  # pandas' own errors are kinds of ValueError
        raise TextcriticError(
            f"{path}: not a table as it was made ({first_line(error)}); delete it and rerun"
        ) from error
