"""Sequential Monte Carlo and annealing of a hidden semi-Markov model, see `inference.sequential` and `.annealed`."""

from dataclasses import dataclass, replace

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm.posterior import (
    NONE,
    Floats,
    Graph,
    Ints,
    Paths,
    Proposal,
    log_potential,
    states_before,
)
from textcritic.generators.hsmm.recursion import Tables
from textcritic.inference import Annealable, StepModel


@dataclass(frozen=True)
class Grown:
    """Particles [N, K]: the node where each has come to, -1 or the state of its last segment, and tokens ahead."""

    node: Ints
    state: Ints
    ahead: Ints


class SegmentSteps(StepModel[Grown]):
    """A particle filter whose step is a token: a particle whose last segment ends there gets another segment.

    The new segment is paid for at its first token, so a particle with a long one would look worse than one that has yet
    to pay. Until the tokens are passed it is therefore lent `nats_per_token` for each: a twist of the intermediate
    distributions, which is paid back and leaves the estimate unbiased.

    Args:
        tables: the model's own, see `recursion.tables_of`.
        proposal: what proposes the segments.
        nats_per_token: about the model's loss; a bad guess costs particles, not truth.

    Raises:
        TextcriticError: a number of nats that is negative or not finite.
    """

    def __init__(self, tables: Tables, proposal: Proposal, nats_per_token: float) -> None:
        if not 0 <= nats_per_token < np.inf:
            raise TextcriticError(f"nats_per_token: {nats_per_token} is not possible; give the loss, 0 or more")
        self.graph, self.proposal, self.nats_per_token = proposal.graph, proposal, nats_per_token
        with np.errstate(divide="ignore"):
            self.initial, self.transition, self.emission, self.final = (
                np.log(table.cpu().numpy())
                for table in (tables.initial, tables.transition, tables.emission, tables.final)
            )
        self.log_top = tables.log_top.cpu().numpy()

    @property
    def steps(self) -> int:
        """Tokens of the longest sequence."""
        return int(self.graph.tokens.max())

    def begin(self, particles: int) -> Grown:
        """All at the beginning."""
        node = np.repeat(self.graph.begins[:, None], particles, axis=1)
        return Grown(node, np.full(node.shape, NONE), np.zeros(node.shape, np.int64))

    def propose(self, step: int, particles: Grown, rng: np.random.Generator) -> tuple[Grown, Floats]:
        """Extend the particles whose last segment ends before token `step`."""
        graph, node, state = self.graph, particles.node.copy(), particles.state.copy()
        increments = np.zeros(node.shape)
        moving = (graph.position[node] == step) & (node < graph.first_end)
        if moving.any():
            before = state[moving]
            new, arc, log_q = self.proposal.extend(node[moving], before, rng)
            row, end = graph.row[arc], graph.end[arc]
            log_p = np.where(before == NONE, self.initial[new], self.transition[before, new])
            log_p += self.log_top[row] + self.emission[row, new]
            log_p += np.where(end >= graph.first_end, self.final[new], 0)
            increments[moving] = log_p - log_q
            node[moving], state[moving] = end, new
        ahead = (graph.position[node] - (step + 1)).clip(0)
        increments += self.nats_per_token * (ahead - particles.ahead)
        return Grown(node, state, ahead), increments

    def select(self, particles: Grown, ancestors: Ints) -> Grown:
        """The chosen ones."""
        fields = (particles.node, particles.state, particles.ahead)
        return Grown(*(np.take_along_axis(field, ancestors, axis=1) for field in fields))


@dataclass(frozen=True)
class Walks:
    """Chains [N, K]: their paths, and log p(x, z) and log q(z) of each in nats."""

    paths: Paths
    log_p: Floats
    log_q: Floats


