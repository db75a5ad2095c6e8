"""Articles in JSON lines, plain or gzipped: a user's own ones, and PubMed and arXiv as published."""

import gzip
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from textcritic.corpora.articles import Article, Section
from textcritic.corpora.layout import clean_text
from textcritic.errors import TextcriticError

# The longest line that is read, in bytes: an article of Wikipedia has 4 MB at most. A file without line breaks, or
# /dev/zero, is refused before memory is gone.
LONGEST_LINE = 1 << 26
ARTICLE_KEYS = {"id", "title", "sections", "source"}
SECTION_KEYS = {"title", "text"}
UNEVEN = "section_names and sections differ in length"


def read_jsonl(path: str | os.PathLike[str], prefix: str = "") -> Iterator[Article]:
    r"""Stream articles from `.jsonl` or `.jsonl.gz`: `{"id", "title", "sections": [{"title", "text"}], "source"}`.

    Only `sections` and, in each section, `text` are required. An article without id becomes `line-N` after its line,
    one without source gets the file's name. Blank lines inside a section's text become single line breaks.

    Args:
        path: the file.
        prefix: put before ids made from line numbers, where several files make one corpus.

    Raises:
        TextcriticError: the first fault, naming file and line: not JSON, an unknown or missing key, a value of the
            wrong type, an id that occurs twice, a truncated or undecodable file, a file without articles.
    """
    first_line: dict[str, int] = {}
    for number, value in json_lines(path):
        where = f"{path}:{number}"
        article = _article(value, where, default_id=f"{prefix}line-{number}", default_source=Path(path).name)
        if article.id in first_line:
            raise TextcriticError(
                f"{where}: id '{article.id}' was used on line {first_line[article.id]}; give each article its own id"
            )
        first_line[article.id] = number
        yield article
    if not first_line:
        raise TextcriticError(f"{path}: there is no article in it; write one JSON object with `sections` a line")


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
    for number, record in json_lines(path):
        where = f"{path}:{number}"
        names, sections = _strings(record, "section_names", where), _sentences(record, where)
        if len(names) != len(sections):
            skipped[UNEVEN] += 1
            continue
        body = tuple(Section(name, _joined(text)) for name, text in zip(names, sections, strict=True))
        if keep_abstract:
            body = (Section("abstract", _joined(_strings(record, "abstract_text", where))), *body)
        identifier = record.get("article_id")
        if not isinstance(identifier, str):
            raise TextcriticError(f"{where}: `article_id` is missing or not a string; give the file as published")
        yield Article(identifier, None, body, Path(path).name)


def json_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, Any]]:
    """Stream (line number, parsed JSON value) from a plain or gzipped file; blank lines are skipped.

    Raises:
        TextcriticError: the file is missing, truncated or not UTF-8, or a line is not JSON, or longer than 64 MiB.
    """
    number = 0
    try:
        with _open(Path(path)) as handle:
            for number, line in enumerate(iter(lambda: handle.readline(LONGEST_LINE + 1), b""), start=1):
                if len(line) > LONGEST_LINE:
                    raise TextcriticError(
                        f"{path}:{number}: longer than {LONGEST_LINE >> 20} MiB; write one JSON object a line"
                    )
                if line.strip():
                    yield number, _parsed(line.decode("utf-8-sig" if number == 1 else "utf-8"), f"{path}:{number}")
    except UnicodeDecodeError as error:
        raise TextcriticError(f"{path}:{number}: not UTF-8 ({error.reason}); save the file as UTF-8") from error
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: no such file") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TextcriticError(
            f"{path}:{number + 1}: the gzip data end early or are broken; fetch the file again"
        ) from error
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _parsed(line: str, where: str) -> Any:
    try:
        value = json.loads(line)
        if "\\u" in line:
            json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is JSON, but not text
        return value
    except UnicodeEncodeError as error:
        raise TextcriticError(f"{where}: an escape such as \\ud83d is half a character; write both halves") from error
    except json.JSONDecodeError as error:
        raise TextcriticError(
            f"{where}: not JSON ({error.msg}, column {error.colno}); write one JSON object a line"
        ) from error
    except RecursionError as error:
        raise TextcriticError(f"{where}: nested too deep; write one JSON object a line") from error
    except ValueError as error:  # Python reads no whole number of more than 4,300 digits
        raise TextcriticError(f"{where}: a number has too many digits; write numbers of a usual length") from error


def _article(value: Any, where: str, default_id: str, default_source: str) -> Article:
    if not isinstance(value, dict):
        raise TextcriticError(f"{where}: a line holds {_kind(value)}; it should be an object with `sections`")
    _require_known(value, ARTICLE_KEYS, where)
    if "sections" not in value:
        raise TextcriticError(f"{where}: there is no `sections`; it should be a list of objects with `text`")
    if not isinstance(value["sections"], list):
        raise TextcriticError(
            f"{where}: `sections` is {_kind(value['sections'])}; it should be a list of objects with `text`"
        )
    identifier = value.get("id")
    if isinstance(identifier, int) and not isinstance(identifier, bool):
        identifier = str(identifier)
    return Article(
        _text_or(identifier, default_id, "id", where) or default_id,
        _text_or(value.get("title"), None, "title", where),
        tuple(_section(section, f"{where}, section {n}") for n, section in enumerate(value["sections"], start=1)),
        _text_or(value.get("source"), default_source, "source", where) or default_source,
    )


def _section(value: Any, where: str) -> Section:
    if not isinstance(value, dict):
        raise TextcriticError(f'{where}: it is {_kind(value)}; it should be an object: {{"title": ..., "text": ...}}')
    _require_known(value, SECTION_KEYS, where)
    if "text" not in value:
        raise TextcriticError(f"{where}: there is no `text`; it should be a string")
    if not isinstance(value["text"], str):
        raise TextcriticError(f"{where}: `text` is {_kind(value['text'])}; it should be a string")
    return Section(_text_or(value.get("title"), None, "title", where), clean_text(value["text"]))


def _text_or(value: Any, default: str | None, key: str, where: str) -> str | None:
    if value is None:
        return default
    if not isinstance(value, str):
        raise TextcriticError(f"{where}: `{key}` is {_kind(value)}; it should be a string or be left out")
    return value


def _require_known(value: dict[str, Any], known: set[str], where: str) -> None:
    for key in value:
        if key not in known:
            raise TextcriticError(f"{where}: unknown key `{key}`; the keys are {', '.join(sorted(known))}")


def _kind(value: Any) -> str:
    """The type of a JSON value, in the words of JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    names = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names[type(value)]


def _joined(sentences: list[str]) -> str:
    return clean_text(" ".join(text for s in sentences if (text := s.removeprefix("<S>").removesuffix("</S>").strip())))


def _strings(record: Any, key: str, where: str) -> list[str]:
    value = record.get(key) if isinstance(record, dict) else None
    if not _is_strings(value):
        raise TextcriticError(f"{where}: `{key}` is missing or not a list of strings; give the file as published")
    return value  # type: ignore[return-value]


def _sentences(record: Any, where: str) -> list[list[str]]:
    value = record.get("sections") if isinstance(record, dict) else None
    if not (isinstance(value, list) and all(_is_strings(section) for section in value)):
        raise TextcriticError(
            f"{where}: `sections` is missing or not a list of lists of strings; give the file as published"
        )
    return value


def _is_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
