"""The papers' numbers: read from config/published/*.csv, looked up beside ours, never mixed in."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

import pandas as pd

from textcritic.errors import TextcriticError

COLUMNS = ("table", "corpus", "setting", "generator", "decoding", "metric", "value", "source", "note")
APPENDIX = "E"  # in place of a table's number: said in the text of the model criticism paper's appendix E
# Corpus, setting, generator, decoding and metric.
Cell: TypeAlias = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Published:
    """Published values, and what is to be said beside some of them, by `Cell`.

    The real text ("data") belongs to both settings, so its setting is "". A value whose decoding is "" stands beside
    every decoding, any other beside that one only. `tables` says in which tables of the paper a value stands,
    or that it stands in its `APPENDIX`.
    """

    values: Mapping[Cell, float]
    notes: Mapping[Cell, str] = field(default_factory=dict)
    tables: Mapping[Cell, frozenset[str]] = field(default_factory=dict)

    def value(self, corpus: str, setting: str, generator: str, metric: str, decoding: str = "") -> float | None:
        """The published value, or None."""
        cell = self._cell(corpus, setting, generator, metric, decoding)
        return None if cell is None else self.values[cell]

    def note(self, corpus: str, setting: str, generator: str, metric: str, decoding: str = "") -> str:
        """What the file says beside the published value, or ""."""
        cell = self._cell(corpus, setting, generator, metric, decoding)
        return "" if cell is None else self.notes.get(cell, "")

    def of_source(self, corpus: str, setting: str, generator: str, decoding: str = "") -> dict[str, float]:
        """Every published value of one source, by metric."""
        place = (corpus, "" if generator == "data" else setting, generator)
        metrics = dict.fromkeys(cell[4] for cell in self.values if cell[:3] == place and cell[3] in (decoding, ""))
        found = {metric: self.value(*place, metric, decoding) for metric in metrics}
        return {metric: value for metric, value in found.items() if value is not None}

    def in_tables(self, *numbers: str) -> "Published":
        """The values that stand in these tables of the paper (or in its `APPENDIX`) and in no other; maybe none."""
        cells = [cell for cell, tables in self.tables.items() if tables & set(numbers)]
        return replace(self, values={cell: self.values[cell] for cell in cells})

    def _cell(self, corpus: str, setting: str, generator: str, metric: str, decoding: str) -> Cell | None:
        place = (corpus, "" if generator == "data" else setting, generator)
        return next((cell for name in (decoding, "") if (cell := (*place, name, metric)) in self.values), None)


def read_published(path: str | os.PathLike[str] | None) -> Published:
    """Read a file of published values.

    Args:
        path: CSV with the columns `table,corpus,setting,generator,decoding,metric,value,source,note`; None means
            nothing published.

    Raises:
        TextcriticError: no such file, a missing column, a value that is no number, two values for one cell.
    """
    if path is None:
        return Published({})
    if not Path(path).is_file():
        raise TextcriticError(f"{path}: no such file; `published` names a file of config/published, or is null")
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    if tuple(rows.columns) != COLUMNS:
        raise TextcriticError(f"{path}: the columns are {', '.join(rows.columns)}; they should be {', '.join(COLUMNS)}")
    values: dict[Cell, float] = {}
    notes: dict[Cell, str] = {}
    tables: dict[Cell, frozenset[str]] = {}
    for line, row in enumerate(rows.to_dict("records"), start=2):
        cell: Cell = (row["corpus"], row["setting"], row["generator"], row["decoding"], row["metric"])
        value = _number(row["value"], f"{path}: line {line}")
        if values.setdefault(cell, value) != value:
            raise TextcriticError(f"{path}: line {line}: {' '.join(filter(None, cell))} has two values; keep one")
        tables[cell] = tables.get(cell, frozenset()) | {row["table"]}
        if row["note"]:
            notes[cell] = row["note"]
    return Published(values, notes, tables)


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise TextcriticError(f"{where}: {text!r} is not a number") from error
