"""The one reader of a user's documents: lists, data frames, data sets or files, read as rows of one form."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from textcritic.corpora import Article, Section, clean_text
from textcritic.corpora.readers.characters import straight
from textcritic.corpora.readers.generations import ANSWERS, TRAVEL
from textcritic.corpora.readers.given import ARTICLE_KEYS, articles_of_records
from textcritic.corpora.readers.reading import USUAL, Reading, say_once, some
from textcritic.corpora.readers.records import TEXT_KEYS, Record, checked, holds_texts, records, shown_path
from textcritic.corpora.readers.values import group_of, kind_of, lacks, name_or
from textcritic.corpora.words import SPACES, said_of_characters, said_of_writing, segmented, usual_words
from textcritic.errors import TextcriticError
from textcritic.values import Row

Kind = Literal["chains", "mentions", "articles", "texts"]
Records = Iterator[Record]
Given: TypeAlias = Any
"""A list, series or array of chains, articles or texts; a data frame, a table, or a `datasets.Dataset`; or a path."""

# The key or column that says what a document is; if there are several, the first of them counts.
KINDS: Mapping[str, Kind] = {"chain": "chains", "mentions": "mentions", "sections": "articles", "text": "texts"}
# The known keys or columns, in addition to `ARTICLE_KEYS`, and those of them that a table needs at least one of.
COLUMNS: Mapping[Kind, tuple[Sequence[str], Sequence[str]]] = {
    "chains": (["chain"], ["chain"]),
    # The text is read to say that there are both.
    "mentions": (["mentions", "text"], ["mentions"]),
    "articles": (["sections"], ["sections"]),
    "texts": (["text", "sections", "language"], ["text", "sections"]),
}
LONGEST_NAME = 255  # bytes of the name of a file
LDAC = (".dat", ".ldac")
EXAMPLES = {"chain": '{"chain": ["title", ...]}', "mentions": '{"mentions": [".", "he:3", ...]}'}
FORMS = (
    "give a list of chains (lists of titles), articles (dicts with `sections`), texts (strings) or mentions (dicts with"
    " `mentions`), a data frame or data set with the column `chain`, `sections`, `text` or `mentions`, or a file's path"
)


@dataclass(frozen=True, slots=True)
class Documents:
    """One set of documents.

    Attributes:
        name: what error lines call it: the argument, or the path.
        kind: what its documents are.
        records: streams them as lines of a file would have them, once for each call.
        path: the file or folder, if it is one.
        counted: whether it is a file in the format LDA-C: counts of words, which have no records.
        words: how tokens are found in writing without spaces, see `plan.checks.words.HOW`.
        usual: whether the path alone says how the file is read: no key is asked for, and its name is UTF-8.
    """

    name: str
    kind: Kind
    records: Callable[[], Records]
    path: Path | None = None
    counted: bool = False
    usual: bool = True
    words: str = SPACES

    @property
    def file(self) -> Path:
        """The path; only of what is a file."""
        assert self.path is not None
        return self.path

    def chains(self, spellings: dict[str, str] | None = None) -> list[list[str]]:
        """The chains, where titles that differ only in case, spaces or the form of quotes become one.

        Args:
            spellings: for each common form of titles, the spelling that is used for all of them: the first one that
                is read. Sets that are compared share this dict.

        Raises:
            TextcriticError: a document is something else; the line names it.
        """
        chains = [_strings(record, "chain") for record in self._of("chains")]
        unified: dict[str, str] = {}
        shared = {} if spellings is None else spellings
        for title in (title for chain in chains for title in chain if title not in unified):
            unified[title] = shared.setdefault(" ".join(straight(title).split()).casefold(), title)
        return [[unified[title] for title in chain] for chain in chains]

    def mentions(self) -> Iterator[tuple[str, list[str]]]:
        """Stream the chains of mentions, each with what error lines call it; raises as `chains`."""
        for record in self._of("mentions"):
            yield record.where, _strings(record, "mentions")

    def articles(self) -> Iterator[Article]:
        """Stream the articles; raises as `chains`, and where an id occurs twice."""
        return articles_of_records(self._of("articles"), self.name)

    def tokens(self) -> Iterator[list[str]]:
        """Stream the white-space tokens of each text, or of an article's sections in order; raises as `chains`."""
        for parts in self.texts():
            yield [token for part in parts for token in segmented(part, self.words).split()]

    def texts(self) -> Iterator[list[str]]:
        """Stream each text as a list of one, or the texts of an article's sections in order; raises as `chains`."""
        empty = True
        for record in self.records():
            empty = False
            yield [clean_text(part["text"]) for part in _parts(record)]
        if empty:
            raise TextcriticError(f'{self.name}: there is no document in it; write one {{"text": "..."}} a line or row')

    def as_articles(self) -> Iterator[Article]:
        """Stream texts, or articles as texts, as articles: a text is the one section; raises as `chains`."""
        for number, record in enumerate(self.records()):
            parts, value = _parts(record), record.value if isinstance(record.value, dict) else {}
            titles = [None] if parts == [value] else [part.get("title") for part in parts]
            sections = tuple(Section(t, clean_text(part["text"])) for t, part in zip(titles, parts, strict=True))
            name, title = (
                name_or(value.get(key), otherwise, key, record.where)
                for key, otherwise in (("id", str(number)), ("title", None))
            )
            yield Article(str(name), title, sections, self.name, group_of(value, record.where))

    def noting(self, groups: list[str | None]) -> "Documents":
        """The same documents; whenever they are read, the group of each, see `group_of`, goes into a list.

        Documents may come from a pipe, which can be read only once.

        Args:
            groups: the list, which is emptied first.
        """

        def noted() -> Records:
            groups.clear()
            for record in self.records():
                groups.append(group_of(record.value, record.where) if isinstance(record.value, dict) else None)
                yield record

        return replace(self, records=noted)

    def cut_by(self, asked: str | None, real: str | None = None) -> "Documents":
        """The same documents with a way to find their tokens, see `plan.checks.words.HOW`.

        The first documents are read, except from a pipe: it can be read only once, and counts as text with spaces.

        Args:
            asked: the way that is asked for; None: the usual one, and a line on stderr if it is not at spaces.
            real: for a sample, the way of real text, which the sample gets too; a line on stderr if the sample looks
                different.
        """
        is_pipe = self.path is not None and self.path.is_fifo()
        if self.counted or is_pipe or (asked is not None and real is None):
            return replace(self, words=real or asked or SPACES)
        usual = usual_words("\n".join(parts) for parts in self.texts())
        if real is None and usual != SPACES:
            say_once(said_of_characters(self.name))
        elif real is not None and (warning := said_of_writing(self.name, usual, real)):
            say_once(warning)
        return replace(self, words=real or usual)

    def _of(self, kind: Kind) -> Records:
        if self.kind != kind:
            raise TextcriticError(f"{self.name}: holds {self.kind}, not {kind}; {_how(kind)}")
        return self.records()


