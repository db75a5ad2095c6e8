"""What a caller gives as a set of documents: lists, data frames, data sets or files, read as rows of one form."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from textcritic.corpora import Article, clean_text
from textcritic.corpora.given import ARTICLE_KEYS, articles_of_records
from textcritic.corpora.records import Record, records
from textcritic.errors import TextcriticError

Kind = Literal["chains", "mentions", "articles", "texts"]
Records = Iterator[Record]
Given: TypeAlias = Any
"""A list of chains, of articles or of texts; a data frame, a table, or a `datasets.Dataset`; or a path."""

# The key or column that says what a document is; where there are several, the first of them counts.
KINDS: Mapping[str, Kind] = {"chain": "chains", "mentions": "mentions", "sections": "articles", "text": "texts"}
# Of a table: the columns that are read where they are there, and those of which it must have one.
COLUMNS: Mapping[Kind, tuple[Sequence[str], Sequence[str]]] = {
    "chains": (["chain"], ["chain"]),
    # The text is read to say that there are both.
    "mentions": (["mentions", "text"], ["mentions"]),
    "articles": (ARTICLE_KEYS, ["sections"]),
    "texts": (["text", "sections", "language"], ["text", "sections"]),
}
FORMS = (
    "give chains (lists of titles), articles (dicts with `sections`), texts (strings) or mentions (dicts with "
    "`mentions`), in a list; or a data frame or data set with a column chain, sections, text or mentions; or the path "
    "of a file"
)


@dataclass(frozen=True, slots=True)
class Documents:
    """One set of documents.

    Attributes:
        name: what error lines call it: the argument, or the path.
        kind: what its documents are.
        records: streams them as lines of a file would have them, once for each call.
        path: the file or folder, if it is one.
    """

    name: str
    kind: Kind
    records: Callable[[], Records]
    path: Path | None = None

    def chains(self) -> list[list[str]]:
        """The chains.

        Raises:
            TextcriticError: a document is something else; the line names it.
        """
        return [_chain(record) for record in self._of("chains")]

    def mentions(self) -> Iterator[tuple[str, list[str]]]:
        """Stream the chains of mentions, each with what error lines call it; raises as `chains`."""
        for record in self._of("mentions"):
            yield record.where, _mentions(record)

    def articles(self) -> Iterator[Article]:
        """Stream the articles; raises as `chains`, and where an id occurs twice."""
        return articles_of_records(self._of("articles"), self.name)

    def tokens(self) -> Iterator[list[str]]:
        """Stream the white-space tokens of each text, or of an article's sections in order; raises as `chains`."""
        for parts in self.texts():
            yield [token for part in parts for token in part.split()]

    def texts(self) -> Iterator[list[str]]:
        """Stream each text as a list of one, or the texts of an article's sections in order; raises as `chains`."""
        empty = True
        for _, unit, where, value in self.records():
            empty = False
            parts = value.get("sections", [value]) if isinstance(value, dict) else None
            if not isinstance(parts, list) or not all(
                isinstance(part, dict) and isinstance(part.get("text"), str) for part in parts
            ):
                raise TextcriticError(
                    f'{where}: a {unit} should be {{"text": "..."}} or {{"sections": [{{"text": "..."}}, ...]}}'
                )
            if value.get("mentions") is not None:
                raise TextcriticError(f'{where}: both "mentions" and text are there; a {unit} should have one of them')
            yield [clean_text(part["text"]) for part in parts]
        if empty:
            raise TextcriticError(f'{self.name}: there is no document in it; write one {{"text": "..."}} a line or row')

    def _of(self, kind: Kind) -> Records:
        if self.kind != kind:
            raise TextcriticError(f"{self.name}: holds {self.kind}, not {kind}; {_how(kind)}")
        return self.records()


def documents_of(given: Given, name: str, kind: Kind | None = None) -> Documents:
    """A set of documents in any of the forms that are accepted.

    Args:
        given: see `Given`.
        name: of the argument, for errors.
        kind: what its documents have to be; None: what its first one is.

    Raises:
        TextcriticError: another form, no documents, or a file that cannot be read.
    """
    if isinstance(given, str | os.PathLike):
        return _file(Path(given).expanduser(), kind)
    columns = _columns(given)
    if columns is not None:
        return _table(given, columns, name, kind)
    if not isinstance(given, Sequence) or isinstance(given, bytes):
        raise TextcriticError(f"{name}: {type(given).__name__} is not a set of documents; {FORMS}")
    if not len(given) and kind is None:
        raise TextcriticError(f"{name}: there is no document in it; {FORMS}")
    wanted = kind or _kind_of(given[0], f"{name}[0]")

    def items() -> Records:
        for number, value in enumerate(given):
            yield Record(number, "item", f"{name}[{number}]", _row(_plain(value), wanted))

    return Documents(name, wanted, items)


