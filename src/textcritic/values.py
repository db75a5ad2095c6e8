"""Names for mappings whose keys differ from table to table and from file to file.

A mapping whose keys are known is a dataclass or an entry (`plan.entries`), never one of these.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]
"""A row of a table: by column, a text, a number, a truth value or None. The columns are the table's own."""
JsonObject: TypeAlias = dict[str, Any]
"""An object of a JSON file: by key, whatever JSON can hold. The reader of the file checks what it needs of it."""
