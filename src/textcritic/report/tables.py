"""A table: what it is made of, its recipe, and its files: CSV (tidy, full precision), LaTeX (booktabs) and HTML."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from textcritic.errors import TextcriticError, first_line
from textcritic.files import whole_file, write_text
from textcritic.plan.sources import KEYS, RUN
from textcritic.report.names import Names
from textcritic.report.published import Published
from textcritic.report.sheet import Sheet, to_html, to_latex

Shared = TypeVar("Shared")

TEXT = (*(key for key in KEYS if key not in RUN), "label", "rejected_by_reason")
"""Columns that are text in the tables of every kind: an empty cell there is an empty text, not a missing number."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table for reading, and the rows in long format that it was made from."""

    sheet: Sheet
    rows: pd.DataFrame


class Material:
    """What the tables of one experiment are made of; what several of them share is computed once.

    Args:
        files: what is read.
        published: values that stand beside ours.
        names: what the sources are called; by default as `Names.of` calls the samples.
    """

    def __init__(self, files: Any, published: Published | None = None, names: Any = None) -> None:
        self.files, self.published = files, published or Published({})
        self.names: Any = names if names is not None else Names.of(getattr(files, "samples", ()))
        self._got: dict[Callable[..., Any], Any] = {}

    def get(self, function: Callable[["Material"], Shared]) -> Shared:
        """What a function makes of this, such as rows; computed when it is first asked for."""
        if function not in self._got:
            self._got[function] = function(self)
        shared: Shared = self._got[function]
        return shared


def recipe(rows: Callable[[Material], pd.DataFrame], sheet: Callable[..., Sheet]) -> Callable[[Material], Table]:
    """How a table is made: its rows in long format, and the sheet that people read, made of rows and names."""

    def table(material: Material) -> Table:
        return Table(sheet(material.get(rows), material.names), material.get(rows))

    return table


def write_table(table: Table, folder: str | Path) -> list[Path]:
    """Write {name}.csv, {name}.tex and {name}.html; returns the paths."""
    base = Path(folder) / table.sheet.name
    write_text(base.with_suffix(".tex"), to_latex(table.sheet))
    write_text(base.with_suffix(".html"), to_html(table.sheet))
    with whole_file(base.with_suffix(".csv")) as temporary:
        table.rows.to_csv(temporary, index=False, lineterminator="\n")
    return [base.with_suffix(suffix) for suffix in (".csv", ".tex", ".html")]


def read_rows(folder: str | Path, name: str, text: Sequence[str] = ()) -> pd.DataFrame:
    """The rows of a table that was written before.

    Args:
        folder: where the table is.
        name: of the table.
        text: further columns that are text, beside `TEXT`.

    Raises:
        TextcriticError: the table has not been material, or is no longer CSV in UTF-8.
    """
    path = Path(folder) / f"{name}.csv"
    if not path.is_file():
        raise TextcriticError(f"{path}: no such file; make the tables of the experiment first")
    try:
        columns = list(pd.read_csv(path, nrows=0).columns)
        numbers = {column: [""] for column in columns if column not in (*TEXT, *text)}
        rows = pd.read_csv(path, keep_default_na=False, na_values=numbers)
        return rows.astype({column: "Int64" for column in RUN if column in rows})
    except (ValueError, TypeError, OSError) as error:  # pandas' own errors are kinds of ValueError
        raise TextcriticError(
            f"{path}: not a table as it was made ({first_line(error)}); delete it and rerun"
        ) from error
