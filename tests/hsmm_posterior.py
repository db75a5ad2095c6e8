"""What one sequence is made of, by recursions over a lattice: the posterior of each segment, and the likeliest path."""

from dataclasses import dataclass

import numpy as np
import torch

from textcritic.generators.hsmm.lattice import Lattice
from textcritic.generators.hsmm.model import HSMM
from textcritic.generators.hsmm.recursion import (
    NEVER,
    Tables,
    arc_posteriors,
    backward,
    forward,
    node_weights,
    tables_of,
)

LIKELIEST = 32
VALUES_AT_ONCE = {"cpu": 1 << 22, "cuda": 1 << 28}


@dataclass(frozen=True)
class Segmentation:
    """The segments of B sequences one after the other, on the host.

    Attributes:
        offsets: where the segments of each sequence begin, and the end of the last, int64 [B + 1]; a sequence without
            a segmentation has none.
        starts: tokens before each segment, int64 [segments].
        stops: tokens up to the end of each, int64 [segments].
        rows: of the lexicon, int64 [segments].
        states: int64 [segments].
        log_prob: of each sequence with its segmentation and states, float64 [B], in nats; minus infinity without.
    """

    offsets: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    rows: np.ndarray
    states: np.ndarray
    log_prob: np.ndarray


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


@torch.no_grad()
def viterbi(model: HSMM, lattice: Lattice, end: bool = False) -> Segmentation:
    """The most probable segmentation with its states, exactly up to rounding in the model's type.

    Initial states, transitions and ends below 1e-30 (fp64: 1e-100) count as that, see `log_marginal`; of equally
    probable paths one is taken.

    Args:
        model: K states, R rows.
        lattice: a batch of B sequences.
        end: whether the end is modelled, see `log_marginal`.
    """
    tables = tables_of(model, lattice, end)
    last, best_arc, best_state = _best(tables, lattice)
    arcs, states, path = _trace(lattice, last, best_arc, best_state)
    log_prob = _log_prob(tables, arcs, states, path, lattice)
    possible = log_prob > NEVER / 2
    sequence = lattice.sequence[lattice.ends]
    parsed = torch.full_like(lattice.tokens, -torch.inf, dtype=torch.float64)
    parsed[sequence[possible]] = log_prob[possible]
    kept = possible[path]
    arcs, states = arcs[kept], states[kept]
    segments = torch.bincount(lattice.sequence[lattice.end[arcs]], minlength=len(parsed))
    return Segmentation(
        offsets=np.concatenate([[0], np.cumsum(segments.cpu().numpy())]),
        starts=lattice.position[lattice.start[arcs]].cpu().numpy(),
        stops=lattice.position[lattice.end[arcs]].cpu().numpy(),
        rows=lattice.rows[lattice.row[arcs]].cpu().numpy(),
        states=states.cpu().numpy(),
        log_prob=parsed.cpu().numpy(),
    )