def documents_of(given: Given, name: str, kind: Kind | None = None, reading: Reading = USUAL) -> Documents:
    """A set of documents in any of the forms that are accepted; every function and command reads them by this.

    - lists of chains (lists of strings), of texts (strings), or dicts with `chain`, `mentions`, `sections` or `text`;
      a series (pandas) or an array (numpy) of these;
    - data frames, tables and data sets with such a column;
    - paths, see `corpora.readers.records`: texts a line (`.txt`), a text (`.md`), tables (`.csv`, `.tsv`, `.parquet`,
      `.arrow`, one that `datasets` saved), JSON lines, an array of JSON, logs of Inspect (`.eval`), folders of files of
      one of these; packed ones as well; and `.dat` and `.ldac`, counts in the format LDA-C.

    Documents must be independent of each other. Those that belong together, such as the chapters of a book, have the
    key or column `group`, a string or a whole number, which says to what; intervals and tests take a group as one. So
    do those with one `pair`, or one `prompt` and `doc_id`; where both sides have them, they are compared by pairs.
    Keys and columns that are not known are ignored; a line on stderr names those of a file. Letters of texts, titles
    and mentions get one form (NFC), see `corpora.readers.characters`; a line on stderr says how many were changed.

    Args:
        given: see `Given`.
        name: the name of the argument in errors.
        kind: the kind that the documents must have; None: the kind of the first document. Articles are texts, too.
        reading: keys or columns with other names than usual, and what is kept.

    Raises:
        TextcriticError: another form, no documents, or a file that cannot be read.
    """
    if isinstance(given, str | os.PathLike):
        _require_name(os.fspath(given), name)
        return _file(Path(given).expanduser(), kind, reading)
    columns = _columns(given)
    if columns is not None:
        return _table(given, columns, name, kind, reading)
    if hasattr(given, "tolist") and getattr(given, "ndim", True):  # a series of pandas or an array of numpy
        given = given.tolist()
    if isinstance(given, Mapping) and given and all(_columns(part) is not None for part in given.values()):
        raise TextcriticError(
            f"{name}: a data set in splits ({', '.join(given)}); give one of them: {name}[{next(iter(given))!r}]"
        )
    if not isinstance(given, Sequence) or isinstance(given, bytes):
        raise TextcriticError(f"{name}: {type(given).__name__} is not a set of documents; {FORMS}")
    if not len(given) and kind is None:
        raise TextcriticError(f"{name}: there is no document in it; {FORMS}")
    wanted = kind or _kind_of(given[0], f"{name}[0]", reading)
    known = [*ARTICLE_KEYS, *COLUMNS[wanted][0]]

    def items() -> Records:
        rows = (
            Record(number, "item", f"{name}[{number}]", _row(_plain(value), wanted), {})
            for number, value in enumerate(given)
        )
        return checked(rows, name, known, reading, "item")

    return Documents(name, wanted, items)


