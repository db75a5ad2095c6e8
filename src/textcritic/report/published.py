"""The papers' numbers: read from config/published/*.csv, looked up beside ours, never mixed in."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from textcritic.errors import TextcriticError

COLUMNS = ("table", "corpus", "setting", "generator", "metric", "value", "source")


@dataclass(frozen=True, slots=True)
class Published:
    """Published values by (corpus, setting, generator, metric)."""

    values: Mapping[tuple[str, str, str, str], float]

    def value(self, corpus: str, setting: str, generator: str, metric: str) -> float | None:
        """The published value, or None. The real text ("data") belongs to both settings, so its setting is ""."""
        return self.values.get((corpus, "" if generator == "data" else setting, generator, metric))


def read_published(path: str | os.PathLike[str] | None) -> Published:
    """Read a file of published values.

    Args:
        path: CSV with the columns `table,corpus,setting,generator,metric,value,source`; None means nothing published.

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
    values: dict[tuple[str, str, str, str], float] = {}
    for line, row in enumerate(rows.to_dict("records"), start=2):
        key = (row["corpus"], row["setting"], row["generator"], row["metric"])
        value = _number(row["value"], f"{path}: line {line}")
        if values.setdefault(key, value) != value:
            raise TextcriticError(f"{path}: line {line}: {' '.join(filter(None, key))} has two values; keep one")
    return Published(values)


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise TextcriticError(f"{where}: {text!r} is not a number") from error
