"""A knowledge graph and the aliases of its entities as tensors."""

import json
import zlib
from itertools import accumulate, groupby

import torch

from textcritic.corpora.structured.links import Knowledge
from textcritic.generators.latent.vocabulary import Vocabulary


class Graph(torch.nn.Module):
    """Numbers of entities and relations, the edges from each entity, and the words of its aliases.

    A REFLEXIVE edge (relation 0) leads from every entity to itself. Edges are in order of parent, tail and relation, so
    those of a parent are a slice, and so are those of a pair (parent, tail), the parallel edges.

    Attributes:
        names: of the entities, by number.
        numbers: of the entities, by name.
        relations: of the graph, by number.
        surfaces: the words of all aliases, entity after entity, as the aliases have them.
        starts: where the edges of an entity begin [entities + 1].
        relation, tail: of each edge [edges].
        pairs: parent * entities + tail, of each pair that has an edge, in order [pairs].
        pair_starts: where the edges of a pair begin [pairs + 1].
        alias_starts: where the words of the aliases of an entity begin [entities + 1].
        alias_words: their numbers in the vocabulary, an unknown one 0 [words of aliases].
        alias_before: the word before within the alias; at its first word the vocabulary's size [words of aliases].
        fingerprint: a checksum of the whole.
        checksum: the same as a tensor, which is saved with a model; after loading that of the graph of its training.
    """

    starts: torch.Tensor
    relation: torch.Tensor
    tail: torch.Tensor
    pairs: torch.Tensor
    pair_starts: torch.Tensor
    alias_starts: torch.Tensor
    alias_words: torch.Tensor
    alias_before: torch.Tensor
    checksum: torch.Tensor

    def __init__(self, knowledge: Knowledge, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.names, self.relations = knowledge.entities, knowledge.relations
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self._keep_edges(knowledge)
        self._keep_aliases(knowledge, vocabulary)
        content = json.dumps([sorted(knowledge.edges.items()), sorted(knowledge.aliases.items())])
        self.fingerprint = zlib.crc32(content.encode())
        self.register_buffer("checksum", torch.tensor(self.fingerprint))

    def __len__(self) -> int:
        """Entities."""
        return len(self.names)

    def find_pairs(self, parents: torch.Tensor, tails: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Whether an edge leads from a parent to a tail, and the place of the pair in `pairs` where one does."""
        wanted = parents * len(self) + tails
        places = torch.searchsorted(self.pairs, wanted).clamp(max=len(self.pairs) - 1)
        return self.pairs[places] == wanted, places

    def _keep_edges(self, knowledge: Knowledge) -> None:
        relations = {name: number for number, name in enumerate(self.relations)}
        edges = {(number, number, 0) for number in range(len(self))}
        for parent, outgoing in knowledge.edges.items():
            edges |= {(self.numbers[parent], self.numbers[tail], relations[relation]) for relation, tail in outgoing}
        ordered = sorted(edges)
        parents, tails, kinds = (torch.tensor(column) for column in zip(*ordered, strict=True))
        pairs = [(pair, len(list(same))) for pair, same in groupby(edge[:2] for edge in ordered)]
        self._keep("starts", _starts(torch.bincount(parents, minlength=len(self)).tolist()))
        self._keep("relation", kinds)
        self._keep("tail", tails)
        self._keep("pairs", torch.tensor([parent * len(self) + tail for (parent, tail), _ in pairs]))
        self._keep("pair_starts", _starts([count for _, count in pairs]))

    def _keep_aliases(self, knowledge: Knowledge, vocabulary: Vocabulary) -> None:
        before, counts = [], []
        surfaces: list[str] = []
        for name in self.names:
            aliases = knowledge.aliases[name]
            counts.append(sum(len(alias) for alias in aliases))
            for alias in aliases:
                surfaces += alias
                before += [len(vocabulary), *vocabulary.encode(alias[:-1]).tolist()]
        self.surfaces = tuple(surfaces)
        self._keep("alias_starts", _starts(counts))
        self._keep("alias_words", vocabulary.encode(surfaces))
        self._keep("alias_before", torch.tensor(before, dtype=torch.int64))

    def _keep(self, name: str, values: torch.Tensor) -> None:
        self.register_buffer(name, values, persistent=False)


def slices(starts: torch.Tensor, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The items of slices, one after the other: which of `rows` each belongs to, and its place in the whole list.

    Args:
        starts: where each row's items begin [all rows + 1].
        rows: whose items are wanted, repeats allowed [rows].
    """
    counts = starts[rows + 1] - starts[rows]
    owner = torch.repeat_interleave(torch.arange(len(rows), device=rows.device), counts)
    first = counts.cumsum(0) - counts
    return owner, torch.arange(len(owner), device=rows.device) - first[owner] + starts[rows][owner]


def _starts(counts: list[int]) -> torch.Tensor:
    return torch.tensor([0, *accumulate(counts)], dtype=torch.int64)