def _require_name(path: str, name: str) -> None:
    """Check that a string can be the name of a file."""
    if not path:
        raise TextcriticError(f"{name}: is empty; give the path of a file")
    try:
        longest = max(map(len, os.fsencode(path).split(b"/")))
    except UnicodeEncodeError:
        longest = LONGEST_NAME + 1
    if "\0" in path or longest > LONGEST_NAME:
        raise TextcriticError(f"{name}: {path[:40]!a} is no name of a file; texts go into a list")


def texts_of(given: Given, name: str, reading: Reading = USUAL) -> Documents:
    """Texts, or articles as texts; or counts of their words in the format LDA-C. Raises as `documents_of`."""
    return documents_of(given, name, "texts", reading)


def _file(path: Path, asked: Kind | None, reading: Reading) -> Documents:
    name, kind = os.fspath(path), asked or "articles"
    if name.endswith(LDAC):
        return Documents(name, "texts", lambda: _refused(name), path, counted=True)
    if holds_texts(path):
        if kind != "texts" and asked:
            raise TextcriticError(f"{name}: holds a text a line, not {kind}; call a file of JSON lines .jsonl")
        kind = "texts"
    elif asked is None:
        first = next(records(path, [*KINDS], [*KINDS], reading), None)
        keys = first.value if first is not None and isinstance(first.value, dict) else {}
        # A first line that is none of these is a faulty article: all its faults are named where articles are read.
        kind = next((of for key, of in KINDS.items() if key in keys), kind)
    known, required = COLUMNS[kind]
    usual = reading == USUAL and name == shown_path(path)
    return Documents(name, kind, lambda: records(path, [*ARTICLE_KEYS, *known], required, reading), path, usual=usual)


def _refused(name: str) -> Records:
    raise TextcriticError(f"{name}: counts in the format LDA-C, which only topics and mixing take; give texts")


def _columns(given: Given) -> list[str] | None:
    """Names of the columns of a data frame (pandas), a table (pyarrow) or a data set; None for anything else."""
    for attribute in ("column_names", "columns"):
        found = getattr(given, attribute, None)
        if found is not None and not callable(found) and not isinstance(found, dict):
            names = list(found)
            if all(isinstance(column, str) for column in names):
                return names
    return None


def _table(given: Given, columns: Sequence[str], name: str, kind: Kind | None, reading: Reading) -> Documents:
    answers: set[str] = {*ANSWERS, *filter(None, [reading.text_key])} & {*columns}
    wanted = kind or next((of for key, of in KINDS.items() if key in columns), "texts" if answers else None)
    keys = [*KINDS] if wanted is None else COLUMNS[wanted][1]
    if wanted is None or (set(keys).isdisjoint(columns) and not (answers and TEXT_KEYS & set(keys))):
        raise TextcriticError(f"{name}: no column {' or '.join(keys)}; it has {some([*columns]) or 'none'}")
    known = (*ARTICLE_KEYS, *COLUMNS[wanted][0])
    used = [column for column in columns if column in (*known, *ANSWERS, *TRAVEL, *reading.keys)]

    def rows() -> Records:
        plain = ({key: _plain(value) for key, value in row.items()} for row in _rows(given, used))
        numbered = (Record(number, "row", f"{name}, row {number}", row, {}) for number, row in enumerate(plain))
        return checked(numbered, name, known, reading, "row")

    return Documents(name, wanted, rows)


