"""What KGLM and its proposal share: settings, the knowledge graph, an LSTM over the words, batches of texts."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Self, TypeVar

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from textcritic.corpora.structured.links import Knowledge
from textcritic.corpora.structured.texts import Structured
from textcritic.errors import TextcriticError
from textcritic.generators.latent.kglm.graph import Graph
from textcritic.generators.latent.kglm.states import Links, links_of
from textcritic.generators.latent.lstm import Memory
from textcritic.generators.latent.model import Learner
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.plan.entries.latent import GraphSizes

Sizes = TypeVar("Sizes", bound=GraphSizes)


class LinkLearner(Learner[Sizes]):
    """A learner that reads a knowledge graph.

    Attributes:
        graph: see `Graph`.
    """

    def __init__(self, settings: Sizes, vocabulary: Vocabulary, graph: Graph) -> None:
        super().__init__(settings, vocabulary)
        self.graph = graph

    @classmethod
    def build(cls, settings: Sizes, vocabulary: Vocabulary, knowledge: Path | None = None) -> Self:
        """See `Learner.build`."""
        return cls(settings, vocabulary, read_graph(knowledge, vocabulary, cls.kind))

    @classmethod
    def load(cls, folder: str | os.PathLike[str], knowledge: Path | None = None) -> Self:
        """As `Learner.load`.

        Raises:
            TextcriticError: also where the model was trained with another knowledge graph.
        """
        learner = super().load(folder, knowledge)
        if int(learner.graph.checksum) != learner.graph.fingerprint:
            raise TextcriticError(f"{folder}: was trained with another knowledge graph than {knowledge}; give that one")
        return learner

    def states_of(self, text: Structured) -> Links:
        """The states that a text has, K = 1; see `states.links_of`.

        Raises:
            TextcriticError: an entity is not in the graph.
        """
        return links_of(text, self.graph, self.settings.window)

    def gold(self, texts: Sequence[Structured]) -> Links:
        """The states of texts, padded by NONE [texts, longest text]."""
        states = [self.states_of(text) for text in texts]
        pad = lambda rows, value: torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=value)  # noqa: E731
        types, entities = pad([s.types[0] for s in states], 0), pad([s.entities[0] for s in states], -1)
        return Links(types.to(self.device), entities.to(self.device))

    def moved(self, text: Structured, states: Links) -> Links:
        """States where the weights are.

        Raises:
            TextcriticError: they are not of this text.
        """
        if states.types.shape[1] != len(text.tokens):
            raise TextcriticError(
                f"{text.id}: has {len(text.tokens)} tokens, but the states are of {states.types.shape[1]}"
            )
        return Links(states.types.to(self.device), states.entities.to(self.device))


class Reader(torch.nn.Module):
    """An LSTM over the words of texts, then a linear map to vectors of given sizes.

    Args:
        size: widths of the words and of the LSTM, its layers and dropout.
        parts: dimensions of each vector that is made.
        both_ways: whether the LSTM reads in both directions.
    """

    def __init__(self, size: GraphSizes, parts: Sequence[int], both_ways: bool = False) -> None:
        super().__init__()
        self.parts = list(parts)
        self.dropout = torch.nn.Dropout(size.dropout)
        between = size.dropout if size.layers > 1 else 0.0
        self.lstm = torch.nn.LSTM(
            size.words, size.hidden, size.layers, batch_first=True, dropout=between, bidirectional=both_ways
        )
        self.out = torch.nn.Linear(size.hidden * (2 if both_ways else 1), sum(parts))

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The parts at each token [texts, T, part]; what is beyond a text's length has no meaning.

        Args:
            vectors: of words [texts, T, words].
            lengths: of the texts [texts].
        """
        packed = pack_padded_sequence(self.dropout(vectors), lengths.cpu(), batch_first=True, enforce_sorted=False)
        hidden = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=vectors.shape[1])[0]
        return self.out(self.dropout(hidden)).split(self.parts, -1)

    def step(self, vectors: torch.Tensor, state: Memory | None) -> tuple[tuple[torch.Tensor, ...], Memory]:
        """The parts of one more token of each text [texts, part], and the LSTM's state after it."""
        hidden, state = self.lstm(vectors.unsqueeze(1), state)
        return self.out(hidden[:, 0]).split(self.parts, -1), state


def shifted(words: torch.Tensor, begin: int) -> torch.Tensor:
    """The word before each word, `begin` before the first."""
    return torch.nn.functional.pad(words[:, :-1], (1, 0), value=begin)


def sums_of(log: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Sums over the tokens of each text [texts], without padding."""
    real = torch.arange(log.shape[1], device=log.device) < lengths.to(log.device).unsqueeze(1)
    return log.masked_fill(~real, 0.0).sum(1)


def read_graph(knowledge: Path | None, vocabulary: Vocabulary, kind: str) -> Graph:
    """The graph of a folder of `links.write_knowledge`.

    Raises:
        TextcriticError: there is no folder, or it cannot be read.
    """
    if knowledge is None:
        raise TextcriticError(f"{kind}: needs the folder of a knowledge graph; give a corpus that has one")
    return Graph(Knowledge.read(knowledge), vocabulary)
