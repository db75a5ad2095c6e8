"""Records of a user's own file, whatever its format: JSON, lines of text, pages, tables, and folders of these."""

import json
import os
import zipfile
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from textcritic.corpora.readers.characters import HALF, HalfCharacter, is_standard, require_whole, standard
from textcritic.corpora.readers.generations import ANSWERS, TRAVEL, Answers, Line
from textcritic.corpora.readers.jsonl import LONGEST_LINE, joined, parsed, text_lines, whole_text
from textcritic.corpora.readers.packed import plain_suffix
from textcritic.corpora.readers.reading import USUAL, Reading, Tally
from textcritic.corpora.readers.tables import SEPARATED, SUFFIXES, is_table, table_rows
from textcritic.errors import TextcriticError

LINES, PAGE = (".txt",), (".md", ".markdown")
JSON = (".jsonl", ".ndjson", ".json")
INSPECT = ".eval"  # logs of Inspect, as zip archives
PARTS = (*LINES, *PAGE, *JSON, *SEPARATED)
"""Suffixes of the files that a folder may hold, other than tables."""
TEXT_KEYS = {"text", "sections"}


class Record(NamedTuple):
    """One line of a file, or one row of a table.

    Attributes:
        number: of the line or the row, from 1.
        unit: "line", "row" or "item".
        where: file and line or row, for messages.
        value: what is there; of a table a dictionary, of a line of text `{"text": line}`.
        ignored: names of keys that are not known, of all records of the file so far; who reads a part adds to it.
    """

    number: int
    unit: str
    where: str
    value: object
    ignored: dict[str, None]


def records(
    path: str | os.PathLike[str],
    keys: Collection[str],
    required: Collection[str],
    reading: Reading = USUAL,
    tally: Tally | None = None,
) -> Iterator[Record]:
    """Stream the records of a file or folder in order; memory does not grow with their number.

    Keys of JSON and columns that are not known are ignored. Answers of models are found as `generations.Answers` says.
    A document with half a character is left out. When everything has been read, lines on stderr say what was ignored,
    left out and changed.

    Args:
        path: by its name, without the suffix of how it is packed (`packed`): a table, see `tables.table_rows`; `.txt`,
            a text a line, where an empty line is an empty text; `.md`, a text; `.eval`, a log of Inspect; a folder of
            files of one of these kinds, in the order of their names; any other file: JSON lines, where blank lines are
            skipped, or one array or object of JSON. A file whose name says nothing has a text a line if it begins with
            neither `{` nor `[`.
        keys: that are known; of a table the columns that are read, where they are there.
        required: a table must have one of these columns. The caller checks what a line of JSON must have.
        reading: how.
        tally: gets the counts that are reported; None: a new one.

    Raises:
        TextcriticError: as `jsonl.text_lines`, `jsonl.parsed`, `Answers.documents` and `tables.table_rows`; or a folder
            that cannot be read.
    """
    counts = Tally() if tally is None else tally
    try:
        yield from _records(Path(path), keys, required, reading, counts)
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error
    except RecursionError as error:
        raise TextcriticError(f"{path}: a value in it is nested too deep; write documents without such keys") from error
    counts.say(path)


def checked(given: Iterable[Record], name: str, keys: Collection[str], reading: Reading, unit: str) -> Iterator[Record]:
    """Records from memory, as `records` gives those of a file; `unit` is that of all."""
    tally = Tally()
    rows = ((record.number, record.where, record.value) for record in given)
    for number, where, value in _whole(Answers(name, keys, reading, tally).documents(rows), keys, reading, tally):
        yield Record(number, unit, where, value, tally.ignored)
    tally.ignored.clear()
    tally.say(name)


def is_text(path: str | os.PathLike[str]) -> bool:
    """Whether a file has a text a line: `.txt`; one whose name says nothing, if it begins with neither `{` nor `[`."""
    name = plain_suffix(Path(path).name)
    if name.endswith((*LINES, *JSON)) or not Path(path).is_file():  # a pipe can be read only once
        return name.endswith(LINES)
    first = next((line.lstrip() for _, line in text_lines(path, "text") if line.strip()), "{")
    return not first.startswith(("{", "["))


def holds_texts(path: str | os.PathLike[str]) -> bool:
    """Whether the name of a file says that it holds texts, and nothing else."""
    return plain_suffix(Path(path).name).endswith((*LINES, *PAGE))


def plain_name(path: str | os.PathLike[str]) -> str:
    """The name of a file or folder without the suffix of its format."""
    name = shown_path(Path(path).name)
    plain = plain_suffix(name)
    ending = next((end for end in (*JSON, *SEPARATED, *SUFFIXES, INSPECT) if plain.endswith(end)), None)
    return name if ending is None else name[: len(plain) - len(ending)]


def shown_path(path: str | os.PathLike[str]) -> str:
    """A path as text that can be written: bytes that are not UTF-8 have a mark in their place."""
    return os.fsencode(path).decode("utf-8", "replace")


def _records(
    path: Path, keys: Collection[str], required: Collection[str], reading: Reading, tally: Tally
) -> Iterator[Record]:
    if parts := _parts(path):
        number = 0
        for part in parts:
            for record in _records(part, keys, required, reading, tally):
                number += 1
                yield record._replace(number=number)
        return
    looked_for = {*TRAVEL, *ANSWERS} if TEXT_KEYS & set(keys) else set()
    answers, other_columns = Answers(path, keys, reading, tally), dict[str, None]()
    table = is_table(path)
    if table:
        others = ANSWERS if looked_for and TEXT_KEYS & set(required) else ()
        wanted = [*required, *reading.keys, *others]
        given = answers.documents(table_rows(path, {*keys, *looked_for, *reading.keys}, wanted, other_columns))
        given = _whole(given, keys, reading, tally)
    else:
        given = _documents(_rows(path), answers, tally)
    known, unit, ignored = {*keys, *TRAVEL}, "row" if table else "line", tally.ignored
    for number, where, value in given:
        if type(value) is dict and not known >= value.keys():
            ignored |= dict.fromkeys(key for key in value if key not in known)
        yield Record(number, unit, where, value, ignored)
    ignored |= other_columns


