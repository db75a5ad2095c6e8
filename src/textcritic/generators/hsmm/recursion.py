"""The recursions of a hidden semi-Markov model: log-marginal likelihood, its gradient, and expected counts.

The cost is linear in tokens and sequences: a matrix product of [nodes, K] with [K, K] for each level of the lattice
and K multiplications for each arc. Everything is in nats. The passes compute in scaled probabilities.

At each node, `finish` [K] is the probability of the tokens before it and of a segment of each state ending there, and
`begin` [K] that of a segment of each state beginning there; `before` and `after` are those of the tokens behind it,
given such a beginning or end. Segments are merged first and one matrix product with the transitions follows, for all
nodes of a level at once.

Why nothing vanishes. Every node has its own scale, a float64 logarithm, and within a node all numbers are relative to
it: `finish` and `before` sum to one. Transitions below `floor` f (1e-30 in fp32) count as f, so `begin` and `after`,
which are products of the former with a matrix of entries in [f, 1], lie in [f, 1]; where a sequence begins or ends they
are `initial` or `final`, and so these are floored too: else the heaviest of the arcs that meet might be one that has no
probability at all, and the others would vanish next to it. (A model that never ends gives no sequence any probability;
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
from dataclasses import dataclass, replace

import torch
from torch.autograd.function import once_differentiable

from textcritic.generators.hsmm.lattice import Lattice
from textcritic.generators.hsmm.model import HSMM

FLOORS = {torch.float32: 1e-30, torch.float64: 1e-100}
NEVER = -1e9  # the log-scale of a row that no state emits; finite, so that differences are
VALUES_AT_ONCE = {"cpu": 1 << 18, "gpu": 1 << 26}  # the arcs' posterior [arcs, K] is made in such pieces


@dataclass(frozen=True)
class Counts:
    """Expected numbers of events under the posterior, what maximum likelihood needs.

    Attributes:
        emission: numbers of segments, by row and state [R, K], in the model's number type.
        transition: numbers of transitions from state to state, float64 [K, K].
        initial: numbers of first segments, by state, float64 [K].
        end: numbers of last segments, by state, float64 [K].
        proceed: numbers of segments that are not the last, by state, float64 [K].
        log_marginal: log-likelihood of each sequence that was counted last, float64 [B]; minus infinity for sequences
            without a segmentation, which are not counted.
    """

    emission: torch.Tensor
    transition: torch.Tensor
    initial: torch.Tensor
    end: torch.Tensor
    proceed: torch.Tensor
    log_marginal: torch.Tensor

    @classmethod
    def zeros(cls, model: HSMM) -> "Counts":
        """No events yet."""
        small = torch.zeros_like(model.initial, dtype=torch.float64)
        square = torch.zeros_like(model.transition, dtype=torch.float64)
        return cls(torch.zeros_like(model.emission), square, small, small.clone(), small.clone(), small[:0])


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
        """The tables, from their logarithms; the logarithms `emission` are overwritten."""
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


@torch.no_grad()
def log_marginal(model: HSMM, lattice: Lattice, end: bool = False) -> torch.Tensor:
    """The log-marginal likelihood log p(x) of each sequence of a batch, in nats, float64 [B].

    The sum over all segmentations and states of initial * transitions * emissions. As published, the number of
    segments is not modelled; with `end`, every transition is times 1 - end of the state before it, and the last segment
    times its state's end. Minus infinity where there is no segmentation, and with `end` for a model that never ends.

    Entries below 1e-30 (fp64: 1e-100) of `initial`, of the transitions (times 1 - end) and of `end` count as that,
    zeros too: a sequence that is possible but for them is not minus infinity but some 69 (230) nats less for each.
    """
    return forward(tables_of(model, lattice, end), lattice).log_marginal


@torch.no_grad()
def expected_counts(model: HSMM, lattice: Lattice, end: bool = False, into: Counts | None = None) -> Counts:
    """Expected counts of a batch by forward-backward.

    Args:
        model: K states, R rows.
        lattice: the batch.
        end: whether the end is modelled, see `log_marginal`.
        into: counts to which these are added, in place; so an epoch needs one table of [R, K].

    Returns:
        `into` with the batch's log-marginal likelihoods, or new counts.
    """
    tables = tables_of(model, lattice, end)
    ahead = forward(tables, lattice)
    counts = Counts.zeros(model) if into is None else into
    _add_counts(tables, lattice, ahead, None, counts)
    return replace(counts, log_marginal=ahead.log_marginal)


def log_marginal_of_logs(
    lattice: Lattice,
    log_emission: torch.Tensor,
    log_transition: torch.Tensor,
    log_initial: torch.Tensor,
    log_end: torch.Tensor | None = None,
) -> torch.Tensor:
    """As `log_marginal`, float64 [B], differentiable with respect to the logarithms of the tables.

    The gradient is the expected counts (d log p / d log theta), by one backward pass. The logarithms may be minus
    infinity; initial states, transitions and ends below 1e-30 (fp64: 1e-100) count as that, see `log_marginal`.

    Args:
        lattice: the batch.
        log_emission: [R, K].
        log_transition: [K, K]; where ends are modelled, with the log-probability of going on added to each row.
        log_initial: [K].
        log_end: log-probability that the sequence ends after a segment of each state [K]; None: not modelled.
    """
    final = torch.zeros_like(log_initial) if log_end is None else log_end
    value: torch.Tensor = _LogMarginal.apply(lattice, log_emission, log_transition, log_initial, final)
    return value


class _LogMarginal(torch.autograd.Function):
    @staticmethod
    def forward(ctx, lattice, log_emission, log_transition, log_initial, log_final):  # type: ignore[no-untyped-def]
        tables = Tables.of_logs(log_emission.index_select(0, lattice.rows), log_transition, log_initial, log_final)
        ahead = forward(tables, lattice)
        ctx.state, ctx.rows = (tables, lattice, ahead), len(log_emission)
        return ahead.log_marginal

    @staticmethod
    @once_differentiable
    def backward(ctx, weights):  # type: ignore[no-untyped-def]
        tables, lattice, ahead = ctx.state
        small = torch.zeros_like(tables.initial, dtype=torch.float64)
        counts = Counts(
            emission=tables.emission.new_zeros(ctx.rows, len(small)),
            transition=torch.zeros_like(tables.transition, dtype=torch.float64),
            initial=small,
            end=small.clone(),
            proceed=small.clone(),
            log_marginal=ahead.log_marginal,
        )
        _add_counts(tables, lattice, ahead, weights, counts)
        dtype = tables.initial.dtype
        return None, counts.emission, counts.transition.to(dtype), counts.initial.to(dtype), counts.end.to(dtype)


def tables_of(model: HSMM, lattice: Lattice, end: bool) -> Tables:
    """What the recursions read of a model, for the rows that occur in a lattice."""
    transition, final = model.transition, torch.ones_like(model.initial)
    if end:
        transition, final = transition * (1 - model.end)[:, None], model.end
    return Tables.of_probabilities(model.emission.index_select(0, lattice.rows), transition, model.initial, final)


def _add_counts(tables: Tables, lattice: Lattice, ahead: Forward, weights: torch.Tensor | None, counts: Counts) -> None:
    """Add the expected counts, those of each sequence times its weight [B] if given."""
    behind = backward(tables, lattice)
    node = node_weights(lattice, ahead, behind, weights)
    for arcs, posterior in arc_posteriors(tables, lattice, ahead, behind, node):
        counts.emission.index_add_(0, lattice.rows[lattice.row[arcs]], posterior)
    _add_borders(tables, lattice, ahead, behind, node.to(tables.initial.dtype)[:, None], counts)


def _add_borders(
    tables: Tables, lattice: Lattice, ahead: Forward, behind: Backward, node: torch.Tensor, counts: Counts
) -> None:
    """Add what happens at the nodes: first segments, transitions in one matrix product, last segments."""
    begins, ends, inner = lattice.begins, lattice.ends, slice(lattice.begins.stop, lattice.ends.start)
    transition = (ahead.finish[inner] * node[inner]).T @ behind.before[inner]
    counts.transition.add_(transition.mul_(tables.transition))
    counts.proceed.add_(transition.sum(dim=1))
    counts.initial.add_((behind.before[begins] * node[begins]).mul_(tables.initial).sum(dim=0))
    counts.end.add_((ahead.finish[ends] * node[ends]).mul_(tables.final).sum(dim=0))


def forward(tables: Tables, lattice: Lattice) -> Forward:
    """The probabilities of what lies before each node."""
    begin, finish, scale = _empty(tables, lattice)
    begin[lattice.begins] = tables.initial
    for level in range(1, lattice.levels):
        nodes, arcs = _between(lattice.node_stops, level), _between(lattice.arc_stops, level)
        meeting = _Meeting(lattice.start[arcs], lattice.row[arcs], lattice.end[arcs] - nodes.start)
        scale[nodes] = _merge(tables, begin, scale, meeting, finish[nodes])
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
        meeting = _Meeting(end[arcs], row[arcs], start[arcs] - nodes.start)
        scale[nodes] = _merge(tables, after, scale, meeting, before[nodes])
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
    step = max(1, VALUES_AT_ONCE["cpu" if tables.emission.device.type == "cpu" else "gpu"] // len(tables.initial))
    for first in range(0, len(lattice.row), step):
        arcs = slice(first, first + step)
        start, end, row = lattice.start[arcs], lattice.end[arcs], lattice.row[arcs]
        # The part of `finish` that comes by this arc, as it was merged, times what `finish` is worth.
        part = (ahead.scale[start] + tables.log_top[row] - ahead.scale[end]).clamp_max(limit).exp().to(dtype)
        posterior = ahead.begin.index_select(0, start).mul_(part[:, None])
        posterior.mul_(tables.emission.index_select(0, row))
        yield arcs, posterior.mul_(behind.after.index_select(0, end).mul_(node[end].to(dtype)[:, None]))


@dataclass(frozen=True)
class _Meeting:
    """Arcs that meet at the nodes of a level, int64 [arcs] each.

    Attributes:
        at: node that the arc comes from.
        row: index into the lattice's rows.
        into: node where it ends, counted from the level's first.
    """

    at: torch.Tensor
    row: torch.Tensor
    into: torch.Tensor


def _merge(
    tables: Tables, source: torch.Tensor, scale: torch.Tensor, meeting: _Meeting, values: torch.Tensor
) -> torch.Tensor:
    """Merge what arcs bring from their nodes in `source` into `values`, which sum to one; returns their scales."""
    at, row, into = meeting.at, meeting.row, meeting.into
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
