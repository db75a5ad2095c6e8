"""The k best paths of a text, exactly, and the strict bound that they give (beam marginalisation)."""

from dataclasses import dataclass

import numpy as np
import torch

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm.posterior import NONE, Floats, Graph, Ints, Paths
from textcritic.generators.hsmm.recursion import NEVER, Tables

VALUES_AT_ONCE = 1 << 24


@dataclass(frozen=True)
class Best:
    """The k best paths of B sequences, best first.

    Attributes:
        paths: [B, k, T]; a sequence with fewer than k paths has `NONE` alone in the last ones.
        log_prob: log joint of each in nats [B, k], minus infinity where there is none.
    """

    paths: Paths
    log_prob: Floats


@torch.no_grad()
def k_best(tables: Tables, graph: Graph, count: int) -> Best:
    """The `count` most probable paths of each sequence, exactly; of equally probable ones any.

    A beam goes over the tokens. A hypothesis is valued with the best of what can follow, by one backward pass with a
    maximum instead of the sum. At each token every path has one beginning, so if a path is among the k best, at most
    k - 1 beginnings can be better than its own: a beam of k loses nothing.

    Args:
        tables: the model's own, see `recursion.tables_of`, or a proposal's; K states.
        graph: of B sequences.
        count: k.

    Raises:
        TextcriticError: k is below 1.
    """
    if count < 1:
        raise TextcriticError(f"k: {count} is too few; ask for at least 1 path")
    ahead = _Ahead.of(tables, graph)
    # The node at each token of each sequence, -1 where no segment can begin.
    nodes = np.full((len(graph.begins), int(graph.tokens.max())), NONE)
    inner = np.arange(graph.first_end)
    nodes[graph.sequence[inner], graph.position[inner]] = inner
    parts = [_of_sequence(ahead, graph, of_sequence, count) for of_sequence in nodes]
    arcs, states, value = (np.stack(part) for part in zip(*parts, strict=True))
    return Best(Paths(arcs, states), value)


def _of_sequence(ahead: "_Ahead", graph: Graph, nodes: Ints, count: int) -> tuple[Ints, Ints, Floats]:
    """Arcs and states [k, T] and log joint [k] of the best paths of the sequence with these nodes [T]."""
    arcs, states = (np.full((count, len(nodes)), NONE) for _ in range(2))
    node, before = np.full(count, nodes[0]), np.full(count, NONE)
    value = np.full(count, -np.inf)  # of the segments so far
    value[0] = 0
    for at, here in enumerate(nodes):
        growing = np.flatnonzero((node == here) & np.isfinite(value))
        if here == NONE or not len(growing):
            continue
        waiting = np.flatnonzero((node != here) & np.isfinite(value))
        slots = graph.leaving[here][graph.leaving[here] >= 0]
        steps = np.where((before[growing] == NONE)[:, None], ahead.initial, ahead.transition[before[growing]])
        grown = (value[growing, None] + steps)[:, None] + ahead.emission[graph.row[slots]]
        promise = (grown + ahead.end[graph.end[slots]]).ravel()
        promise = np.concatenate([value[waiting] + ahead.end[node[waiting], before[waiting]], promise])
        kept = np.argpartition(-promise, count - 1)[:count] if len(promise) > count else np.arange(len(promise))
        kept = kept[promise[kept] > NEVER / 2]
        parent, slot, state = np.unravel_index((kept - len(waiting)).clip(0), grown.shape)
        is_old = kept < len(waiting)
        parent = np.where(
            is_old, waiting[kept.clip(max=max(len(waiting) - 1, 0))] if len(waiting) else 0, growing[parent]
        )
        old_arcs, old_states, old = arcs[parent], states[parent], (node[parent], before[parent], value[parent])
        arcs[:], states[:], value[:] = NONE, NONE, -np.inf
        filled = len(kept)
        arcs[:filled], states[:filled] = old_arcs, old_states
        arcs[:filled][~is_old, at], states[:filled][~is_old, at] = slots[slot][~is_old], state[~is_old]
        node[:filled] = np.where(is_old, old[0], graph.end[slots[slot]])
        before[:filled] = np.where(is_old, old[1], state)
        value[:filled] = np.where(is_old, old[2], grown.ravel()[(kept - len(waiting)).clip(0)])
    value = np.where(np.isfinite(value), value + ahead.final[before], -np.inf)
    order = np.argsort(-value, kind="stable")
    return arcs[order], states[order], value[order]


@dataclass(frozen=True)
class _Ahead:
    """Log tables, and the best that can follow each state [N, K]: `begin` if it begins at a node, `end` if it ends."""

    initial: Floats
    transition: Floats
    emission: Floats
    final: Floats
    begin: Floats
    end: Floats

    @classmethod
    def of(cls, tables: Tables, graph: Graph) -> "_Ahead":
        lattice = graph.lattice
        emission = (tables.emission.log() + tables.log_top[:, None]).clamp_min(NEVER)
        transition, final = tables.transition.log(), tables.final.log()
        shape = len(graph.position), len(final)
        begin, end = (torch.full(shape, NEVER, dtype=torch.float64) for _ in range(2))
        end[lattice.ends] = final
        step = max(1, VALUES_AT_ONCE // len(final) ** 2)
        for level in reversed(range(lattice.levels - 1)):
            nodes = slice(lattice.node_stops[level], lattice.node_stops[level + 1])
            arcs = lattice.by_start[lattice.leaving_stops[level] : lattice.leaving_stops[level + 1]]
            values = emission[lattice.row[arcs]] + end[lattice.end[arcs]]
            into = (lattice.start[arcs] - nodes.start)[:, None].expand_as(values)
            begin[nodes] = begin[nodes].scatter_reduce(0, into, values, "amax")
            for first in range(nodes.start, nodes.stop, step):
                some = slice(first, min(first + step, nodes.stop))
                end[some] = (transition[None] + begin[some][:, None, :]).amax(dim=2)
        arrays = (tables.initial.log(), transition, emission, final, begin, end)
        return cls(*(array.numpy() for array in arrays))