def _best(tables: Tables, lattice: Lattice) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The last state of each best path [P]; the best arc to each node and state, and the best state before it, [N, K].

    Within a node, logarithms are relative to the greatest.
    """
    emission, transition = tables.emission.log().clamp_min(NEVER), tables.transition.log()
    backwards = transition.T.contiguous()
    shape = len(lattice.sequence), len(tables.initial)
    begin, scale = emission.new_empty(shape), torch.zeros_like(lattice.sequence, dtype=torch.float64)
    best_arc, best_state = (torch.empty(shape, dtype=torch.int64, device=begin.device) for _ in range(2))
    begin[lattice.begins] = tables.initial.log()
    finish = begin[lattice.ends]
    for level in range(1, lattice.levels):
        nodes = slice(lattice.node_stops[level], lattice.node_stops[level + 1])
        arcs = slice(lattice.arc_stops[level], lattice.arc_stops[level + 1])
        start, row, into = lattice.start[arcs], lattice.row[arcs], lattice.end[arcs] - nodes.start
        weight = scale[start] + tables.log_top[row]
        peak = weight.new_full((nodes.stop - nodes.start,), -torch.inf).scatter_reduce_(0, into, weight, "amax")
        score = begin[start] + emission[row] + (weight - peak[into]).to(begin.dtype)[:, None]
        finish, best_arc[nodes] = _greatest(score, into, len(peak))
        best_arc[nodes] += arcs.start
        top = finish.amax(dim=1, keepdim=True)
        finish, scale[nodes] = finish - top, peak + top[:, 0].double()
        if nodes != lattice.ends:
            begin[nodes], best_state[nodes] = _step(finish, transition, backwards)
    return (finish + tables.final.log()).argmax(dim=1), best_arc, best_state


def _greatest(score: torch.Tensor, into: torch.Tensor, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Of scores [a, K] merged at `into` [a], the greatest [size, K] and the first place where each was."""
    index = into[:, None].expand_as(score)
    best = score.new_full((size, score.shape[1]), -torch.inf).scatter_reduce_(0, index, score, "amax")
    place = torch.arange(len(score), device=score.device)[:, None]
    place = torch.where(score == best[into], place, len(score))
    first = place.new_full(best.shape, len(score)).scatter_reduce_(0, index, place, "amin")
    return best, first


def _step(finish: torch.Tensor, transition: torch.Tensor, backwards: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The greatest of finish [n, K] plus transition [K, K] over the states before, and which it was, [n, K] both.

    `backwards` is the transitions with the states before as columns.

    As no transition adds to a score, those that finish best decide, unless this is worse than how others finish.
    """
    likely = finish.topk(min(LIKELIEST, finish.shape[1]), dim=1)
    best, place = (likely.values[:, :, None] + transition[likely.indices]).max(dim=1)
    state = likely.indices.gather(1, place)
    unsure = (best < likely.values[:, -1:]).any(dim=1).nonzero()[:, 0]
    for some in unsure.split(max(1, VALUES_AT_ONCE.get(finish.device.type, 1 << 22) // transition.numel())):
        best[some], state[some] = (finish[some, None] + backwards).max(dim=2)
    return best, state


def _trace(
    lattice: Lattice, last: torch.Tensor, best_arc: torch.Tensor, best_state: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The arcs of the best paths, their states, and the number of the parsable sequence of each, in reading order."""
    node, state = torch.arange(lattice.ends.start, lattice.ends.stop, device=last.device), last
    path = torch.arange(len(node), device=last.device)
    arcs, states, paths = [path[:0]], [path[:0]], [path[:0]]
    for _ in range(lattice.levels - 1):
        arc = best_arc[node, state]
        arcs.append(arc)
        states.append(state)
        paths.append(path)
        node = lattice.start[arc]
        going = node >= lattice.begins.stop
        node, path = node[going], path[going]
        state = best_state[node, state[going]]
    paths_, arcs_, states_ = (torch.cat(parts[::-1]) for parts in (paths, arcs, states))
    order = torch.argsort(paths_, stable=True)
    return arcs_[order], states_[order], paths_[order]


def _log_prob(
    tables: Tables, arcs: torch.Tensor, states: torch.Tensor, path: torch.Tensor, lattice: Lattice
) -> torch.Tensor:
    """The log-probability of each path, float64 [P]."""
    row = lattice.row[arcs]
    first = torch.ones_like(path, dtype=torch.bool)
    first[1:] = path[1:] != path[:-1]
    last = first.roll(-1)
    value = tables.log_top[row] + tables.emission[row, states].double().log().clamp_min(NEVER)
    before = tables.transition[states.roll(1), states].double().log()
    value += torch.where(first, tables.initial[states].double().log(), before)
    value += torch.where(last, tables.final[states].double().log(), 0)
    return value.new_zeros(lattice.ends.stop - lattice.ends.start).index_add_(0, path, value)
