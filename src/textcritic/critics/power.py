"""The table of every study of power: how often a test notices a fault that was put into real text on purpose."""

from collections.abc import Iterable

import pyarrow as pa

from textcritic.inference import POWER_COLUMNS
from textcritic.values import Row

TYPES = {float: pa.float64(), int: pa.int64()}
POWER_SCHEMA = pa.schema([("kind", pa.string()), *((name, TYPES[of]) for name, of in POWER_COLUMNS.items())])
"""A row for each kind of fault, share and number of documents on a side; the columns as `inference.power_rows` says."""


def power_table(rows: Iterable[Row], *more: pa.Field) -> pa.Table:
    """Rows as a table of schema `POWER_SCHEMA`, and of further columns of a kind."""
    return pa.Table.from_pylist([dict(row) for row in rows], schema=pa.schema([*POWER_SCHEMA, *more]))
