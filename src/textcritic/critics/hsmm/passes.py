"""The forward and the backward pass over a lattice, in scaled probabilities, and what follows from both.

At each node, `finish` [K] is the probability of the tokens before it and of a segment of each state ending there, and
`begin` [K] that of a segment of each state beginning there; `before` and `after` are those of the tokens behind it,
given such a beginning or end. Segments are merged first and one matrix product with the transitions follows, for all
nodes of a level at once.

Why nothing vanishes. Every node has its own scale, a float64 logarithm, and within a node all numbers are relative to
it: `finish` and `before` sum to one. Transitions below `floor` f (1e-30 in fp32) count as f, so `begin` and `after`,
which are products of the former with a matrix of entries in [f, 1], lie in [f, 1]; where a sequence begins or ends they
are `initial` or `final`, and so these are floored too: else the heaviest of the arcs that meet might be one that has no
probability at all, and the others would vanish beside it. (A model that never ends gives no sequence any probability;
its `final` stays zero, but for the backward pass.) An arc's row of the emission table is divided by its greatest entry.
At a merge, the arcs' log-weights are taken relative to the greatest among them and 1/f is multiplied in: the heaviest
arc has weight 1/f, meets at least f in every state and 1 in the row's best one, so the sum over states is at least 1,
and at most K D / f, far below overflow. What is made zero there or when the sum is made one is below 1e-37 D of it. To
the next `begin`, whose entries are at least f, all states together could have added 1e-7 K D of it at most, and hardly
ever do: so the result is that of the model whose probabilities of transitions, of first states and of ends are at least
f and whose rows have no entry below 1e-38 of their greatest, to the precision of the type.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from textcritic.critics.hsmm.lattice import Lattice

FLOORS = {torch.float32: 1e-30, torch.float64: 1e-100}
NEVER = -1e9  # the log-scale of a row that no state emits; finite, so that differences are
VALUES_AT_ONCE = {"cpu": 1 << 18, "cuda": 1 << 26}  # the arcs' posterior [arcs, K] is made in such pieces


@dataclass(frozen=True)
class Tables:
    """What a batch needs of a model: K states, the U rows that occur in its lattice.

    Attributes:
        emission: each row divided by its greatest entry [U, K].
        log_top: logarithm of that entry, float64 [U].
        transition: between segments, times the probability of going on where ends are modelled [K, K].
        initial: [K].
        final: what a path is worth that ends in each state [K], 1 where ends are not modelled.
    """

    emission: torch.Tensor
    log_top: torch.Tensor
    transition: torch.Tensor
    initial: torch.Tensor
    final: torch.Tensor

    @classmethod
    def of_probabilities(
        cls, emission: torch.Tensor, transition: torch.Tensor, initial: torch.Tensor, final: torch.Tensor
    ) -> "Tables":
        """From the rows that occur [U, K], which are overwritten, and the other tables."""
        top, least = emission.amax(dim=1), torch.finfo(emission.dtype).tiny
        log_top = torch.where(top >= least, top.double().log(), NEVER)
        _flush(emission.div_(top.clamp_min(least)[:, None]))
        return cls(emission, log_top, *_floored(transition, initial, final, FLOORS[emission.dtype]))

    @classmethod
    def of_logs(
        cls, emission: torch.Tensor, transition: torch.Tensor, initial: torch.Tensor, final: torch.Tensor
    ) -> "Tables":
        """The same from logarithms; those of the rows that occur are overwritten."""
        top = emission.amax(dim=1)
        log_top = torch.where(top.isfinite(), top.double(), NEVER)
        _flush(emission.sub_(top.nan_to_num(neginf=0)[:, None]).exp_())
        return cls(emission, log_top, *_floored(transition.exp(), initial.exp(), final.exp(), FLOORS[emission.dtype]))

    @property
    def floor(self) -> float:
        """The least transition probability f."""
        return FLOORS[self.emission.dtype]


@dataclass(frozen=True)
class Forward:
    """`begin` and `finish` [N, K] (undefined at ends and beginnings), scale float64 [N], log p(x) float64 [B]."""

    begin: torch.Tensor
    finish: torch.Tensor
    scale: torch.Tensor
    log_marginal: torch.Tensor


@dataclass(frozen=True)
class Backward:
    """`before` and `after` [N, K] (undefined at ends and beginnings), scale float64 [N]."""

    before: torch.Tensor
    after: torch.Tensor
    scale: torch.Tensor


def forward(tables: Tables, lattice: Lattice) -> Forward:
    """The probabilities of what lies before each node."""
    begin, finish, scale = _empty(tables, lattice)
    begin[lattice.begins] = tables.initial
    for level in range(1, lattice.levels):
        nodes, arcs = _between(lattice.node_stops, level), _between(lattice.arc_stops, level)
        into = lattice.end[arcs] - nodes.start
        scale[nodes] = _merge(tables, begin, scale, lattice.start[arcs], lattice.row[arcs], into, finish[nodes])
        if nodes != lattice.ends:
            torch.mm(finish[nodes], tables.transition, out=begin[nodes])
    ends = lattice.ends
    log_marginal = torch.full_like(lattice.tokens, -torch.inf, dtype=torch.float64)
    log_marginal[lattice.sequence[ends]] = (finish[ends].double() @ tables.final.double()).log() + scale[ends]
    return Forward(begin, finish, scale, log_marginal)


def backward(tables: Tables, lattice: Lattice) -> Backward:
    """The probabilities of what lies behind each node."""
    after, before, scale = _empty(tables, lattice)
    after[lattice.ends] = tables.final.clamp_min(tables.floor)  # zero where no state ends
    start, end, row = (value[lattice.by_start] for value in (lattice.start, lattice.end, lattice.row))
    for level in reversed(range(lattice.levels - 1)):
        nodes, arcs = _between(lattice.node_stops, level), _between(lattice.leaving_stops, level)
        scale[nodes] = _merge(tables, after, scale, end[arcs], row[arcs], start[arcs] - nodes.start, before[nodes])
        if level:
            torch.mm(before[nodes], tables.transition.T, out=after[nodes])
    return Backward(before, after, scale)


def node_weights(lattice: Lattice, ahead: Forward, behind: Backward, weights: torch.Tensor | None) -> torch.Tensor:
    """What makes `finish` times `after` of a node a posterior of the states, float64 [N].

    At beginnings, where nothing ends, what makes `begin` times `before` one. Times the sequence's weight [B] if given;
    0 for sequences that have no probability.
    """
    log_marginal = torch.where(ahead.log_marginal.isfinite(), ahead.log_marginal, torch.inf)
    joint = (ahead.scale + behind.scale - log_marginal[lattice.sequence]).exp()
    return joint if weights is None else joint * weights.double()[lattice.sequence]


def arc_posteriors(
    tables: Tables, lattice: Lattice, ahead: Forward, behind: Backward, node: torch.Tensor
) -> Iterator[tuple[slice, torch.Tensor]]:
    """Piece by piece, arcs and the posterior of each with each state [arcs, K]; `node` as `node_weights` says."""
    dtype, limit = tables.emission.dtype, 1 - math.log(tables.floor)
    step = max(1, VALUES_AT_ONCE.get(tables.emission.device.type, 1 << 18) // len(tables.initial))
    for first in range(0, len(lattice.row), step):
        arcs = slice(first, first + step)
        start, end, row = lattice.start[arcs], lattice.end[arcs], lattice.row[arcs]
        # The part of `finish` that comes by this arc, as it was merged, times what `finish` is worth.
        part = (ahead.scale[start] + tables.log_top[row] - ahead.scale[end]).clamp_max(limit).exp().to(dtype)
        posterior = ahead.begin.index_select(0, start).mul_(part[:, None])
        posterior.mul_(tables.emission.index_select(0, row))
        yield arcs, posterior.mul_(behind.after.index_select(0, end).mul_(node[end].to(dtype)[:, None]))


def _merge(
    tables: Tables,
    source: torch.Tensor,
    scale: torch.Tensor,
    at: torch.Tensor,
    row: torch.Tensor,
    into: torch.Tensor,
    values: torch.Tensor,
) -> torch.Tensor:
    """Merge arcs from the nodes `at` at the nodes `into` of a level: `values` that sum to one; returns their scales."""
    log_weight = scale[at] + tables.log_top[row]
    alone = len(at) == len(values)  # one arc for each node, in their order
    if alone:
        peak, relative = log_weight, torch.zeros_like(log_weight)
        torch.index_select(source, 0, at, out=values)
        arcs = values
    else:
        peak = log_weight.new_full((len(values),), -torch.inf).scatter_reduce_(0, into, log_weight, "amax")
        relative = log_weight - peak[into]
        arcs = source.index_select(0, at)
    arcs.mul_(relative.exp_().div_(tables.floor).to(source.dtype)[:, None])
    arcs.mul_(tables.emission.index_select(0, row))
    if not alone:
        values.zero_().index_add_(0, into, arcs)
    total = values.sum(dim=1).clamp_min_(torch.finfo(values.dtype).tiny)
    _flush(values.div_(total[:, None]))
    return peak + (total.double() * tables.floor).log()


def _floored(
    transition: torch.Tensor, initial: torch.Tensor, final: torch.Tensor, floor: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The tables with entries of at least `floor`, but for the ends of a model that never ends: those stay zero."""
    ending = final.clamp_min(floor) * (final.amax() > 0)
    return transition.clamp_min(floor), initial.clamp_min(floor), ending


def _flush(values: torch.Tensor) -> None:
    """Make numbers zero that lack the full precision of the type: arithmetic on them is many times slower on a CPU."""
    torch.threshold_(values, torch.finfo(values.dtype).tiny, 0)


def _empty(tables: Tables, lattice: Lattice) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    shape = len(lattice.sequence), len(tables.initial)
    scale = torch.zeros(shape[0], dtype=torch.float64, device=tables.initial.device)
    return tables.emission.new_empty(shape), tables.emission.new_empty(shape), scale


def _between(stops: list[int], level: int) -> slice:
    return slice(stops[level], stops[level + 1])
