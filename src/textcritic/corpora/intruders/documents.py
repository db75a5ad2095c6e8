"""Documents cut into sentences, with at most one intruder each, and their Parquet schema."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa

from textcritic.batches import batched
from textcritic.corpora.articles import ARTICLE_SCHEMA, ROWS_PER_GROUP, iter_batches, write_batches
from textcritic.errors import TextcriticError
from textcritic.values import Row


@dataclass(frozen=True, slots=True)
class Document:
    """A document of at least two sentences, as detectors read it.

    Attributes:
        id: of its own.
        sentences: in the document's order; the intruder is at the place of the sentence that it replaced.
        intruder: position of the intruder, from 1 on, as the opening sentence is never one; None: the document is
            coherent.
        origin: id of the document that the intruder came from; None where it is coherent, or where that is unknown.
        rank: place of that document among those that retrieval found, from 1 on; None where it was not retrieved.
        hard: whether the detector that filtered the candidates missed this one; None where there was no filter.
        replaced: the sentence that the intruder replaced; None where it is unknown.
        group: of documents that share a source, and are not independent; see `articles.Article`.
        title: of the document; None when there is none.
    """

    id: str
    sentences: tuple[str, ...]
    intruder: int | None = None
    origin: str | None = None
    rank: int | None = None
    hard: bool | None = None
    replaced: str | None = None
    group: str | None = None
    title: str | None = None

    def __post_init__(self) -> None:
        fault = self._fault()
        if fault:
            raise TextcriticError(f"{self.id}: {fault}")

    def _fault(self) -> str | None:
        if len(self.sentences) < 2:
            return f"it has {len(self.sentences)} sentence(s); a document needs 2 or more"
        if any(not sentence.strip() for sentence in self.sentences):
            return "a sentence is empty"
        if self.intruder is not None and not 1 <= self.intruder < len(self.sentences):
            return f"its intruder is sentence {self.intruder}; give 1 to {len(self.sentences) - 1}, from 0 on"
        return None


DOCUMENT_SCHEMA = pa.schema(
    [
        *ARTICLE_SCHEMA,
        pa.field("sentences", pa.list_(pa.string()), nullable=False),
        pa.field("intruder", pa.int16()),
        pa.field("origin", pa.string()),
        pa.field("rank", pa.int32()),
        pa.field("hard", pa.bool_()),
        pa.field("replaced", pa.string()),
    ]
)
"""A corpus whose articles have one section, the sentences with a space between two; what is known of them is in more
columns."""


def write_documents(path: str | os.PathLike[str], documents: Iterable[Document], source: str) -> None:
    """Write documents as Parquet in `DOCUMENT_SCHEMA`, whole or not at all; `source` is where they came from."""
    write_batches(path, _batches(documents, source), DOCUMENT_SCHEMA)


def iter_documents(path: str | os.PathLike[str]) -> Iterator[Document]:
    """Read them back, one after the other.

    Raises:
        TextcriticError: the file is missing, truncated, not Parquet, lacks a column, or a document is not possible.
    """
    return (document_of(row) for batch in iter_batches(path, DOCUMENT_SCHEMA) for row in batch.to_pylist())


def read_documents(path: str | os.PathLike[str]) -> list[Document]:
    """All of them, as `iter_documents`."""
    return list(iter_documents(path))


def batch_of(documents: Sequence[Document], source: str) -> pa.RecordBatch:
    """Documents as one record batch in `DOCUMENT_SCHEMA`."""
    rows = [
        {**asdict(document), "sections": [{"title": None, "text": " ".join(document.sentences)}], "source": source}
        for document in documents
    ]
    return pa.RecordBatch.from_pylist(rows, schema=DOCUMENT_SCHEMA)


def document_of(row: Row) -> Document:
    """The document of a row that has the columns of `DOCUMENT_SCHEMA`."""
    values = {name: row[name] for name in ("intruder", "origin", "rank", "hard", "replaced", "group", "title")}
    return Document(row["id"], tuple(row["sentences"]), **values)


def _batches(documents: Iterable[Document], source: str) -> Iterator[pa.RecordBatch]:
    for some in batched(documents, ROWS_PER_GROUP):
        yield batch_of(some, source)
