"""Rows of Parquet, Arrow, CSV and TSV files, of folders of them, and of data sets that the library `datasets` saved."""

import csv
import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from textcritic.corpora.readers.generations import ANSWERS
from textcritic.corpora.readers.jsonl import LONGEST_LINE, text_lines
from textcritic.corpora.readers.packed import plain_suffix
from textcritic.corpora.readers.reading import some
from textcritic.corpora.readers.values import close_to
from textcritic.errors import TextcriticError
from textcritic.values import Row

SEPARATED = {".csv": ",", ".tsv": "\t"}
"""Suffixes of tables of text, and what is between the cells of a row."""
OTHER_SEPARATORS = ";\t|"  # some programs write .csv files with one of them
csv.field_size_limit(LONGEST_LINE)
SUFFIXES = (".parquet", ".arrow")
# Rows that are in memory as Python objects at a time; of an article of 100 KB it is 25 MB.
BATCH = 256
FILE_FORMAT = b"ARROW1"  # Arrow files begin with it; Arrow streams, which `datasets` saves, do not
SHARD = re.compile(r"(?P<name>.+?)-(?P<number>\d+)-of-(?P<count>\d+)(-[0-9a-f]+)?\.(parquet|arrow)")


def is_table(path: str | os.PathLike[str]) -> bool:
    """Whether a path is read as a table: a folder, or a file called *.parquet, *.arrow, *.csv or *.tsv."""
    return Path(path).is_dir() or Path(path).name.endswith(SUFFIXES) or is_separated(path)


def is_separated(path: str | os.PathLike[str]) -> bool:
    """Whether a file is called *.csv or *.tsv, packed or not."""
    return plain_suffix(Path(path).name).endswith((*SEPARATED,))


def table_rows(
    path: str | os.PathLike[str],
    keys: Collection[str],
    required: Collection[str],
    ignored: dict[str, None] | None = None,
) -> Iterator[tuple[int, str, Row]]:
    """Stream the rows of a table, in the order of its files, a batch in memory at a time.

    Args:
        path: a file (`.parquet`; `.arrow`, as a file or a stream), a folder of files of one of these kinds, which are
            read in the order of their names, or a folder written by `datasets.Dataset.save_to_disk`.
        keys: columns that are read, where they are there; no other column is.
        required: every file must have one of these columns.
        ignored: gets the names of the other columns as keys.

    Yields:
        Number of the row in the whole table, from 1; where it is, for messages; its columns. A column of
        `Sequence({...})` of `datasets`, a struct of lists, comes as the list of structs that it represents.

    Raises:
        TextcriticError: no such file; a folder without such files, of several splits, or with files missing; a file
            that is not whole or lacks a column, with the columns it has.
    """
    number = 0
    if is_separated(path) and not Path(path).is_dir():
        yield from _separated_rows(Path(path), keys, required, {} if ignored is None else ignored)
        return
    for file in table_files(path):
        with _readable(file):
            within = 0
            for batch in _batches(file, keys, required, {} if ignored is None else ignored):
                for row in rows_of(batch):
                    number, within = number + 1, within + 1
                    yield number, f"{file}, row {within}", row


def _separated_rows(
    file: Path, keys: Collection[str], required: Collection[str], ignored: dict[str, None]
) -> Iterator[tuple[int, str, Row]]:
    """The rows of a table of text (RFC 4180): cells in quotes may hold line breaks, and the first row has the names."""
    lines = _LastLine(file)
    rows: Iterator[list[str]] = iter(())
    names: list[str] = []
    try:
        first = next(lines, "")
        usual = SEPARATED[Path(plain_suffix(file.name)).suffix]
        rows = csv.reader(_before(first, lines), delimiter=_separator(first, usual), strict=True)
        names = [name.strip() for name in next(rows, [])]
        if twice := next((name for name in names if name and names.count(name) > 1), None):
            raise TextcriticError(f"{file}:1: two columns are called `{twice}`; give each its own name")
        _require_column(file, names, required)
        ignored |= dict.fromkeys(name for name in names if name not in keys)
        for number, row in enumerate((row for row in rows if row), start=1):
            if len(row) != len(names):
                cells = f"{len(row)} cell{'s' * (len(row) != 1)}, but the first row has {len(names)}"
                raise TextcriticError(
                    f"{file}:{lines.number}: {cells}; put cells with separators or line breaks in quotes"
                )
            yield number, f"{file}, row {number}", {n: cell for n, cell in zip(names, row, strict=True) if n in keys}
    except csv.Error as error:
        raise TextcriticError(
            f"{file}:{lines.number}: {error}; in a cell in quotes, a quote is written twice, and it ends with one"
        ) from error


def _separator(first: str, usual: str) -> str:
    """What is between the cells of a table, by its first row."""
    if usual in first:
        return usual
    return next((other for other in OTHER_SEPARATORS if other in first), usual)


class _LastLine:
    """The lines of a file, and the number of the last one that was read."""

    def __init__(self, file: Path) -> None:
        self._lines = text_lines(file, "row")
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.number, line = next(self._lines)
        return line


def _before(first: str, others: Iterator[str]) -> Iterator[str]:
    yield first
    yield from others


