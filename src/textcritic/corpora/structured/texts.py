"""Tokens with the structure behind them: trees, mentions of entities, or links to a knowledge graph."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa

from textcritic.batches import batched
from textcritic.corpora.articles import ARTICLE_SCHEMA, ROWS_PER_GROUP, iter_batches, write_batches
from textcritic.errors import TextcriticError
from textcritic.values import Row

SHIFT, REDUCE = 0, 1


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of a knowledge graph: from the entity `parent` by `relation` to the entity that a mention refers to."""

    parent: str
    relation: str


@dataclass(frozen=True, slots=True)
class Mention:
    """Tokens that name an entity.

    Attributes:
        start, end: tokens `start` to `end - 1`.
        entity: its name or number within the text; in links the name in the knowledge graph.
        edges: of links, how it follows from entities mentioned before; empty for a new entity.
    """

    start: int
    end: int
    entity: str
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True)
class Structured:
    """A text as latent language models read it: a sentence or a document.

    Attributes:
        id: of its own.
        tokens: at least one.
        actions: of trees, SHIFT and REDUCE of a binary tree over the n tokens, 2n - 1 of them; else empty.
        mentions: of mentions and links, in order and without overlap; else empty.
        group: see `articles.Article`.
    """

    id: str
    tokens: tuple[str, ...]
    actions: tuple[int, ...] = ()
    mentions: tuple[Mention, ...] = ()
    group: str | None = None

    def __post_init__(self) -> None:
        fault = self._fault()
        if fault:
            raise TextcriticError(f"{self.id}: {fault}")

    def _fault(self) -> str | None:
        if not self.tokens:
            return "it has no tokens"
        if any(not token or token.split() != [token] for token in self.tokens):
            return "a token is empty or has white space in it"
        if self.actions and not is_tree(self.actions, len(self.tokens)):
            return f"its {len(self.actions)} actions are not a binary tree over {len(self.tokens)} tokens"
        end = 0
        for mention in self.mentions:
            if mention.start < end:
                return f"the mention of tokens {mention.start} to {mention.end} overlaps the one before"
            if not mention.start < mention.end <= len(self.tokens):
                return f"a mention is of tokens {mention.start} to {mention.end}; there are {len(self.tokens)}"
            end = mention.end
        return None


def is_tree(actions: Sequence[int], tokens: int) -> bool:
    """Whether actions build one binary tree over so many tokens."""
    height, shifts = 0, 0
    for action in actions:
        if action == SHIFT:
            height, shifts = height + 1, shifts + 1
        elif action == REDUCE and height >= 2:
            height -= 1
        else:
            return False
    return height == 1 and shifts == tokens


_EDGE = pa.struct([("parent", pa.string()), ("relation", pa.string())])
_MENTION = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("entity", pa.string()), ("edges", pa.list_(_EDGE))])
STRUCTURED_SCHEMA = (
    ARTICLE_SCHEMA.append(pa.field("tokens", pa.list_(pa.string()), nullable=False))
    .append(pa.field("actions", pa.list_(pa.int8()), nullable=False))
    .append(pa.field("mentions", pa.list_(_MENTION), nullable=False))
)
"""A corpus whose articles have one section, the tokens with a space between two; structure is in three more columns."""


def write_structured(path: str | os.PathLike[str], texts: Iterable[Structured], source: str) -> None:
    """Write texts as Parquet in `STRUCTURED_SCHEMA`, whole or not at all; `source` is where they came from."""
    write_batches(path, _batches(texts, source), STRUCTURED_SCHEMA)


def read_structured(path: str | os.PathLike[str]) -> list[Structured]:
    """Read them back.

    Raises:
        TextcriticError: the file is missing, truncated, not Parquet, lacks a column, or a structure is not possible.
    """
    return [_text(row) for batch in iter_batches(path, STRUCTURED_SCHEMA) for row in batch.to_pylist()]


def _batches(texts: Iterable[Structured], source: str) -> Iterator[pa.RecordBatch]:
    for some in batched(texts, ROWS_PER_GROUP):
        rows = [
            {**asdict(text), "title": None, "source": source}
            | {"sections": [{"title": None, "text": " ".join(text.tokens)}]}
            for text in some
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=STRUCTURED_SCHEMA)


def _text(row: Row) -> Structured:
    mentions = mentions_of(row["mentions"])
    return Structured(row["id"], tuple(row["tokens"]), tuple(row["actions"]), mentions, row["group"])


def mentions_of(rows: Iterable[Row]) -> tuple[Mention, ...]:
    """Mentions from what `dataclasses.asdict` makes of them."""
    return tuple(
        Mention(row["start"], row["end"], row["entity"], tuple(Edge(**edge) for edge in row["edges"])) for row in rows
    )
