"""What a caller gives as a set of documents: lists, data frames, data sets or files, read as rows of one form."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from textcritic.corpora import Article, clean_text
from textcritic.corpora.jsonl import article_of, json_lines
from textcritic.errors import TextcriticError

Kind = Literal["chains", "articles", "texts"]
Rows = Iterator[tuple[str, Any]]
Given: TypeAlias = Any
"""A list of chains, of articles or of texts; a data frame, a table, or a `datasets.Dataset`; or a path."""

# The key or column that says what a document is; where there are several, the first of them counts.
KINDS: Mapping[str, Kind] = {"chain": "chains", "sections": "articles", "text": "texts"}
COLUMNS = {"chains": {"chain"}, "articles": {"id", "title", "sections", "source"}, "texts": {"text"}}
FORMS = (
    "give chains (lists of titles), articles (dicts with `sections`) or texts (strings), in a list; or a data frame or "
    "data set with a column chain, sections or text; or the path of a file"
)


@dataclass(frozen=True, slots=True)
class Documents:
    """One set of documents.

    Attributes:
        name: what error lines call it: the argument, or the path.
        kind: what its documents are.
        rows: streams (where, value), once for each call; `where` names the document in error lines.
        path: the file, if it is one of JSON lines.
    """

    name: str
    kind: Kind
    rows: Callable[[], Rows]
    path: Path | None = None

    def chains(self) -> list[list[str]]:
        """The chains.

        Raises:
            TextcriticError: a document is something else; the line names it.
        """
        return [_chain(value, where) for where, value in self._of("chains")]

    def articles(self) -> Iterator[Article]:
        """Stream the articles; raises as `chains`, and where an id occurs twice."""
        seen: dict[str, str] = {}
        for number, (where, value) in enumerate(self._of("articles"), start=1):
            article = article_of(value, where, default_id=f"line-{number}", default_source=self.name)
            if article.id in seen:
                raise TextcriticError(f"{where}: id '{article.id}' is that of {seen[article.id]}; give each its own id")
            seen[article.id] = where
            yield article

    def tokens(self) -> Iterator[list[str]]:
        """Stream the white-space tokens of each text, or of an article's sections in order; raises as `chains`."""
        empty = True
        for where, value in self.rows():
            empty = False
            parts = value.get("sections", [value]) if isinstance(value, dict) else None
            if not isinstance(parts, list) or not all(
                isinstance(part, dict) and isinstance(part.get("text"), str) for part in parts
            ):
                raise TextcriticError(
                    f'{where}: a line should be {{"text": "..."}} or {{"sections": [{{"text": "..."}}, ...]}}'
                )
            yield [token for part in parts for token in clean_text(part["text"]).split()]
        if empty:
            raise TextcriticError(f'{self.name}: there is no document in it; write one {{"text": "..."}} a line')

    def _of(self, kind: Kind) -> Rows:
        if self.kind != kind:
            raise TextcriticError(f"{self.name}: holds {self.kind}, not {kind}; {_how(kind)}")
        return self.rows()


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

    def rows() -> Rows:
        for number, value in enumerate(given):
            yield f"{name}[{number}]", _row(_plain(value), wanted)

    return Documents(name, wanted, rows)


def _file(path: Path, kind: Kind | None) -> Documents:
    name = os.fspath(path)

    def rows() -> Rows:
        return ((f"{path}:{number}", value) for number, value in json_lines(path))

    if kind is None:
        # A first line that is none of these is a faulty article: all its faults are named where articles are read.
        first: Any = next(rows(), ("", {}))[1]
        keys = first if isinstance(first, dict) else {}
        return Documents(name, next((of for key, of in KINDS.items() if key in keys), "articles"), rows, path)
    return Documents(name, kind, rows, path)


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
    used = [column for column in columns if column in COLUMNS[wanted]]

    def rows() -> Rows:
        for number, row in enumerate(_records(given, used)):
            yield f"{name}, row {number}", {key: _plain(value) for key, value in row.items()}

    return Documents(name, wanted, rows)


def _records(given: Given, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
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


def _chain(value: Any, where: str) -> list[str]:
    if not isinstance(value, dict) or "chain" not in value:
        fault = 'not an object with the key "chain"'
    elif not isinstance(value["chain"], list) or not all(type(title) is str for title in value["chain"]):
        fault = '"chain" is not a list of strings'
    else:
        chain: list[str] = value["chain"]
        return chain
    raise TextcriticError(f'{where}: {fault}; each line must be {{"chain": ["title", ...]}}')


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
        "articles": 'an article is {"sections": [{"title": ..., "text": ...}, ...]}',
        "texts": 'a text is a string, or {"text": ...}',
    }[kind]