def rows_of(batch: pa.RecordBatch | pa.Table) -> Sequence[Row]:
    """The rows of a batch; a struct of lists, `Sequence({...})` of `datasets`, becomes a list of structs."""
    rows = batch.to_pylist()
    for field in batch.schema:
        if pa.types.is_struct(field.type) and all(_is_list(part.type) for part in field.type):
            for row in rows:
                row[field.name] = _transposed(row[field.name])
    return rows


def table_files(path: str | os.PathLike[str]) -> list[Path]:
    """The files of a table in order; raises as `table_rows`."""
    folder = Path(path)
    if not folder.is_dir():
        return [folder]
    if (folder / "state.json").is_file():
        return _saved_files(folder)
    if (folder / "dataset_dict.json").is_file():
        splits = ", ".join(sorted(part.parent.name for part in folder.glob("*/state.json"))) or "no split at all"
        raise TextcriticError(f"{folder}: a data set in splits ({splits}); name the folder of one of them")
    by_suffix = {
        suffix: sorted(file for file in folder.glob(f"*{suffix}") if file.name[0] not in "._") for suffix in SUFFIXES
    }
    if all(by_suffix.values()):
        raise TextcriticError(f"{folder}: it has both *.parquet and *.arrow; keep the files of one kind in it")
    files = by_suffix[".parquet"] or by_suffix[".arrow"]
    if not files:
        raise TextcriticError(
            f"{folder}: a folder without *.parquet or *.arrow files; name a file, or a folder that has them or that"
            " `datasets` saved"
        )
    _require_one_split(folder, files)
    return files


def _saved_files(folder: Path) -> list[Path]:
    """The files of a folder that `datasets.Dataset.save_to_disk` wrote, as its state.json lists them."""
    try:
        state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        files = [folder / entry["filename"] for entry in state["_data_files"]]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise TextcriticError(
            f"{folder / 'state.json'}: not the list of files that `datasets` writes; save the data set again"
        ) from error
    if missing := [file.name for file in files if not file.is_file()]:
        raise TextcriticError(f"{folder}: {', '.join(missing)} of its state.json is missing; save the data set again")
    return files


def _require_one_split(folder: Path, files: list[Path]) -> None:
    """See that files called {name}-{number}-of-{count} have one name and are all there."""
    shards = [match for file in files if (match := SHARD.fullmatch(file.name))]
    names = sorted({shard["name"] for shard in shards})
    if len(names) > 1:
        raise TextcriticError(f"{folder}: files of {', '.join(names)} side by side; put those of one into a folder")
    if shards and len(shards) == len(files) and len(files) < (count := int(shards[0]["count"])):
        raise TextcriticError(f"{folder}: {len(files)} files called {names[0]}-*-of-{count}; {count} are wanted")


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """Turn what pyarrow raises for a bad file into one line."""
    try:
        yield
    except FileNotFoundError as error:
        raise TextcriticError(f"{file}: no such file") from error
    except (pa.ArrowException, OSError, EOFError) as error:
        kind = "Parquet" if file.name.endswith(".parquet") else "Arrow"
        raise TextcriticError(f"{file}: not a whole {kind} file; write or fetch it again") from error
    except UnicodeDecodeError as error:
        raise TextcriticError(f"{file}: a text in it is not UTF-8 ({error.reason}); write it again") from error


def _batches(
    file: Path, keys: Collection[str], required: Collection[str], ignored: dict[str, None]
) -> Iterator[pa.RecordBatch]:
    if file.name.endswith(".parquet"):
        with pq.ParquetFile(file, pre_buffer=False) as parquet:  # else the whole file is buffered
            columns = _columns(file, parquet.schema_arrow, keys, required)
            ignored |= dict.fromkeys(name for name in parquet.schema_arrow.names if name not in columns)
            yield from parquet.iter_batches(BATCH, columns=columns)
        return
    with pa.memory_map(str(file)) as source:
        is_file = source.read(len(FILE_FORMAT)) == FILE_FORMAT
        source.seek(0)
        with (pa.ipc.open_file if is_file else pa.ipc.open_stream)(source) as reader:
            columns = _columns(file, reader.schema, keys, required)
            ignored |= dict.fromkeys(name for name in reader.schema.names if name not in columns)
            parts = (reader.get_batch(n) for n in range(reader.num_record_batches)) if is_file else reader
            for part in parts:
                for start in range(0, part.num_rows, BATCH):
                    yield part.select(columns).slice(start, BATCH)


def _columns(file: Path, schema: pa.Schema, keys: Collection[str], required: Collection[str]) -> list[str]:
    _require_column(file, schema.names, required)
    return [name for name in schema.names if name in keys]


def _require_column(file: Path, names: list[str], required: Collection[str]) -> None:
    if set(required) & set(names):
        return
    wanted = [name for name in required if name not in ANSWERS]
    near = next((f"; `{close[0]}` is near" for name in wanted if (close := close_to(name, names))), "")
    lacking = " or ".join(f"`{name}`" for name in wanted)
    raise TextcriticError(f"{file}: no column {lacking}; its columns are {some(names) or 'none'}{near}")


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _transposed(lists: dict[str, list[object]] | None) -> object:
    """A struct of lists of equal length as a list of structs; anything else as it is."""
    if not lists or None in lists.values() or len({len(part) for part in lists.values()}) != 1:
        return lists
    return [dict(zip(lists, parts, strict=True)) for parts in zip(*lists.values(), strict=True)]
