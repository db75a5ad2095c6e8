"""Records of a user's own file, whatever its format: JSON lines, Parquet, Arrow."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from textcritic.corpora.jsonl import json_lines
from textcritic.corpora.tables import is_table, table_rows


class Record(NamedTuple):
    """One line of JSON lines, or one row of a table.

    Attributes:
        number: of the line or the row, from 1.
        unit: "line" or "row".
        where: file and line or row, for messages.
        value: what is there; of a table a dictionary.
    """

    number: int
    unit: str
    where: str
    value: Any


def records(path: str | os.PathLike[str], keys: Collection[str], required: Collection[str]) -> Iterator[Record]:
    """Stream the records of a file or folder in order; memory does not grow with their number.

    Args:
        path: JSON lines (`.jsonl`, `.jsonl.gz`, or any name that is no table's), or a table, see `tables.table_rows`.
        keys: columns that are read of a table, where they are there; JSON lines are read whole.
        required: columns of which a table must have one; what a line of JSON must have is for the caller to check.

    Raises:
        TextcriticError: as `jsonl.json_lines` and `tables.table_rows`.
    """
    if is_table(path):
        for number, where, row in table_rows(path, keys, required):
            yield Record(number, "row", where, row)
    else:
        for number, value in json_lines(path):
            yield Record(number, "line", f"{path}:{number}", value)


def plain_name(path: str | os.PathLike[str]) -> str:
    """The name of a file or folder without the suffix of its format."""
    name = Path(path).name
    lowered = name.lower()
    for suffix in (".jsonl.gz", ".json.gz", ".jsonl", ".json", ".parquet", ".arrow"):
        if lowered.endswith(suffix):
            return name[: -len(suffix)]
    return name
