"""The papers' numbers: read from config/published/{study}/{kind}.csv, shown next to ours, never mixed with them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TypeAlias

import pandas as pd

from textcritic.errors import TextcriticError, first_line
from textcritic.values import Row

KEYS = ("corpus", "setting", "generator", "decoding")
"""The columns that say what a published value belongs to, for kinds that compare samples."""
Cell: TypeAlias = tuple[str, ...]
"""The values of the key columns, then the metric."""


@dataclass(frozen=True, slots=True)
class Published:
    """Published values, and notes on some of them, by `Cell`.

    An empty key matches every value: a published Latent PPL with the decoding "" is shown with every decoding.

    Attributes:
        values: by cell.
        keys: the key columns.
        notes: what the column `note` says about a value.
        tables: the tables of the paper that have a value; for a value from its text, what the column `table` says.
    """

    values: Mapping[Cell, float]
    keys: Sequence[str] = KEYS
    notes: Mapping[Cell, str] = field(default_factory=dict)
    tables: Mapping[Cell, frozenset[str]] = field(default_factory=dict)

    def value(self, metric: str, place: Row) -> float | None:
        """The published value, or None.

        Args:
            metric: its name.
            place: the key columns of a row, among others.
        """
        cell = self._cell(metric, place)
        return None if cell is None else self.values[cell]

    def beside(self, metric: str, place: Row, value: float | None, ending: str = "") -> dict[str, float | None]:
        """The columns `published` and `difference`, our `value` minus it; `ending` is behind both names."""
        printed = self.value(metric, place)
        gap = None if printed is None or value is None else value - printed
        return {f"published{ending}": printed, f"difference{ending}": gap}

    def note(self, metric: str, place: Row) -> str:
        """What the column `note` says about the published value, or ""."""
        cell = self._cell(metric, place)
        return "" if cell is None else self.notes.get(cell, "")

    def of_source(self, place: Row) -> dict[str, float]:
        """Every published value of one source, by metric."""
        names = dict.fromkeys(cell[-1] for cell in self.values)
        values = {metric: self.value(metric, place) for metric in names}
        return {metric: value for metric, value in values.items() if value is not None}

    def in_table(self, number: str) -> "Published":
        """The values that this table of the paper has, and those from its text; maybe none."""
        cells = [c for c, tables in self.tables.items() if number in tables or not any(t.isdigit() for t in tables)]
        return replace(self, values={cell: self.values[cell] for cell in cells})

    def _cell(self, metric: str, place: Row) -> Cell | None:
        """The matching cell with the fewest empty keys."""
        texts = ["" if place.get(key) is None else str(place[key]) for key in self.keys]
        choices = product(*((text, "") if text else ("",) for text in texts))
        return next((cell for choice in choices if (cell := (*choice, metric)) in self.values), None)


def read_published(path: str | os.PathLike[str] | None, keys: Sequence[str] = KEYS) -> Published:
    """Read a file of published values.

    Args:
        path: CSV with the columns `table`, the keys, `metric,value,source,note`; None means nothing published.
        keys: the columns that say what a value belongs to.

    Raises:
        TextcriticError: no such file, one that is not CSV in UTF-8, a missing column, a value that is not a number,
            two values for one cell.
    """
    if path is None:
        return Published({}, keys)
    if not Path(path).is_file():
        raise TextcriticError(f"{path}: no such file; `published` names a folder of config/published, or is null")
    try:
        rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (ValueError, OSError) as error:  # pandas' own errors are kinds of ValueError
        raise TextcriticError(f"{path}: not CSV in UTF-8 ({first_line(error)}); save it as that") from error
    columns = ("table", *keys, "metric", "value", "source", "note")
    if tuple(rows.columns) != columns:
        raise TextcriticError(f"{path}: the columns are {', '.join(rows.columns)}; they should be {', '.join(columns)}")
    values: dict[Cell, float] = {}
    notes: dict[Cell, str] = {}
    tables: dict[Cell, frozenset[str]] = {}
    for line, row in enumerate(rows.to_dict("records"), start=2):
        cell: Cell = (*(row[key] for key in keys), row["metric"])
        value = _number(row["value"], f"{path}: line {line}")
        if values.setdefault(cell, value) != value:
            raise TextcriticError(f"{path}: line {line}: {' '.join(filter(None, cell))} has two values; keep one")
        tables[cell] = tables.get(cell, frozenset()) | {row["table"]}
        if row["note"]:
            notes[cell] = row["note"]
    return Published(values, keys, notes, tables)


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise TextcriticError(f"{where}: {text!r} is not a number") from error
