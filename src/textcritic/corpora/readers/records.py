"""Records of a user's own file, whatever its format: JSON lines, lines of text, Parquet, Arrow."""

import logging
import os
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from textcritic.corpora.readers.generations import drawn_texts
from textcritic.corpora.readers.jsonl import json_lines, text_lines
from textcritic.corpora.readers.tables import is_table, table_rows
from textcritic.runlog import log

TEXT = (".txt", ".txt.gz")
JSON = (".jsonl.gz", ".json.gz", ".jsonl", ".json")


class Record(NamedTuple):
    """One line of a file, or one row of a table.

    Attributes:
        number: of the line or the row, from 1.
        unit: "line" or "row".
        where: file and line or row, for messages.
        value: what is there; of a table a dictionary, of a line of text `{"text": line}`.
        ignored: names of keys that are not known, of all records of the file so far; who reads a part adds to it.
    """

    number: int
    unit: str
    where: str
    value: Any
    ignored: dict[str, None]


def records(path: str | os.PathLike[str], keys: Collection[str], required: Collection[str]) -> Iterator[Record]:
    """Stream the records of a file or folder in order; memory does not grow with their number.

    Keys of JSON and columns that are not known are ignored; a line on stderr names them when the file has been read.
    Lines of logs become the documents in them, see `generations.drawn_texts`; what is left out is said in such a line.

    Args:
        path: a table, see `tables.table_rows`; a text a line, see `is_text`, where an empty line is an empty text; any
            other file: JSON lines (`.jsonl`, `.jsonl.gz`), where blank lines are skipped.
        keys: that are known; of a table the columns that are read, where they are there.
        required: columns of which a table must have one; what a line of JSON must have is for the caller to check.

    Raises:
        TextcriticError: as `jsonl.text_lines`, `jsonl.json_lines`, `generations.drawn_texts` and `tables.table_rows`.
    """
    ignored: dict[str, None] = {}
    left_out: Counter[str] = Counter()
    if is_table(path):
        for number, where, row in table_rows(path, keys, required, ignored):
            yield Record(number, "row", where, row, ignored)
    else:
        texts = ((number, {"text": line}) for number, line in text_lines(path, "text"))
        for number, value in texts if is_text(path) else drawn_texts(json_lines(path), path, keys, left_out):
            if isinstance(value, dict):
                ignored |= dict.fromkeys(key for key in value if key not in keys)
            yield Record(number, "line", f"{path}:{number}", value, ignored)
    if ignored:
        _say(f"{path}: ignored, as these keys are not known: {', '.join(ignored)}")
    if left_out:
        _say(f"{path}: answers left out: {', '.join(f'{why} {count:,}' for why, count in left_out.items())}")


def is_text(path: str | os.PathLike[str]) -> bool:
    """Whether a file has a text a line: `.txt` and `.txt.gz`; one whose name says nothing, if it begins with no `{`."""
    name = str(path).lower()
    if name.endswith((*TEXT, *JSON)) or not Path(path).is_file():  # a pipe can be read only once
        return name.endswith(TEXT)
    first = next((line.lstrip() for _, line in text_lines(path, "text") if line.strip()), "{")
    return not first.startswith("{")


def plain_name(path: str | os.PathLike[str]) -> str:
    """The name of a file or folder without the suffix of its format."""
    name = Path(path).name
    lowered = name.lower()
    for suffix in (*JSON, ".parquet", ".arrow"):
        if lowered.endswith(suffix):
            return name[: -len(suffix)]
    return name


@cache
def _say(line: str) -> None:
    """Say a line on stderr, and in the log of a job; once in a process, as files may be read several times."""
    if any(isinstance(handler, logging.FileHandler) for handler in log.handlers):  # of a job
        log.warning("%s", line)
    else:
        print(line, file=sys.stderr, flush=True)
