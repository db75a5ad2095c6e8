"""JSON lines, plain or packed, and PubMed and arXiv as published in them."""

import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from textcritic.corpora.articles import Article, Section
from textcritic.corpora.readers.packed import BROKEN, unpacked
from textcritic.corpora.readers.section_lists import is_strings, paired, text_of
from textcritic.errors import TextcriticError
from textcritic.files import MOST_PACKED
from textcritic.values import JsonObject

# The longest line that is read, in bytes: an article of Wikipedia has 4 MB at most. A file without line breaks, or
# /dev/zero, is refused before memory is gone.
LONGEST_LINE = 1 << 26
A_LINE = "one JSON object a line"
LARGEST_FILE = 1 << 29  # in characters, of a file that is not read line by line
UNEVEN = "section_names and sections differ in length"


def read_scientific(
    path: str | os.PathLike[str], keep_abstract: bool = False, skipped: Counter[str] | None = None
) -> Iterator[Article]:
    """Stream the articles of one split in the format of Cohan et al. 2018 (NAACL, arXiv 1804.05685).

    Sections are lists of sentences, joined by spaces, under `section_names`.

    Args:
        path: `train.txt`, `val.txt` or `test.txt` as published, plain or gzipped.
        keep_abstract: put the abstract first, as a section `abstract`; the paper counts the body's sections only.
        skipped: counts records with unequal numbers of names and sections, which are left out.

    Raises:
        TextcriticError: a line is not JSON or lacks a key, naming file and line.
    """
    skipped = Counter() if skipped is None else skipped
    for number, value in json_lines(path):
        where, record = f"{path}:{number}", value if isinstance(value, dict) else {}
        names, sections = _strings(record, "section_names", where), _sentences(record, where)
        body = paired(names, sections)
        if body is None:
            skipped[UNEVEN] += 1
            continue
        if keep_abstract:
            body = (Section("abstract", text_of(_strings(record, "abstract_text", where))), *body)
        identifier = record.get("article_id")
        if not isinstance(identifier, str):
            raise TextcriticError(f"{where}: `article_id` is missing or not a string; give the file as published")
        yield Article(identifier, None, body, Path(path).name)


def json_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, object]]:
    """Stream (line number, parsed JSON value) from a plain or packed file; blank lines are skipped.

    Raises:
        TextcriticError: as `text_lines`, or a line is not JSON, or has half a character in it.
    """
    name = os.fspath(path)  # a path would be made into text for each line
    for number, line in text_lines(path, "JSON object"):
        if line.strip():
            value = parsed(line, where := f"{name}:{number}")
            if "\\u" in line:
                _require_whole_characters(value, where)
            yield number, value


def text_lines(path: str | os.PathLike[str], content: str) -> Iterator[tuple[int, str]]:
    """Stream (line number, line) from a plain or packed file of UTF-8.

    Args:
        path: of the file.
        content: what a line should hold one of, for messages.

    Raises:
        TextcriticError: the file is missing, truncated or not UTF-8, a line is longer than 64 MiB, or a packed file
            unpacks to more than 64 MiB and 200 times its size.
    """
    number, packed = 0, ""
    try:
        handle, packed = unpacked(Path(path))
        size = Path(path).stat().st_size if packed else 0  # 0 of a pipe
        room = max(LONGEST_LINE, MOST_PACKED * size) if size else math.inf
        with handle:
            for number, line in enumerate(iter(lambda: handle.readline(LONGEST_LINE + 1), b""), start=1):
                if len(line) > LONGEST_LINE:
                    raise TextcriticError(
                        f"{path}:{number}: longer than {LONGEST_LINE >> 20} MiB; write one {content} a line"
                    )
                room -= len(line)
                if room < 0:
                    raise TextcriticError(
                        f"{path}:{number}: unpacked it is over {MOST_PACKED} times as large as packed, as no text is;"
                        " unpack it yourself if you trust it"
                    )
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise TextcriticError(f"{path}:{number}: not UTF-8 ({error.reason}); save the file as UTF-8") from error
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: no such file") from error
    except BROKEN as error:
        raise TextcriticError(
            f"{path}:{number + 1}: the {packed} data end early or are broken; fetch the file again"
        ) from error
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error


def whole_text(path: str | os.PathLike[str], content: str) -> str:
    """The whole of a plain or packed file of UTF-8, of 512 MiB at most; raises as `text_lines`.

    Args:
        path: of the file.
        content: what it holds, for messages.
    """
    return joined(text_lines(path, content), path, content)


def joined(lines: Iterable[tuple[int, str]], path: str | os.PathLike[str], content: str) -> str:
    """The rest of the lines of a file as one text.

    Args:
        lines: as `text_lines` gives them.
        path: of the file, for messages.
        content: what it holds, for messages.

    Raises:
        TextcriticError: there are more than 512 MiB.
    """
    parts, room = [], LARGEST_FILE
    for _, line in lines:
        parts.append(line)
        room -= len(line)
        if room < 0:
            raise TextcriticError(f"{path}: {content} of more than {LARGEST_FILE >> 20} MiB; write JSON lines")
    return "".join(parts)


class _Doubled(ValueError):  # noqa: N818
    """An object has a key twice; Python would silently keep the last value."""


def _once(pairs: list[tuple[str, object]]) -> JsonObject:
    """An object, whose keys are all different."""
    loaded = dict(pairs)
    if len(loaded) == len(pairs):
        return loaded
    places = {key: place for place, (key, _) in enumerate(pairs)}  # the last of each
    raise _Doubled(next(key for place, (key, _) in enumerate(pairs) if places[key] != place))


_decoded = json.JSONDecoder(object_pairs_hook=_once).decode  # made once: `json.loads` would make it for every line


def parsed(line: str, where: str, content: str = A_LINE) -> object:
    """The value of a line of JSON, in which a lone surrogate may be.

    Raises:
        TextcriticError: it is not JSON, or one of its objects has a key twice.
    """
    try:
        return _decoded(line)
    except json.JSONDecodeError as error:
        place = where if content == A_LINE else f"{where}:{error.lineno}"
        raise TextcriticError(f"{place}: not JSON ({error.msg}, column {error.colno}); write {content}") from error
    except RecursionError as error:
        raise TextcriticError(f"{where}: nested too deep; write {content}") from error
    except _Doubled as error:
        raise TextcriticError(
            f"{where}: the key {error.args[0]!r} occurs twice in one object; keep one of its values"
        ) from error
    except ValueError as error:  # Python reads no whole number of more than 4,300 digits
        raise TextcriticError(f"{where}: a number has too many digits; write numbers of a usual length") from error


def _require_whole_characters(value: object, where: str) -> None:
    """Half a surrogate pair is JSON, but not text."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise TextcriticError(f"{where}: an escape such as \\ud83d is half a character; write both halves") from error


def _strings(record: JsonObject, key: str, where: str) -> list[str]:
    value = record.get(key)
    if not is_strings(value):
        raise TextcriticError(f"{where}: `{key}` is missing or not a list of strings; give the file as published")
    return value


def _sentences(record: JsonObject, where: str) -> list[list[str]]:
    value = record.get("sections")
    if not (isinstance(value, list) and all(is_strings(section) for section in value)):
        raise TextcriticError(
            f"{where}: `sections` is missing or not a list of lists of strings; give the file as published"
        )
    return value