def _rows(given: Given, columns: Sequence[str]) -> Iterator[Row]:
    if hasattr(given, "to_pylist"):  # pyarrow
        return iter(given.select(columns).to_pylist())
    if hasattr(given, "select_columns"):  # datasets
        return iter(given.select_columns(columns))
    return (dict(zip(columns, row, strict=True)) for row in given[columns].itertuples(index=False, name=None))


def _plain(value: object) -> object:
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


def _strings(record: Record, key: str) -> list[str]:
    """The list of strings under a key: a chain of titles, or of mentions."""
    value = record.value
    if not isinstance(value, dict) or key not in value:
        near = f" ({lacks(value, key)})" if isinstance(value, dict) else ""
        fault = f'not an object with the key "{key}"{near}'
    elif key == "mentions" and value.get("text") is not None:
        fault = 'both "mentions" and "text" are there'
    elif not isinstance(value[key], list) or not all(type(item) is str for item in value[key]):
        fault = f'"{key}" is not a list of strings'
    else:
        strings: list[str] = value[key]
        return strings
    raise TextcriticError(f"{record.where}: {fault}; each {record.unit} must be {EXAMPLES[key]}")


def _parts(record: Record) -> list[Mapping[str, str]]:
    """The sections of an article, or a text as the only one."""
    value, unit = record.value, record.unit
    if isinstance(value, dict):
        parts = [value] if value.get("sections") is None else value["sections"]
        if isinstance(parts, list) and all(isinstance(p, dict) and isinstance(p.get("text"), str) for p in parts):
            if value.get("mentions") is None:
                return parts
            raise TextcriticError(f'{record.where}: both "mentions" and text are there; a {unit} should have one')
        known = "`sections` is not as it should be" if parts != [value] else f"`text` is {kind_of(value.get('text'))}"
        fault = known if {"text", "sections"} & value.keys() else lacks(value, "text")
    else:
        fault = f"it is {kind_of(value)}"
    should = '{"text": "..."} or {"sections": [{"text": "..."}, ...]}'
    raise TextcriticError(f"{record.where}: a {unit} should be {should}; {fault}")


def _kind_of(value: object, where: str, reading: Reading) -> Kind:
    if isinstance(value, Mapping):
        if reading.text_key in value and "sections" not in value:
            return "texts"
        for key, kind in KINDS.items():
            if key in value:
                return kind
        if any(key in value for key in ANSWERS):
            return "texts"
    elif isinstance(value, str):
        return "texts"
    elif isinstance(value, list | tuple) or hasattr(value, "tolist"):
        return "chains"
    raise TextcriticError(f"{where}: {_what(value)} is not a document; {FORMS}")


def _row(value: object, kind: Kind) -> object:
    """A document as a line of a file would have it; anything that is not is left to those who read it."""
    if kind == "chains" and isinstance(value, list):
        return {"chain": value}
    if kind == "mentions" and isinstance(value, list):
        return {"mentions": value}
    if kind == "texts" and isinstance(value, str):
        return {"text": value}
    return value


def _what(value: object) -> str:
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


def languages_of(values: Sequence[object], name: str) -> list[str] | None:
    """The language of each record (key or column `language`); None unless all have one.

    Args:
        values: of the records.
        name: of the set of documents, for errors.

    Raises:
        TextcriticError: a language is not text.
    """
    languages: list[str] = []
    for number, value in enumerate(values, 1):
        language = value.get("language") if isinstance(value, Mapping) else None
        if not isinstance(language, str | None):
            raise TextcriticError(f"{name}: document {number}: language: {language!r} should be text, such as 'en'")
        languages += [language] if language else []
    return languages if languages and len(languages) == len(values) else None
