"""Log-marginal likelihood, expected counts, gradients and posterior segmentation of a hidden semi-Markov model.

The cost is linear in tokens and sequences: a matrix product of [nodes, K] with [K, K] for each level of the lattice
and K multiplications for each arc, see `passes`. Everything is in nats.
"""

from dataclasses import dataclass, replace

import torch
from torch.autograd.function import once_differentiable

from textcritic.critics.hsmm.lattice import Lattice
from textcritic.critics.hsmm.model import HSMM
from textcritic.critics.hsmm.passes import Backward, Forward, Tables, arc_posteriors, backward, forward, node_weights


@dataclass(frozen=True)
class Counts:
    """Expected numbers of events under the posterior, what maximum likelihood needs.

    Attributes:
        emission: of segments by row and state [R, K], of the model's type.
        transition: from segment to segment, float64 [K, K].
        initial: of first segments, float64 [K].
        end: of last segments, float64 [K].
        proceed: of segments that were not the last, float64 [K].
        log_marginal: of the sequences that were counted last, float64 [B]; minus infinity for those that have no
            segmentation, which are not counted.
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


@torch.no_grad()
def segment_posterior(
    model: HSMM, lattice: Lattice, end: bool = False, states: bool = False
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """The posterior probability of each segment, [A]; with `states` also jointly with its state, [A, K].

    Zero for the arcs of a sequence that has no probability.
    """
    tables = tables_of(model, lattice, end)
    ahead, behind = forward(tables, lattice), backward(tables, lattice)
    node = node_weights(lattice, ahead, behind, None)
    arcs = tables.emission.new_empty(len(lattice.row))
    joint = tables.emission.new_empty(len(lattice.row), model.states) if states else None
    for piece, posterior in arc_posteriors(tables, lattice, ahead, behind, node):
        arcs[piece] = posterior.sum(dim=1)
        if joint is not None:
            joint[piece] = posterior
    return arcs if joint is None else (arcs, joint)


def log_marginal_of_logs(
    lattice: Lattice,
    log_emission: torch.Tensor,
    log_transition: torch.Tensor,
    log_initial: torch.Tensor,
    log_end: torch.Tensor | None = None,
) -> torch.Tensor:
    """The same, float64 [B], differentiable with respect to the logarithms of the tables.

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