def _documents(rows: Iterable[tuple[Line, bool]], answers: Answers, tally: Tally) -> Iterator[Line]:
    """The documents in the records of a file. For most of them no check of the characters is needed."""
    keys, reading = answers.keys, answers.reading
    as_it_is = not reading.keys
    for row, standard_already in rows:
        value = row[2]
        if as_it_is and standard_already and answers.is_plain(value):
            yield row
        elif standard_already:
            yield from answers.documents([row])
        else:
            yield from _whole(answers.documents([row]), keys, reading, tally)


def _rows(path: Path) -> Iterator[tuple[Line, bool]]:
    """The lines of a file, or the items of an array; and whether the characters of each are known to be standard."""
    name, shown = plain_suffix(path.name), str(path)
    if name.endswith(PAGE):
        yield (1, shown, {"text": whole_text(path, "a text")}), False
    elif name.endswith(INSPECT) or _is_zip(path):
        yield from ((row, False) for row in _inspect_samples(path))
    elif is_text(path):
        for number, line in text_lines(path, "text"):
            yield (number, f"{shown}:{number}", {"text": line}), is_standard(line)
    else:
        lines = ((number, line) for number, line in text_lines(path, "JSON object") if not line.isspace())
        begin = list(islice(lines, 2))
        if begin and _begins_a_value(begin[0][1]) and not (len(begin) == 2 and _is_whole(begin[0][1])):
            yield from ((row, False) for row in _items(path, chain(begin, lines)))
            return
        for number, line in chain(begin, lines):
            where = f"{shown}:{number}"
            escaped = "\\" in line and "\\u" in line
            yield (number, where, parsed(line, where)), not escaped and is_standard(line)


def _begins_a_value(line: str) -> bool:
    """Whether a line begins an array or object that goes on in the next lines, or an array of objects or texts."""
    start = line.strip()
    return start in ("{", "[") or (start[0] == "[" and start[1:].lstrip()[:1] in ("{", '"'))


def _is_whole(line: str) -> bool:
    """Whether a line is JSON by itself."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _items(path: Path, lines: Iterator[tuple[int, str]]) -> Iterator[Line]:
    """The items of an array of JSON, or the one object in a file."""
    whole = joined(lines, path, "one value of JSON")
    value = parsed(whole, str(path), "JSON lines, or one array of objects")
    for number, item in enumerate(value if isinstance(value, list) else [value], start=1):
        yield number, f"{path}, item {number}", {"text": item} if isinstance(item, str) else item


def _parts(path: Path) -> list[Path]:
    """The files of a folder of files of text or JSON; none of any other path.

    Raises:
        TextcriticError: the folder has files of several formats.
    """
    if not path.is_dir() or (path / "state.json").is_file() or (path / "dataset_dict.json").is_file():
        return []
    files = sorted(file for file in path.iterdir() if file.is_file() and file.name[0] not in "._")
    kinds: dict[str, list[Path]] = {}
    for file in files:
        if (suffix := Path(plain_suffix(file.name)).suffix) in (*PARTS, *SUFFIXES):
            kinds.setdefault(suffix, []).append(file)
    if len(kinds) > 1 and set(kinds) - set(SUFFIXES):
        named = ", ".join(f"{len(members)} of {suffix}" for suffix, members in kinds.items())
        raise TextcriticError(f"{path}: files of several formats ({named}); keep those of one in it")
    ((suffix, members),) = kinds.items() if len(kinds) == 1 else [("", [])]
    return members if suffix in PARTS else []


def _is_zip(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as handle:
        return handle.read(4) == b"PK\x03\x04"


def _inspect_samples(path: Path) -> Iterator[Line]:
    """The samples in an archive of Inspect, in the order of their names."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(n for n in archive.namelist() if n.startswith("samples/") and n.endswith(".json"))
            if not names:
                raise TextcriticError(
                    f"{path}: a zip archive without samples of Inspect, or a workbook; unpack it, or save it as CSV"
                    " or text"
                )
            for number, name in enumerate(names, start=1):
                with archive.open(name) as handle:
                    data = handle.read(LONGEST_LINE + 1)
                if len(data) > LONGEST_LINE:
                    raise TextcriticError(f"{path}, {name}: longer than {LONGEST_LINE >> 20} MiB")
                yield number, f"{path}, {name}", parsed(data.decode("utf-8"), f"{path}, {name}", "the log again")
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, UnicodeDecodeError) as error:
        raise TextcriticError(
            f"{path}: no archive that can be read ({error}); `inspect log convert --to json` writes it as JSON"
        ) from error


def _whole(given: Iterable[Line], keys: Collection[str], reading: Reading, tally: Tally) -> Iterator[Line]:
    """Records whose known keys hold whole characters alone, in the standard form if that is wanted."""
    for number, where, value in given:
        checked = {key: value[key] for key in value.keys() & keys} if isinstance(value, dict) else value
        try:
            if reading.normalise and isinstance(value, dict):
                value = value | standard(checked, tally.changed)
            else:
                require_whole(checked)
        except HalfCharacter:
            tally.damaged[HALF] += 1
            continue
        yield number, where, value
