"""How KGLM and its proposal choose the latent state of a token: type, new entity, or an edge from a recent one.

Of one token, given a vector `head` and a vector `edge` of an LSTM, and the states before it:

* type ~ softmax over none, new, related, continue; *continue* only within a mention, *related* only where an entity was
  mentioned within the last `window` tokens.
* new: entity ~ softmax over all entities of v_e . (head + edge).
* related: parent ~ softmax over the distinct entities of the window of v_p . head, then one of the edges that leave it
  ~ softmax of v_r . edge; the entity is where the edge leads to. Every entity has an edge REFLEXIVE to itself. Parent
  and edge change nothing that comes after, so that both are summed out: the probability of the entity is the sum over
  all parents and all parallel edges.
* continue: the entity stays.

Logan et al. 2019, section 3, with the text's [h_p; h_r] as `head` and `edge`. A state is (type, entity); the
probabilities of all possible states of a token sum to one. A temperature divides the logits of each softmax.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch.nn import functional

from textcritic.generators.latent.kglm.graph import Graph, slices
from textcritic.generators.latent.kglm.states import CONTINUE, NEW, RELATED, TYPES, Links


@dataclass(frozen=True, slots=True)
class Features:
    """What the choices at each of F tokens depend on, apart from the states before.

    Attributes:
        head, edge: [F, entity dimensions].
        matches: of a proposal that reads the token: (token, entity) pairs where a name of the entity begins with the
            token, in order [2, pairs]; None: not used.
    """

    head: torch.Tensor
    edge: torch.Tensor
    matches: torch.Tensor | None = None

    def at(self, token: int) -> "Features":
        """Those of one token, F = 1."""
        matches = self.matches
        if matches is not None:
            matches = matches[:, matches[0] == token] - torch.tensor([[token], [0]], device=matches.device)
        return Features(self.head[token : token + 1], self.edge[token : token + 1], matches)


class History(NamedTuple):
    """What came before the token that is chosen for, of K states.

    Attributes:
        current: the entity whose mention is going on, or -1 [K].
        recent: the distinct entities of the window, -1 elsewhere [K, window or less].
    """

    current: torch.Tensor
    recent: torch.Tensor


class Choices(torch.nn.Module):
    """The softmaxes over types, entities, parents and relations.

    Args:
        graph: of the entities.
        size: dimensions of entities and relations.
        window: tokens after which an entity is no longer recent.
        learned: whether entities are learned; else they stay as they are drawn.
        matching: whether features have matches; a learned number is added to the logits of what matches.
    """

    graph: Graph

    def __init__(self, graph: Graph, size: int, window: int, learned: bool, matching: bool = False) -> None:
        super().__init__()
        # Not a part of this module: its tensors are saved with the learner that has both.
        object.__setattr__(self, "graph", graph)
        self.window = window
        self.entity = torch.nn.Parameter(torch.randn(len(graph), size) * size**-0.5, requires_grad=learned)
        self.relation = torch.nn.Parameter(torch.randn(len(graph.relations), size) * size**-0.5)
        self.kinds = torch.nn.Linear(size, len(TYPES))
        self.match = torch.nn.Parameter(torch.zeros(1 + len(TYPES))) if matching else None

    def log_probs(
        self,
        features: Features,
        states: Links,
        at: torch.Tensor,
        temperature: float,
        scored: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """The log probability of the state of each token given those before: float64 [K, T]; -inf: not possible.

        Args:
            features: of F tokens.
            states: K of them.
            at: which of the F tokens each one is [K, T].
            temperature: divides all logits.
            scored: bool [T], the tokens that are asked for, by default all; others have 0.
        """
        types, entities = states.types, states.entities
        if scored is None:
            scored = torch.ones(types.shape[1], dtype=torch.bool, device=types.device)
        before = functional.pad(entities[:, :-1], (1, 0), value=-1)
        logits = self._type_logits(features)[at] / temperature
        log = _allowed(logits, before >= 0, self._is_recent(entities)).log_softmax(-1)
        total = log.gather(-1, types.unsqueeze(-1)).squeeze(-1).double()
        strays = (types == CONTINUE) & (entities != before)
        total = total.masked_fill(strays, -math.inf).masked_fill(~scored, 0.0)
        new, related = (types == NEW) & scored, (types == RELATED) & torch.isfinite(total) & scored
        total = total.masked_scatter(
            new, total[new] + self.new_log_probs(features, at[new], entities[new], temperature)
        )
        return total.masked_scatter(related, total[related] + self._related(features, states, at, related, temperature))

    def new_log_probs(
        self, features: Features, at: torch.Tensor, entities: torch.Tensor, temperature: float
    ) -> torch.Tensor:
        """The log probability that a new mention at some tokens is of some entities, float64 [n]."""
        rows, row = at.unique(return_inverse=True)
        return self._new_table(features, rows, temperature)[row, entities].double()

    def type_table(self, features: Features, history: History, temperature: float) -> torch.Tensor:
        """The log probability of each type, of one token of K states [K, 4]."""
        logits = (self._type_logits(features) / temperature).expand(len(history.current), -1)
        return _allowed(logits, history.current >= 0, (history.recent >= 0).any(1)).log_softmax(-1)

    def new_table(self, features: Features, temperature: float) -> torch.Tensor:
        """The log probability of each entity as a new one [F, entities]."""
        return self._new_table(features, torch.arange(len(features.head), device=features.head.device), temperature)

    def parent_table(self, features: Features, history: History, temperature: float) -> torch.Tensor:
        """The log probability of each entity of the window as the parent [K, window]; all -inf without any."""
        logits = (self.entity[history.recent.clamp(min=0)] * features.head.unsqueeze(1)).sum(-1) / temperature
        logits = logits.masked_fill(history.recent < 0, -math.inf)
        return logits - logits.logsumexp(1, keepdim=True).clamp(min=-1e30)

    def relation_logits(self, features: Features, temperature: float) -> torch.Tensor:
        """The logit of each relation [F, relations]."""
        return features.edge @ self.relation.T / temperature

    def history(self, entities: torch.Tensor) -> History:
        """What the entities of the tokens before [K, tokens before] leave behind."""
        recent = entities[:, max(0, entities.shape[1] - self.window) :].flip(1)
        if not entities.shape[1]:
            return History(entities.new_full((len(entities),), -1), recent)
        same = (recent.unsqueeze(1) == recent.unsqueeze(2)).tril(-1).any(2)
        return History(entities[:, -1], recent.masked_fill(same, -1))

    def _type_logits(self, features: Features) -> torch.Tensor:
        logits = self.kinds(features.head)
        if features.matches is None or self.match is None:
            return logits
        matched = logits.new_zeros(len(logits), 1).index_fill(0, features.matches[0].unique(), 1.0)
        return logits + matched * self.match[1:]

    def _new_table(self, features: Features, rows: torch.Tensor, temperature: float) -> torch.Tensor:
        logits = (features.head[rows] + features.edge[rows]) @ self.entity.T
        if features.matches is not None and self.match is not None:
            place = torch.full((len(features.head),), -1, device=rows.device)
            place[rows] = torch.arange(len(rows), device=rows.device)
            token, entity = place[features.matches[0]], features.matches[1]
            wanted = token >= 0
            logits = logits.index_put((token[wanted], entity[wanted]), self.match[0].to(logits.dtype), accumulate=True)
        return (logits / temperature).log_softmax(-1)

    def _is_recent(self, entities: torch.Tensor) -> torch.Tensor:
        """Whether the window before each token has an entity [K, T]."""
        tokens = torch.arange(entities.shape[1], device=entities.device)
        last = torch.where(entities >= 0, tokens, -self.window - 1).cummax(1).values
        return tokens - functional.pad(last[:, :-1], (1, 0), value=-self.window - 1) <= self.window

    def _related(
        self, features: Features, states: Links, at: torch.Tensor, chosen: torch.Tensor, temperature: float
    ) -> torch.Tensor:
        """The log probability of the entities of related mentions, float64 [n], the sum over parents and edges."""
        if not chosen.any():
            return torch.zeros(0, dtype=torch.float64, device=at.device)
        parents = self._windows(states.entities, chosen)
        rows, row = at[chosen].unique(return_inverse=True)
        listed, place = parents.clamp(min=0).unique(return_inverse=True)
        scores = (features.head[rows] @ self.entity[listed].T / temperature)[row.unsqueeze(1), place]
        log_parent = scores.masked_fill(parents < 0, -math.inf).log_softmax(1)
        tails = states.entities[chosen].unsqueeze(1).expand_as(parents)
        there, pairs = self.graph.find_pairs(parents, tails)
        there &= parents >= 0
        number, column = there.nonzero(as_tuple=True)
        used, pair = pairs[there].unique(return_inverse=True)
        relations = self.relation_logits(features, temperature)[rows].double()
        weights = (relations - relations.amax(1, keepdim=True).detach()).exp()
        edges = self._sums(weights, self.graph.pair_starts, used)[row[number], pair]
        edges = edges / self._sums(weights, self.graph.starts, listed)[row[number], place[number, column]]
        shares = log_parent[number, column].double().exp() * edges
        return torch.zeros(len(parents), dtype=torch.float64, device=at.device).index_add(0, number, shares).log()

    def _windows(self, entities: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """The distinct entities of the window before chosen tokens, -1 elsewhere [n, window]."""
        until_again = torch.full_like(entities, self.window + 1)
        for distance in range(min(self.window, entities.shape[1] - 1), 0, -1):
            same = entities[:, :-distance] == entities[:, distance:]
            until_again[:, :-distance].masked_fill_(same, distance)
        state, token = chosen.nonzero(as_tuple=True)
        distances = torch.arange(1, self.window + 1, device=entities.device)
        sources = token.unsqueeze(1) - distances
        inside = sources.clamp(min=0)
        recent = entities[state.unsqueeze(1), inside]
        last_one = until_again[state.unsqueeze(1), inside] >= distances
        return recent.masked_fill((sources < 0) | ~last_one, -1)

    def _sums(self, weights: torch.Tensor, starts: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """For each token the weights of the relations of some slices of the edges, summed [F, rows]."""
        owner, edges = slices(starts, rows)
        counts = torch.zeros(len(rows), weights.shape[1], dtype=weights.dtype, device=rows.device)
        relations = self.graph.relation[edges]
        counts.index_put_((owner, relations), torch.ones_like(relations, dtype=weights.dtype), accumulate=True)
        return weights @ counts.T


def _allowed(logits: torch.Tensor, within: torch.Tensor, recent: torch.Tensor) -> torch.Tensor:
    """Logits of types, -inf where a type is not possible."""
    forbidden = torch.zeros_like(logits, dtype=torch.bool)
    forbidden[..., CONTINUE] = ~within
    forbidden[..., RELATED] = ~recent
    return logits.masked_fill(forbidden, -math.inf)
