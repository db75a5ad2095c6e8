"""Beam search for states that a proposal finds likely.

A state is (type, entity), and its probability the sum over all parents and all parallel edges that lead to it. So the
states of a beam are distinct, and the sum of p(x, z) over them is never above p(x).
"""

import math

import torch

from textcritic.generators.latent.kglm.choices import Choices, Features, History
from textcritic.generators.latent.kglm.graph import slices
from textcritic.generators.latent.kglm.states import CONTINUE, NEW, NONE, RELATED, Links


def best_states(choices: Choices, features: Features, tokens: int, width: int) -> Links:
    """At most `width` distinct states, all with a probability above zero, the likeliest first.

    Args:
        choices: the distribution.
        features: of the tokens.
        tokens: T.
        width: states that are kept after each token.
    """
    device = features.head.device
    states = Links(*(torch.empty(1, 0, dtype=torch.int64, device=device) for _ in range(2)))
    scores = torch.zeros(1, dtype=torch.float64, device=device)
    for token in range(tokens):
        at = features.at(token)
        history = choices.history(states.entities)
        log_types = choices.type_table(at, history, 1.0).double()
        parts = [
            _alone(log_types, NONE, torch.full_like(history.current, -1)),
            _alone(log_types, CONTINUE, history.current),
            _new(choices, at, log_types, width),
            _related(choices, at, history, log_types),
        ]
        added, row, kinds, entities = (torch.cat(column) for column in zip(*parts, strict=True))
        total = scores[row] + added
        scores, order = total.topk(min(width, int(torch.isfinite(total).sum())))
        kept = row[order]
        states = Links(
            torch.cat([states.types[kept], kinds[order].unsqueeze(1)], 1),
            torch.cat([states.entities[kept], entities[order].unsqueeze(1)], 1),
        )
    return states


_Part = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
"""Ways to go on: log probability, the row of the state before, type and entity."""


def _alone(log_types: torch.Tensor, kind: int, entities: torch.Tensor) -> _Part:
    rows = torch.arange(len(entities), device=entities.device)
    return log_types[:, kind], rows, torch.full_like(rows, kind), entities


def _new(choices: Choices, features: Features, log_types: torch.Tensor, width: int) -> _Part:
    """The `width` likeliest entities, which are the same for all states; others cannot be kept."""
    table = choices.new_table(features, 1.0)[0].double()
    log, entities = table.topk(min(width, len(table)))
    total = (log_types[:, NEW, None] + log).flatten()
    rows = torch.arange(len(log_types), device=log.device).repeat_interleave(len(log))
    return total, rows, torch.full_like(rows, NEW), entities.repeat(len(log_types))


def _related(choices: Choices, features: Features, history: History, log_types: torch.Tensor) -> _Part:
    """All entities that an edge leads to from the window."""
    shares = choices.parent_table(features, history, 1.0).double().exp()
    row, column = (history.recent >= 0).nonzero(as_tuple=True)
    logits = choices.relation_logits(features, 1.0)[0].double()
    weights = (logits - logits.max()).exp()
    owner, edges = slices(choices.graph.starts, history.recent[row, column])
    weight = weights[choices.graph.relation[edges]]
    sums = torch.zeros(len(row), dtype=torch.float64, device=row.device).index_add(0, owner, weight)
    key = row[owner] * len(choices.graph) + choices.graph.tail[edges]
    keys, place = key.unique(return_inverse=True)
    reached = torch.zeros(len(keys), dtype=torch.float64, device=row.device)
    reached = reached.index_add(0, place, shares[row, column][owner] * weight / sums[owner])
    rows, entities = keys // len(choices.graph), keys % len(choices.graph)
    # The log of 0, where an edge is too unlikely for a number: it is left out by the caller.
    total = log_types[rows, RELATED] + reached.clamp(min=0).log()
    return total.nan_to_num(nan=-math.inf), rows, torch.full_like(rows, RELATED), entities
