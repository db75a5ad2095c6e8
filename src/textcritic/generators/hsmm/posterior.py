"""Segmentations and states drawn given a text, from the model's exact posterior or from a proposal of known quality.

A latent z is a path through a lattice: the segments of a sequence and the state of each. A proposal q is a Markov chain
along it, so every path can be drawn from the left to the right and its log q is exact.

Of the posterior and of every globally normalised proposal, the conditionals come from one backward pass (backward
filtering, forward sampling; Rabiner 1989 for the passes). A proposal that does not read the rest of the text needs no
pass. Paths share conditionals: each is computed once for all paths that are at one node in one state.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm.lattice import Lattice
from textcritic.generators.hsmm.recursion import Tables, backward

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
NONE = -1  # no segment begins here; no state before the first
VALUES_AT_ONCE = 1 << 22  # conditionals are tables of at most so many numbers


@dataclass(frozen=True)
class Paths:
    """S paths of each of B sequences, of at most T tokens.

    Attributes:
        arcs: arc of the lattice that begins before each token, int64 [B, S, T]; -1 where no segment begins.
        states: state of the segment that begins there, int64 [B, S, T]; -1 where no segment begins.
    """

    arcs: Ints
    states: Ints

    @property
    def samples(self) -> int:
        """S."""
        return self.arcs.shape[1]

    def select(self, samples: slice) -> "Paths":
        """Some of the paths of every sequence."""
        return Paths(self.arcs[:, samples], self.states[:, samples])


class Graph:
    """A lattice whose sequences all have a segmentation, as arrays on the host.

    Args:
        lattice: of B sequences, N nodes, A arcs.

    Raises:
        TextcriticError: a sequence has no segmentation.
    """

    def __init__(self, lattice: Lattice) -> None:
        unparsable = (~lattice.parsable).nonzero()[:, 0].tolist()
        if unparsable:
            raise TextcriticError(
                f"sequence {unparsable[0]}: the model has no segments that it could be made of, so it has no "
                "posterior; leave it out"
            )
        self.lattice = lattice
        self.start, self.end, self.row, self.position, self.sequence = (
            getattr(lattice, name).cpu().numpy() for name in ("start", "end", "row", "position", "sequence")
        )
        self.tokens: Ints = lattice.tokens.cpu().numpy()
        self.first_end = lattice.ends.start
        self.begins: Ints = np.arange(lattice.begins.stop)

    @cached_property
    def leaving(self) -> Ints:
        """The arcs that begin at each node, -1 where there are no more: int64 [N, most arcs]."""
        by_start = self.lattice.by_start.cpu().numpy()
        start = self.start[by_start]
        first = np.searchsorted(start, np.arange(len(self.position)))
        place = np.arange(len(start)) - first[start]
        table = np.full((len(self.position), place.max() + 1), NONE)
        table[start, place] = by_start
        return table


@dataclass(frozen=True)
class Proposal:
    """A chain along the paths of a lattice, and what it takes a state and a segment by.

    From a border, the next state is drawn in proportion to `transition` times what the state is worth there, and then
    one of the segments that begin there, in proportion to `emission` times what lies behind.

    Attributes:
        graph: of B sequences.
        tables: its potentials.
        worth: of each state at each node, in any unit that does not depend on the state [N, K].
        behind: of each state at the end of its segment [N, K].
        scale: logarithm of the unit of `behind` at each node [N].
        log_normaliser: of a globally normalised proposal, the log of the potentials' sum over all paths [B]; else None.
    """

    graph: Graph
    tables: Tables
    worth: Floats
    behind: Floats
    scale: Floats
    log_normaliser: Floats | None = None

    @cached_property
    def _arrays(self) -> tuple[Floats, Floats, Floats, Floats]:
        tables = self.tables
        return tuple(  # type: ignore[return-value]
            t.cpu().numpy() for t in (tables.initial, tables.transition, tables.emission, tables.log_top)
        )

    def draw(self, samples: int, rng: np.random.Generator) -> tuple[Paths, Floats]:
        """Draw S = `samples` paths of each sequence.

        Returns:
            the paths and the log q of each in nats [B, S].

        Raises:
            TextcriticError: fewer than 1 path.
        """
        if samples < 1:
            raise TextcriticError(f"samples: {samples} are too few; draw at least 1 of each sequence")
        node = np.repeat(self.graph.begins, samples)
        arcs, states, log_q, _ = self.go_on(node, np.full(len(node), NONE), rng)
        shape = len(self.graph.begins), samples
        return Paths(arcs.reshape(*shape, -1), states.reshape(*shape, -1)), log_q.reshape(shape)

    def log_q(self, paths: Paths) -> Floats:
        """The log q of given paths in nats [B, S]; minus infinity where q never draws one."""
        if self.log_normaliser is not None:
            return log_potential(self.tables, self.graph, paths) - self.log_normaliser[:, None]
        shape = paths.arcs.shape[:2]
        arcs, states = (part.reshape(-1, part.shape[2]) for part in (paths.arcs, paths.states))
        return self.log_q_between(arcs, states, np.zeros(len(arcs), np.int64)).reshape(shape)

    def go_on(
        self, node: Ints, before: Ints, rng: np.random.Generator, until: Ints | None = None
    ) -> tuple[Ints, Ints, Floats, Ints]:
        """Draw P paths from nodes on.

        Args:
            node: where each begins [P].
            before: state of the segment before, -1 at the beginning of a sequence [P].
            rng: random numbers for the draws.
            until: a path stops at the first border with this many tokens before it, or more [P]; None: at the end.

        Returns:
            arcs and states [P, T], see `Paths`, the log-probability of what was drawn [P], and the last node [P].
        """
        graph, count = self.graph, len(node)
        arcs, states = (np.full((count, int(graph.tokens.max())), NONE) for _ in range(2))
        log_q, node, before, going = np.zeros(count), node.copy(), before.copy(), np.arange(count)
        while len(going := going[node[going] < graph.first_end]):
            if until is not None and not len(going := going[graph.position[node[going]] < until[going]]):
                break
            state, arc, log_step = self.extend(node[going], before[going], rng)
            at = graph.position[node[going]]
            arcs[going, at], states[going, at] = arc, state
            log_q[going] += log_step
            node[going], before[going] = graph.end[arc], state
        return arcs, states, log_q, node

    def log_q_between(self, arcs: Ints, states: Ints, first: Ints, until: Ints | None = None) -> Floats:
        """The log-probability with which `go_on` draws given segments [P].

        Args:
            arcs: the arcs of P paths [P, T], see `Paths`.
            states: the states of these paths [P, T].
            first: only segments with at least this many tokens before them [P].
            until: only segments with fewer tokens than this before them [P]; None: to the end.
        """
        places = np.arange(arcs.shape[1])
        inside = (arcs >= 0) & (places >= first[:, None])
        if until is not None:
            inside &= places < until[:, None]
        path, at = np.nonzero(inside)
        before = states_before(states)[path, at]
        steps = self.log_step(before, states[path, at], arcs[path, at])
        total: Floats = np.bincount(path, steps, len(arcs)).astype(np.float64)
        return total

    def extend(self, node: Ints, before: Ints, rng: np.random.Generator) -> tuple[Ints, Ints, Floats]:
        """Draw one segment more for each of P paths.

        Args:
            node: where it begins [P].
            before: state of the segment before, -1 at the beginning of a sequence [P].
            rng: of the draws.

        Returns:
            states, arcs, and the log-probability of both together, all [P].
        """
        states, slots = self.tables.initial.shape[0], self.graph.leaving
        state, log_state = _choose(node * (states + 1) + before + 1, states, self._state_weights, rng)
        slot, log_arc = _choose(node * states + state, slots.shape[1], self._arc_weights, rng)
        return state, slots[node, slot], log_state + log_arc

    def log_step(self, before: Ints, state: Ints, arc: Ints) -> Floats:
        """The log-probability with which `extend` draws a given state and arc behind a state [P]."""
        node = self.graph.start[arc]
        states, slots = self.tables.initial.shape[0], self.graph.leaving
        slot = (slots[node] == arc[:, None]).argmax(axis=1)
        _, log_state = _choose(node * (states + 1) + before + 1, states, self._state_weights, state)
        _, log_arc = _choose(node * states + state, slots.shape[1], self._arc_weights, slot)
        return log_state + log_arc

    def _state_weights(self, keys: Ints) -> Floats:
        initial, transition, _, _ = self._arrays
        node, before = np.divmod(keys, len(initial) + 1)
        weights = np.where((before == 0)[:, None], initial, transition[before - 1])
        weights *= self.worth[node]
        return weights

    def _arc_weights(self, keys: Ints) -> Floats:
        initial, _, emission, log_top = self._arrays
        node, state = np.divmod(keys, len(initial))
        arc = self.graph.leaving[node]
        end, row = self.graph.end[arc], self.graph.row[arc]
        log_weight = np.where(arc >= 0, log_top[row] + self.scale[end], -np.inf)
        weights = emission[row, state[:, None]] * self.behind[end, state[:, None]]
        # Relative to the greatest that has a weight, so that not all vanish.
        log_weight = np.where(weights > 0, log_weight, -np.inf)
        peak = log_weight.max(axis=1, keepdims=True)
        weights *= np.exp(log_weight - np.where(np.isfinite(peak), peak, 0))
        return weights


@torch.no_grad()
def posterior(tables: Tables, graph: Graph) -> Proposal:
    """The globally normalised proposal of some potentials: q(z) = potential(z) / sum of all.

    Of the model's own tables, see `recursion.tables_of`, it is the exact posterior p(z | x), and
    its normaliser is log p(x).

    Args:
        tables: in float64.
        graph: of B sequences.
    """
    behind = backward(tables, graph.lattice)
    begins = graph.lattice.begins
    total = (behind.before[begins] @ tables.initial).log() + behind.scale[begins]
    # No state is worth anything at an end, and nothing lies behind a beginning: these rows are never read.
    worth, after = behind.before.numpy(), behind.after.numpy()
    return Proposal(graph, tables, worth, after, behind.scale.numpy(), total.numpy())


def log_potential(tables: Tables, graph: Graph, paths: Paths) -> Floats:
    """The log-potential of paths [B, S]; of the model's own tables it is the log joint log p(x, z), in nats."""
    shape = paths.arcs.shape
    arcs, states = paths.arcs.reshape(-1, shape[2]), paths.states.reshape(-1, shape[2])
    path, at = np.nonzero(arcs >= 0)
    state, before = states[path, at], states_before(states)[path, at]
    row = graph.row[arcs[path, at]]
    emission, log_top, transition, initial, final = (
        getattr(tables, name).cpu().numpy() for name in ("emission", "log_top", "transition", "initial", "final")
    )
    with np.errstate(divide="ignore"):
        value = log_top[row] + np.log(emission[row, state])
        value += np.where(before == NONE, np.log(initial)[state], np.log(transition)[before, state])
        last = np.append(path[1:] != path[:-1], True)
        value[last] += np.log(final)[state[last]]
    total: Floats = np.bincount(path, value, len(arcs)).astype(np.float64)
    return total.reshape(shape[:2])


