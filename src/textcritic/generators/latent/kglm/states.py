"""The latent states of KGLM, from the mentions of a text and back."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from textcritic.corpora.structured.texts import Edge, Mention, Structured
from textcritic.errors import TextcriticError
from textcritic.generators.latent.kglm.graph import Graph, slices

NONE, NEW, RELATED, CONTINUE = range(4)
TYPES = ("none", "new", "related", "continue")


@dataclass(frozen=True, slots=True)
class Links:
    """K states of one text of T tokens.

    Attributes:
        types: NONE, NEW, RELATED or CONTINUE of each token, int64 [K, T].
        entities: the entity that a token is of the mention of, by its number in the graph; -1 with NONE; int64 [K, T].
    """

    types: torch.Tensor
    entities: torch.Tensor

    def __post_init__(self) -> None:
        if self.types.shape != self.entities.shape or self.types.dim() != 2:
            raise TextcriticError(
                f"states of KGLM have types and entities of one shape [K, T]; they are {tuple(self.types.shape)} and "
                f"{tuple(self.entities.shape)}"
            )
        if not torch.equal(self.types == NONE, self.entities == -1):
            raise TextcriticError("states of KGLM have entity -1 where the type is none, and only there")

    def __len__(self) -> int:
        """K."""
        return len(self.types)

    def __getitem__(self, rows: slice) -> "Links":
        return Links(self.types[rows], self.entities[rows])


def links_of(text: Structured, graph: Graph, window: int) -> Links:
    """The states that a text has, K = 1.

    A mention is RELATED where it has edges and the graph leads to its entity from one that was mentioned within the
    `window` tokens before; else it is NEW.

    Raises:
        TextcriticError: an entity is not in the graph.
    """
    types, entities = [NONE] * len(text.tokens), [-1] * len(text.tokens)
    for mention in text.mentions:
        if mention.entity not in graph.numbers:
            raise TextcriticError(
                f"{text.id}: entity {mention.entity} is not in the knowledge graph; give a graph that has the entities "
                "of this corpus"
            )
        entity = graph.numbers[mention.entity]
        recent = set(entities[max(0, mention.start - window) : mention.start]) - {-1}
        related = bool(mention.edges) and _is_reached(graph, recent, entity)
        types[mention.start : mention.end] = [
            RELATED if related else NEW,
            *[CONTINUE] * (mention.end - mention.start - 1),
        ]
        entities[mention.start : mention.end] = [entity] * (mention.end - mention.start)
    return Links(torch.tensor([types]), torch.tensor([entities]))


def texts_of(text: Structured, states: Links, graph: Graph, window: int) -> list[Structured]:
    """The text with the mentions of each state; a related one has all edges from the entities of the window."""
    return [
        Structured(text.id, text.tokens, mentions=_mentions(types, entities, graph, window), group=text.group)
        for types, entities in zip(states.types.tolist(), states.entities.tolist(), strict=True)
    ]


def _mentions(types: Sequence[int], entities: Sequence[int], graph: Graph, window: int) -> tuple[Mention, ...]:
    mentions = []
    for start, kind in enumerate(types):
        if kind in (NEW, RELATED):
            end = start + 1
            while end < len(types) and types[end] == CONTINUE:
                end += 1
            recent = set(entities[max(0, start - window) : start]) - {-1} if kind == RELATED else set()
            edges = _edges(graph, recent, entities[start])
            mentions.append(Mention(start, end, graph.names[entities[start]], edges))
    return tuple(mentions)


def _edges(graph: Graph, parents: set[int], entity: int) -> tuple[Edge, ...]:
    order = torch.tensor(sorted(parents), dtype=torch.int64, device=graph.pairs.device)
    there, pairs = graph.find_pairs(order, torch.full_like(order, entity))
    owner, edges = slices(graph.pair_starts, pairs[there])
    names = [graph.names[parent] for parent in order[there].tolist()]
    relations = [graph.relations[relation] for relation in graph.relation[edges].tolist()]
    return tuple(Edge(names[row], relation) for row, relation in zip(owner.tolist(), relations, strict=True))


def _is_reached(graph: Graph, parents: set[int], entity: int) -> bool:
    order = torch.tensor(sorted(parents), dtype=torch.int64, device=graph.pairs.device)
    return bool(graph.find_pairs(order, torch.full_like(order, entity))[0].any())
