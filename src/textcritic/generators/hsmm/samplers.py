"""Sequential Monte Carlo of a hidden semi-Markov model, see `inference.sequential`."""

from dataclasses import dataclass

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm.posterior import NONE, Floats, Ints, Proposal
from textcritic.generators.hsmm.recursion import Tables
from textcritic.inference import StepModel


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