def states_before(states: Ints) -> Ints:
    """For each place, the state of the last segment that began before it; -1 if no segment did.

    Takes and returns [P, T].
    """
    places = np.where(states >= 0, np.arange(states.shape[1]), NONE)
    latest = np.maximum.accumulate(places, axis=1)
    latest = np.pad(latest[:, :-1], ((0, 0), (1, 0)), constant_values=NONE)
    return np.where(latest >= 0, np.take_along_axis(states, latest.clip(0), axis=1), NONE)


def _choose(
    keys: Ints, width: int, weights_of: Callable[[Ints], Floats], source: np.random.Generator | Ints
) -> tuple[Ints, Floats]:
    """A choice for each key [P], and its log-probability [P]; equal keys share one row of weights.

    Args:
        keys: [P].
        width: number of choices W.
        weights_of: weights [M, W] of distinct keys [M].
        source: random numbers, or the choices if they are given [P].
    """
    distinct, inverse = np.unique(keys, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    step = max(1, VALUES_AT_ONCE // width)
    stops = np.searchsorted(inverse[order], np.arange(0, len(distinct) + step, step))
    uniforms = source.random(len(keys)) if isinstance(source, np.random.Generator) else None
    chosen = np.empty(len(keys), np.int64) if isinstance(source, np.random.Generator) else source
    log_prob = np.empty(len(keys))
    for piece, first in enumerate(range(0, len(distinct), step)):
        members = order[stops[piece] : stops[piece + 1]]
        which = inverse[members] - first
        weights = weights_of(distinct[first : first + step])
        sums = weights.cumsum(axis=1)
        total = sums[:, -1]
        if uniforms is not None:
            # One sorted array: the rows' cumulative shares, row r between r and r + 1.
            flat = (sums / total[:, None] + np.arange(len(sums))[:, None]).ravel()
            below = np.minimum(uniforms[members], 1 - np.spacing(float(len(sums))))
            chosen[members] = np.searchsorted(flat, which + below, side="right") - which * width
        with np.errstate(divide="ignore"):
            log_prob[members] = np.log(weights[which, chosen[members]] / total[which])
    return chosen, log_prob