class WindowMoves(Annealable[Walks]):
    """Annealing whose move draws the segments of a random window of the text again.

    A window of `share` of the tokens is drawn. What lies between the last border before it and the first behind it is
    drawn again from the proposal's chain, and accepted as Metropolis and Hastings have it. A path whose borders around
    the window are others than before is rejected, as the way back would have another window. So the move is reversible.
    It evaluates about `share` of a path.

    Args:
        tables: the model's own, see `recursion.tables_of`.
        proposal: one of `posterior`'s, whose log q needs no walk.
        share: of the tokens, above 0, at most 1.

    Raises:
        TextcriticError: a proposal that is not globally normalised, or a share out of range.
    """

    kernel = "Metropolis-Hastings, segments of a random window drawn again from q"

    def __init__(self, tables: Tables, proposal: Proposal, share: float) -> None:
        if not 0 < share <= 1:
            raise TextcriticError(f"share: {share} is not possible; give a part of the text, above 0 and at most 1")
        if proposal.log_normaliser is None:
            raise TextcriticError("annealing: this proposal has no normaliser; give one of `posterior`")
        self.tables, self.proposal, self.share = tables, proposal, share
        self.log_normaliser: Floats = proposal.log_normaliser

    @property
    def graph(self) -> Graph:
        """Of the sequences."""
        return self.proposal.graph

    def begin(self, chains: int, rng: np.random.Generator) -> Walks:
        """Draws from the proposal."""
        return self.of_paths(self.proposal.draw(chains, rng)[0])

    def of_paths(self, paths: Paths) -> Walks:
        """Chains that are at given paths."""
        log_p = log_potential(self.tables, self.graph, paths)
        return Walks(paths, log_p, self.proposal.log_q(paths))

    def log_ratio(self, states: Walks) -> Floats:
        """Log p(x, z) - log q(z), nats [N, K]."""
        return states.log_p - states.log_q

    def move(self, states: Walks, power: float, rng: np.random.Generator) -> Walks:
        """One window of each chain."""
        shape = states.paths.arcs.shape
        arcs, old = (part.reshape(-1, shape[2]) for part in (states.paths.arcs, states.paths.states))
        drawn, log_back_and_forth = self._redraw(arcs, old, rng)
        changed = np.flatnonzero(np.isfinite(log_back_and_forth))
        candidate = Paths(drawn.arcs[None, changed], drawn.states[None, changed])
        sequence = changed // shape[1]
        log_p = log_potential(self.tables, self.graph, candidate)[0]
        log_q = log_potential(self.proposal.tables, self.graph, candidate)[0] - self.log_normaliser[sequence]
        new_p, new_q = states.log_p.ravel().copy(), states.log_q.ravel().copy()
        ratio = power * (log_p - new_p[changed]) + (1 - power) * (log_q - new_q[changed]) + log_back_and_forth[changed]
        accepted = np.log(rng.random(len(changed))) < ratio
        taken = changed[accepted]
        arcs, new = arcs.copy(), old.copy()
        arcs[taken], new[taken] = drawn.arcs[taken], drawn.states[taken]
        new_p[taken], new_q[taken] = log_p[accepted], log_q[accepted]
        paths = Paths(arcs.reshape(shape), new.reshape(shape))
        return replace(states, paths=paths, log_p=new_p.reshape(shape[:2]), log_q=new_q.reshape(shape[:2]))

    def _redraw(self, arcs: Ints, states: Ints, rng: np.random.Generator) -> tuple[Paths, Floats]:
        """Paths with a new window [P, T], and log q(way back) - log q(way there) [P], minus infinity where it fails."""
        graph, every = self.graph, np.arange(len(arcs))
        tokens = np.repeat(graph.tokens, len(arcs) // len(graph.tokens))
        place = np.arange(arcs.shape[1])
        first = (rng.random(len(arcs)) * tokens).astype(np.int64)
        stop = np.minimum(first + np.ceil(self.share * tokens).astype(np.int64), tokens)
        left = np.where((arcs >= 0) & (place <= first[:, None]), place, 0).max(axis=1)
        right = np.where((arcs >= 0) & (place >= stop[:, None]), place, tokens[:, None]).min(axis=1)
        node, before = graph.start[arcs[every, left]], states_before(states)[every, left]
        new_arcs, new_states, log_there, last = self.proposal.go_on(node, before, rng, stop)
        log_back = self.proposal.log_q_between(arcs, states, left, right)
        early = ((new_arcs >= 0) & (place > left[:, None]) & (place <= first[:, None])).any(axis=1)
        same_window = (graph.position[last] == right) & ~early
        inside = (place >= left[:, None]) & (place < right[:, None])
        drawn = Paths(np.where(inside, new_arcs, arcs), np.where(inside, new_states, states))
        return drawn, np.where(same_window, log_back - log_there, -np.inf)
