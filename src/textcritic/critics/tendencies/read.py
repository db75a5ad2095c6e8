"""Documents of a user's own file: one a line, or in JSON lines, Parquet or Arrow."""

import os
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import pyarrow as pa

from textcritic.corpora.given import ARTICLE_KEYS, articles_of_records
from textcritic.corpora.jsonl import text_lines
from textcritic.corpora.records import Record, records
from textcritic.corpora.values import kind_of
from textcritic.errors import TextcriticError

TEXT_SUFFIXES = (".txt", ".txt.gz")
# Documents of a batch.
BATCH = 4096


def documents_of(path: str | os.PathLike[str]) -> Iterator[pa.StringArray]:
    """Stream the documents of a file, as Arrow arrays of strings.

    A file `.txt` or `.txt.gz` has a document on each line; an empty line is an empty document. Any other file is read
    as JSON lines, plain or gzipped, or, if it is called `.parquet` or `.arrow`, or is a folder, as a table. Each line
    or row has a `text`, beside which other keys may stand; or all have `sections`, as articles of a corpus, see
    `given_articles`, whose texts are put together without their titles.

    Raises:
        TextcriticError: the first fault, naming file and line or row: a missing or unreadable file, bad JSON, a line
            without text, no document at all.
    """
    texts = _lines(path) if str(path).lower().endswith(TEXT_SUFFIXES) else _of_records(path)
    found = False
    while batch := list(islice(texts, BATCH)):
        found = True
        yield pa.array(batch, pa.string())
    if not found:
        raise TextcriticError(f"{path}: there is no document in it; write one a line")


def _lines(path: str | os.PathLike[str]) -> Iterator[str]:
    return (line for _, line in text_lines(path, "document"))


def _of_records(path: str | os.PathLike[str]) -> Iterator[str]:
    given = records(path, ("text", *ARTICLE_KEYS), ("text", "sections"))
    for first in given:
        every = chain([first], given)
        if isinstance(first.value, dict) and "sections" in first.value and "text" not in first.value:
            for article in articles_of_records(every, Path(path).name):
                yield "\n".join(section.text for section in article.sections)
        else:
            yield from map(_text, every)


def _text(record: Record) -> str:
    """The text of a record that is not an article."""
    if not isinstance(record.value, dict):
        raise TextcriticError(
            f"{record.where}: a {record.unit} holds {kind_of(record.value)}; it should be an object with `text`"
        )
    if "text" not in record.value:
        raise TextcriticError(f"{record.where}: there is no `text`; it should be a string")
    text = record.value["text"]
    if not isinstance(text, str):
        raise TextcriticError(f"{record.where}: `text` is {kind_of(text)}; it should be a string")
    return text
