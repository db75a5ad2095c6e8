"""Texts whose mentions are linked to a knowledge graph, as Linked WikiText-2 has them, and such a graph.

Logan et al. 2019 (ACL), section 4, describe the data. A mention has the entity that it names, and the edges by which
this entity follows from entities mentioned before. Dates, quantities and properties are entities as all others: in the
validation and test splits they are 449 of 27,221 mentions, and most are linked to a parent.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from textcritic.corpora.readers.jsonl import json_lines
from textcritic.corpora.readers.section_lists import is_strings
from textcritic.corpora.readers.values import kind_of
from textcritic.corpora.structured.texts import Edge, Mention, Structured
from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_json

NEW, REFLEXIVE = "@@NEW@@", "@@REFLEXIVE@@"
"""Relations that are not of the graph: no parent; the entity itself is mentioned again."""
BEGIN = "@@START@@"
GRAPH, ALIASES = "graph.json", "aliases.json"
MAX_ALIASES, MAX_ALIAS_TOKENS = 4, 8

EMPTY = "annotation without tokens"
OVERLAP = "annotation that overlaps the one before"
TOO_LONG = "annotation longer than a piece"
NOT_MENTIONED = "edge from an entity that is not mentioned before"
EARLIER_PIECE = "edge from an entity that only an earlier piece of the article mentions"


def read_links(path: str | os.PathLike[str], skipped: Counter[str], longest: int = 70) -> Iterator[Structured]:
    """Stream the pieces of the articles in a file of Linked WikiText-2 (JSON lines, plain or gzipped).

    An article is cut into pieces of `longest` tokens; a piece ends earlier where a mention would be cut. All pieces of
    an article are one group. The @@START@@ of an article is left out: it is given, not predicted. An edge counts within
    its piece only: a mention whose parents are all in earlier pieces is that of a new entity.

    Args:
        path: of the file: title, tokens and annotations (id, relation, parent_id, span) in each line. Annotations
            that are null are none.
        skipped: counts what was left out, by reason.
        longest: tokens of a piece.

    Raises:
        TextcriticError: the file cannot be read, or a line is not as published; the message has file and line. Or
            `longest` is below 1.
    """
    if longest < 1:
        raise TextcriticError(f"pieces of {longest} tokens cannot be made; give at least 1")
    for number, record in json_lines(path):
        where = f"{path}:{number}"
        title, tokens, annotations = _checked(record, where)
        offset = 1 if tokens[0] == BEGIN else 0
        mentions = _mentions(annotations, offset, len(tokens), where, skipped)
        yield from _pieces(f"{number}: {title}", tokens[offset:], mentions, longest, skipped)


@dataclass(frozen=True)
class Knowledge:
    """A knowledge graph with the names of its entities.

    Attributes:
        edges: relation and entity of each edge from an entity. REFLEXIVE edges are understood, not stored.
        aliases: the names of each entity, each a tuple of tokens. Every entity is a key here; it may have no name.
    """

    edges: Mapping[str, tuple[tuple[str, str], ...]]
    aliases: Mapping[str, tuple[tuple[str, ...], ...]]

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> "Knowledge":
        """Read a folder of `write_knowledge`.

        Raises:
            TextcriticError: a file is missing or not as written, an edge leads to an entity that the aliases do not
                have, or an alias has no tokens.
        """
        graph, names = Path(folder) / GRAPH, Path(folder) / ALIASES
        edges, aliases = read_json(graph), read_json(names)
        for path, content, size in ((graph, edges, 2), (names, aliases, None)):
            if not isinstance(content, dict) or not all(_is_lists(value, size) for value in content.values()):
                of = "[relation, entity] pairs" if size else "aliases, each a list of tokens"
                raise TextcriticError(f"{path}: should be an object with a list of {of} for each entity")
        if not aliases:
            raise TextcriticError(f"{names}: has no entities")
        for entity, names_of_entity in aliases.items():
            if not all(names_of_entity):
                raise TextcriticError(f"{names}: entity {entity} has an alias of zero tokens; remove it")
        for parent, pairs in edges.items():
            for entity in (parent, *(tail for _, tail in pairs)):
                if entity not in aliases:
                    raise TextcriticError(f"{graph}: entity {entity} is not in {ALIASES}; give it [] there")
        return cls(
            {parent: tuple((relation, tail) for relation, tail in pairs) for parent, pairs in edges.items()},
            {entity: tuple(tuple(alias) for alias in names_of_entity) for entity, names_of_entity in aliases.items()},
        )

    @cached_property
    def entities(self) -> tuple[str, ...]:
        """All entities, in alphabetical order; a model numbers them by it."""
        return tuple(sorted(self.aliases))

    @cached_property
    def relations(self) -> tuple[str, ...]:
        """REFLEXIVE, and the relations of the graph in alphabetical order; a model numbers them by it."""
        return (REFLEXIVE, *sorted({relation for pairs in self.edges.values() for relation, _ in pairs}))


def write_knowledge(texts: Iterable[Structured], folder: str | os.PathLike[str]) -> Knowledge:
    """Write the graph and the aliases that texts show, for where there is no released graph, as graph.json and
    aliases.json.

    Every edge of a mention is an edge of the graph. The aliases of an entity are the names that it is mentioned by most
    often, at most 4, of at most 8 tokens. Give the texts of all splits, so that the graph knows every entity; a model
    that reads this graph knows more of the test split than with a graph from elsewhere.

    Args:
        texts: with mentions.
        folder: made where it is not there.

    Returns:
        what `Knowledge.read` reads back.

    Raises:
        TextcriticError: no text has a mention.
    """
    edges: dict[str, set[tuple[str, str]]] = defaultdict(set)
    names: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    for text in texts:
        for mention in text.mentions:
            name = text.tokens[mention.start : mention.end]
            names[mention.entity][name] += len(name) <= MAX_ALIAS_TOKENS
            for edge in mention.edges:
                names[edge.parent] += Counter()
                if edge.relation != REFLEXIVE:
                    edges[edge.parent].add((edge.relation, mention.entity))
    if not names:
        raise TextcriticError(f"{folder}: no graph can be made of texts without mentions")
    knowledge = Knowledge(
        {parent: tuple(sorted(edges[parent])) for parent in sorted(edges)},
        {entity: _commonest(names[entity]) for entity in sorted(names)},
    )
    Path(folder).mkdir(parents=True, exist_ok=True)
    write_json(Path(folder) / GRAPH, knowledge.edges)
    write_json(Path(folder) / ALIASES, knowledge.aliases)
    return knowledge


def _is_lists(value: object, size: int | None) -> bool:
    """Whether a value is a list of lists of strings, of `size` each."""
    return isinstance(value, list) and all(
        isinstance(item, list)
        and all(isinstance(part, str) for part in item)
        and len(item) in (size, size or len(item))
        for item in value
    )


def _commonest(names: Counter[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    order = sorted((-count, name) for name, count in names.items() if count)
    return tuple(name for _, name in order[:MAX_ALIASES])


@dataclass(frozen=True, slots=True)
class _Annotation:
    start: int
    end: int
    entity: str
    edges: tuple[Edge, ...]  # without that of NEW


def _checked(record: object, where: str) -> tuple[str, tuple[str, ...], list[_Annotation]]:
    """The title, tokens and annotations of a line."""
    if not isinstance(record, dict) or not {"title", "tokens", "annotations"} <= set(record):
        raise TextcriticError(f"{where}: should be an object with title, tokens and annotations")
    tokens = record["tokens"]
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens) or len(tokens) < 2:
        raise TextcriticError(f"{where}: `tokens` should be a list of at least two strings")
    given = [] if record["annotations"] is None else record["annotations"]
    if not isinstance(given, list):
        raise TextcriticError(f"{where}: `annotations` is {kind_of(given)}; it should be a list of objects, or null")
    title = "" if record["title"] is None else str(record["title"])
    annotations = [_annotation(item, where) for item in given]
    return title, tuple(tokens), sorted(annotations, key=lambda item: (item.start, item.end))


def _annotation(item: object, where: str) -> _Annotation:
    try:
        if not isinstance(item, dict):
            raise TypeError(item)
        start, end = (int(place) for place in item["span"])
        entity, parents, relations = item["id"], item["parent_id"], item["relation"]
        if not (isinstance(entity, str | int) and is_strings(parents) and is_strings(relations)):
            raise ValueError(item)
        pairs = list(zip(parents, relations, strict=True))
    except (KeyError, OverflowError, TypeError, ValueError):
        raise TextcriticError(
            f"{where}: an annotation should have id, span [start, end], and as many parent_id as relation: {item}"
        ) from None
    return _Annotation(start, end, str(entity), tuple(Edge(*pair) for pair in pairs if pair[1] != NEW))


def _mentions(
    annotations: list[_Annotation], offset: int, tokens: int, where: str, skipped: Counter[str]
) -> list[Mention]:
    """The annotations that can be used, with places counted from `offset`."""
    mentions: list[Mention] = []
    mentioned: set[str] = set()
    for item in annotations:
        if not offset <= item.start <= item.end <= tokens:
            raise TextcriticError(
                f"{where}: an annotation has the span {item.start} to {item.end}; there are {tokens} tokens"
            )
        if item.start == item.end:
            skipped[EMPTY] += 1
        elif mentions and item.start - offset < mentions[-1].end:
            skipped[OVERLAP] += 1
        else:
            edges = tuple(edge for edge in item.edges if edge.parent in mentioned)
            skipped[NOT_MENTIONED] += len(item.edges) - len(edges)
            mentions.append(Mention(item.start - offset, item.end - offset, item.entity, edges))
            mentioned.add(item.entity)
    return mentions


def _pieces(
    name: str, tokens: tuple[str, ...], mentions: list[Mention], longest: int, skipped: Counter[str]
) -> Iterator[Structured]:
    kept = [mention for mention in mentions if mention.end - mention.start <= longest]
    skipped[TOO_LONG] += len(mentions) - len(kept)
    first = 0
    while first < len(tokens):
        end = min(first + longest, len(tokens))
        end = next((mention.start for mention in kept if mention.start < end < mention.end), end)
        inside = [mention for mention in kept if first <= mention.start < end]
        yield Structured(f"{name} [{first}]", tokens[first:end], mentions=_within(inside, first, skipped), group=name)
        first = end


def _within(mentions: list[Mention], first: int, skipped: Counter[str]) -> tuple[Mention, ...]:
    """The mentions of a piece that begins at token `first`, with the edges from its own entities."""
    moved, mentioned = [], set[str]()
    for mention in mentions:
        edges = tuple(edge for edge in mention.edges if edge.parent in mentioned)
        skipped[EARLIER_PIECE] += len(mention.edges) - len(edges)
        moved.append(Mention(mention.start - first, mention.end - first, mention.entity, edges))
        mentioned.add(mention.entity)
    return tuple(moved)