def _file(path: Path, asked: Kind | None) -> Documents:
    kind = asked or "articles"
    if asked is None:
        first = next(records(path, [*KINDS], [*KINDS]), None)
        keys = first.value if first is not None and isinstance(first.value, dict) else {}
        # A first line that is none of these is a faulty article: all its faults are named where articles are read.
        kind = next((of for key, of in KINDS.items() if key in keys), kind)
    columns = COLUMNS[kind]
    return Documents(os.fspath(path), kind, lambda: records(path, *columns), path)


def _columns(given: Given) -> list[str] | None:
    """Names of the columns of a data frame (pandas), a table (pyarrow) or a data set; None for anything else."""
    for attribute in ("column_names", "columns"):
        found = getattr(given, attribute, None)
        if found is not None and not callable(found) and not isinstance(found, dict):
            names = list(found)
            if all(isinstance(column, str) for column in names):
                return names
    return None


def _table(given: Given, columns: Sequence[str], name: str, kind: Kind | None) -> Documents:
    wanted = kind or next((of for key, of in KINDS.items() if key in columns), None)
    if wanted is None or not any(of == wanted and key in columns for key, of in KINDS.items()):
        keys = [key for key, of in KINDS.items() if wanted in (None, of)]
        raise TextcriticError(f"{name}: no column {' or '.join(keys)}; it has {', '.join(columns) or 'none'}")
    used = [column for column in columns if column in COLUMNS[wanted][0]]

    def rows() -> Records:
        for number, row in enumerate(_rows(given, used)):
            yield Record(number, "row", f"{name}, row {number}", {key: _plain(value) for key, value in row.items()})

    return Documents(name, wanted, rows)


def _rows(given: Given, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    if hasattr(given, "to_pylist"):  # pyarrow
        return iter(given.select(columns).to_pylist())
    if hasattr(given, "select_columns"):  # datasets
        return iter(given.select_columns(columns))
    return (dict(zip(columns, row, strict=True)) for row in given[columns].itertuples(index=False, name=None))


def _plain(value: Any) -> Any:
    """Lists and dicts in place of arrays, tuples and missing numbers, as they come out of data frames."""
    if hasattr(value, "tolist"):  # numpy arrays and numbers
        value = value.tolist()
    if isinstance(value, float) and value != value:  # a missing cell of a data frame
        return None
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return value


def _chain(record: Record) -> list[str]:
    value = record.value
    if not isinstance(value, dict) or "chain" not in value:
        fault = 'not an object with the key "chain"'
    elif not isinstance(value["chain"], list) or not all(type(title) is str for title in value["chain"]):
        fault = '"chain" is not a list of strings'
    else:
        chain: list[str] = value["chain"]
        return chain
    raise TextcriticError(f'{record.where}: {fault}; each {record.unit} must be {{"chain": ["title", ...]}}')


def _mentions(record: Record) -> list[str]:
    value = record.value
    if not isinstance(value, dict) or "mentions" not in value:
        fault = 'not an object with the key "mentions"'
    elif value.get("text") is not None:
        fault = 'both "mentions" and "text" are there'
    elif not isinstance(value["mentions"], list) or not all(type(token) is str for token in value["mentions"]):
        fault = '"mentions" is not a list of strings'
    else:
        mentions: list[str] = value["mentions"]
        return mentions
    raise TextcriticError(f'{record.where}: {fault}; each {record.unit} must be {{"mentions": [".", "he:3", ...]}}')


def _kind_of(value: Any, where: str) -> Kind:
    if isinstance(value, Mapping):
        for key, kind in KINDS.items():
            if key in value:
                return kind
    elif isinstance(value, str):
        return "texts"
    elif isinstance(value, list | tuple) or hasattr(value, "tolist"):
        return "chains"
    raise TextcriticError(f"{where}: {_what(value)} is not a document; {FORMS}")


def _row(value: Any, kind: Kind) -> Any:
    """A document as a line of a file would have it; anything that is not is left to those who read it."""
    if kind == "chains" and isinstance(value, list):
        return {"chain": value}
    if kind == "mentions" and isinstance(value, list):
        return {"mentions": value}
    if kind == "texts" and isinstance(value, str):
        return {"text": value}
    return value


def _what(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"a dict with the keys {', '.join(map(str, value)) or '(none)'}"
    return f"an object of type {type(value).__name__}"


def _how(kind: Kind) -> str:
    return {
        "chains": 'a chain is a list of titles, or {"chain": [...]}',
        "mentions": 'a chain of mentions is {"mentions": [...]}',
        "articles": 'an article is {"sections": [{"title": ..., "text": ...}, ...]}',
        "texts": 'a text is a string, or {"text": ...}',
    }[kind]
