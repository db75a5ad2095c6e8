"""Mentions of an article: which stretch of text refers to which entity; in memory and on disk.

A resolver reads the text of an article and gives its mentions. That text is the one of `text_of`: `start` and `end` of
a mention, and of a sentence, count its characters.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from textcritic.batches import batched
from textcritic.corpora.articles import Article, iter_batches, write_batches

SECTION_BREAK = "\n\n"
DOCUMENTS_PER_GROUP = 1024


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of text that refers to an entity.

    Attributes:
        start, end: its characters in the text of the article; the end is not included.
        head_start, head_end: the characters of its head, a word within it.
        entity: 0 ... E - 1 within an article, in the order of first mentions; mentions of one entity are coreferent.
        sentence: index of the sentence that its head is in.
        person: whether the resolver takes it for a person or persons; None where the resolver cannot say.
    """

    start: int
    end: int
    head_start: int
    head_end: int
    entity: int
    sentence: int
    person: bool | None = None


@dataclass(frozen=True, slots=True)
class Resolved:
    """An article with its mentions.

    Attributes:
        id: of the article.
        text: of the article, see `text_of`.
        sentences: (start, end) characters of each sentence, in order, without the white space between them.
        mentions: sorted by `start`, the longer one first.
    """

    id: str
    text: str
    sentences: tuple[tuple[int, int], ...]
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class Unresolved:
    """An article without mentions, and why it has none: it is not of the kind asked for, or could not be read."""

    id: str
    why: str


_SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32())])
_MENTION = pa.struct(
    [
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("head_start", pa.int32()),
        ("head_end", pa.int32()),
        ("entity", pa.int32()),
        ("sentence", pa.int32()),
        ("person", pa.bool_()),
        # Words of the mention, so that chains are made without the articles: its head, its first, its last.
        ("head", pa.string()),
        ("first", pa.string()),
        ("last", pa.string()),
    ]
)
MENTIONS_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        ("sentences", pa.list_(_SPAN)),
        ("mentions", pa.list_(_MENTION)),
        ("rejected", pa.bool_()),
        ("why", pa.string()),
    ]
)


def text_of(article: Article) -> str:
    """The text that a resolver reads: the texts of the sections with a blank line between them, without their titles.

    So does the released code of the model-criticism paper (section 5).
    """
    return SECTION_BREAK.join(section.text for section in article.sections)


def write_mentions(path: str | os.PathLike[str], resolved: Iterable[Resolved | Unresolved]) -> None:
    """Write articles with their mentions as Parquet of schema `MENTIONS_SCHEMA`, whole or not at all."""
    write_batches(path, batches_of(resolved), MENTIONS_SCHEMA)


def iter_mentions(path: str | os.PathLike[str]) -> Iterator[pa.RecordBatch]:
    """Stream what `write_mentions` wrote; raises as `corpora.read_articles`."""
    yield from iter_batches(path, MENTIONS_SCHEMA)


def batches_of(resolved: Iterable[Resolved | Unresolved]) -> Iterator[pa.RecordBatch]:
    """Articles with their mentions as record batches of schema `MENTIONS_SCHEMA`."""
    for rows in batched(resolved, DOCUMENTS_PER_GROUP):
        yield pa.RecordBatch.from_pylist([_row(row) for row in rows], schema=MENTIONS_SCHEMA)


def _row(row: Resolved | Unresolved) -> dict[str, object]:
    if isinstance(row, Unresolved):
        return {"id": row.id, "sentences": [], "mentions": [], "rejected": True, "why": row.why}
    sentences = [{"start": start, "end": end} for start, end in row.sentences]
    mentions = [_mention(mention, row.text) for mention in row.mentions]
    return {"id": row.id, "sentences": sentences, "mentions": mentions, "rejected": False, "why": None}


def _mention(mention: Mention, text: str) -> dict[str, object]:
    head = text[mention.head_start : mention.head_end]
    words = text[mention.start : mention.end].split() or [head]
    fields = {name: getattr(mention, name) for name in Mention.__slots__}
    return {**fields, "head": head, "first": words[0], "last": words[-1]}
