"""Annealed importance sampling, and its reverse: estimates of log p(x) from below and from above, for any latent model.

Neal 2001, Annealed importance sampling, sections 2 and 3. A chain begins with a draw from q and goes through the
distributions in between, q(z)^(1 - b) p(x, z)^b for b from 0 to 1, by a kernel that leaves each of them as it is. Its
weight is the product of the steps' ratios, and its mean is p(x). Without a step in between it is importance sampling.

Grosse, Ghahramani and Adams 2015, Sandwiching the marginal likelihood using bidirectional Monte Carlo, section 3: the
same chain backwards, from an exact draw of p(z | x), has weights whose mean is 1 / p(x); so minus their log is a
stochastic bound from above. Such a draw is known for text that was drawn from the model with its z, and in general for
no other text.

`WindowMoves` anneals a hidden semi-Markov model.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol, TypeVar

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm.posterior import Floats, Graph, Ints, Paths, Proposal, log_potential, states_before
from textcritic.generators.hsmm.recursion import Tables
from textcritic.inference.statistics import Array

S = TypeVar("S")


class Annealable(Protocol[S]):
    """What a latent model with a proposal is to annealing: N texts, K chains of each, in one object S.

    `kernel` is the name of what `move` does, for tables.
    """

    kernel: str

    def begin(self, chains: int, rng: np.random.Generator) -> S:
        """K = `chains` draws from q for each text."""
        ...

    def log_ratio(self, states: S) -> Array:
        """Log p(x, z) - log q(z) in nats [N, K]; never minus infinity: a chain could not leave such a z."""
        ...

    def move(self, states: S, power: float, rng: np.random.Generator) -> S:
        """One move that is reversible with respect to q^(1 - power) p^power, e.g. one of Metropolis and Hastings.

        Reversible: with z from that distribution, (z, z') and (z', z) are equally likely. Then the backward chain may
        use the same kernel. A sweep in a fixed order is not; one whose order is drawn, or there and back, is.
        """
        ...


def powers_of(steps: int) -> Array:
    """The powers b from 0 to 1 of a chain with so many steps, [steps + 1], denser at both ends (a sigmoid's).

    Raises:
        TextcriticError: fewer than 1 step.
    """
    if steps < 1:
        raise TextcriticError(f"steps: {steps} are too few; 1 is importance sampling, more is annealing")
    logits = np.linspace(-4, 4, steps + 1)
    sigmoid = 1 / (1 + np.exp(-logits))
    powers: Array = (sigmoid - sigmoid[0]) / (sigmoid[-1] - sigmoid[0])
    return powers


def annealed_weights(model: Annealable[S], chains: int, powers: Array, rng: np.random.Generator) -> Array:
    """Log weights of K chains from q to the posterior, in nats [N, K]: as those of importance sampling, unbiased.

    Args:
        model: N texts, their proposal and a kernel.
        chains: K.
        powers: b of each distribution, 0 first, 1 last; between two of them is one move, so there are len - 2 moves.
        rng: of the chains.

    Raises:
        TextcriticError: K is below 1, powers that do not rise from 0 to 1, or a ratio that is not finite.
    """
    _check(chains, powers)
    states = model.begin(chains, rng)
    total = 0.0
    for step, (low, high) in enumerate(pairwise(powers)):
        total = total + (high - low) * _finite(model.log_ratio(states), step)
        if high < 1:
            states = model.move(states, high, rng)
    return np.asarray(total)


def reversed_weights(model: Annealable[S], exact: S, powers: Array, rng: np.random.Generator) -> Array:
    """Log weights of K chains from the posterior back to q, in nats [N, K], of texts drawn from the model only.

    The mean of exp(-log weight) is 1 / p(x): `upper_bound` makes a bound of them.

    Args:
        model: N texts, their proposal and a kernel.
        exact: exact draws from p(z | x), K of each text; they may be one draw K times.
        powers: as for `annealed_weights`; they are gone through backwards.
        rng: of the chains.

    Returns:
        With one step, where no chain moves, infinity for an exact draw that q never draws, which `upper_bound` takes.

    Raises:
        TextcriticError: as `annealed_weights`.
    """
    _check(1, powers)
    if len(powers) == 2:
        ratio = model.log_ratio(exact)
        _finite(np.where(np.isposinf(ratio), 0.0, ratio), 0)
        return ratio
    states, total = exact, 0.0
    for step, (low, high) in reversed(list(enumerate(pairwise(powers)))):
        if high < 1:
            states = model.move(states, high, rng)
        total = total + (high - low) * _finite(model.log_ratio(states), step)
    return np.asarray(total)


def upper_bound(log_weights: Array) -> Array:
    """A stochastic bound of log p(x) from above, in nats [N]: not below log p(x) in the mean.

    Minus the log of the mean of exp(-log weight) over the chains [N, K] of `reversed_weights`. By Markov's inequality
    it is below log p(x) - log 20 with at most 5%.
    """
    bound: Array = np.log(log_weights.shape[1]) - np.logaddexp.reduce(-log_weights, axis=1)
    return bound


def _finite(ratio: Array, step: int) -> Array:
    wrong = np.argwhere(~np.isfinite(ratio))
    if len(wrong):
        text, chain = wrong[0]
        raise TextcriticError(
            f"text {text}, chain {chain}, step {step}: log p - log q is {ratio[text, chain]}; annealing needs a "
            "proposal and a kernel that only give states which both p and q can have"
        )
    return ratio


def _check(chains: int, powers: Array) -> None:
    if chains < 1:
        raise TextcriticError(f"chains: {chains} are too few; give at least 1")
    if len(powers) < 2 or powers[0] != 0 or powers[-1] != 1 or not (np.diff(powers) > 0).all():
        raise TextcriticError("powers: should rise from 0 to 1, at least these two; make them with powers_of")


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
