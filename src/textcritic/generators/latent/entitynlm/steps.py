"""EntityNLM and its proposal token by token, as `inference.sequential.particle_filter` asks for them."""

import numpy as np
import numpy.typing as npt
import torch

from textcritic.corpora.structured.texts import Structured
from textcritic.generators.latent.entitynlm.entities import Particles, Step
from textcritic.generators.latent.entitynlm.model import EntityNLM
from textcritic.generators.latent.entitynlm.proposal import EntityDisc

Pair = tuple[Particles, Particles]
"""The same K states, with the embeddings of the model and those of the proposal."""


class EntitySteps:
    """A `StepModel` of one text: N = 1, a step is a token.

    The fault `as_released` of a proposal is not in it.

    Args:
        model: p.
        proposal: q.
        text: its states, if it has any, are not read.
        temperature: of q.
    """

    @torch.no_grad()
    def __init__(self, model: EntityNLM, proposal: EntityDisc, text: Structured, temperature: float = 1.0) -> None:
        self.model, self.proposal, self.temperature = model, proposal, temperature
        self.numbers = model.vocabulary.encode(text.tokens).to(model.device)
        self.hidden = model.reader(self.numbers[None])[0]
        self.model_steps: list[Step] = model.entities.steps(self.hidden[None, :-1], self.hidden[None, 1:])
        self.proposal_steps = proposal.steps([text])

    @property
    def steps(self) -> int:
        """Tokens of the text."""
        return len(self.numbers)

    def begin(self, particles: int) -> Pair:
        """K states of no token."""
        p, q = self.model.entities, self.proposal.entities
        return p.begin(particles, self.steps, self.model.settings.noise), q.begin(particles, self.steps)

    @torch.no_grad()
    def propose(self, step: int, particles: Pair, rng: np.random.Generator) -> tuple[Pair, npt.NDArray[np.float64]]:
        """The states with one token more, drawn from q, and log p - log q of that token and its state, [1, K].

        The particles are changed in place.
        """
        of_p, of_q = particles
        p, q = self.model.entities, self.proposal.entities
        generator = torch.Generator().manual_seed(int(rng.integers(2**63)))
        log_q = q.choose(of_q, self.proposal_steps[step], step, generator, self.temperature)
        log_p = p.choose(of_p, self.model_steps[step], step, (of_q.entity, of_q.remaining))
        vectors = self.hidden[step] + self.model.context(of_p.context)
        words = self.numbers[step].expand(len(vectors))
        log_p = log_p + self.model.output.log_prob(vectors, words, self.model.reader)
        p.read(of_p, self.model_steps[step], step)
        q.read(of_q, self.proposal_steps[step], step)
        return particles, (log_p - log_q).cpu().numpy()[None]

    def select(self, particles: Pair, ancestors: npt.NDArray[np.int64]) -> Pair:
        """Some of the states, int64 [1, K]."""
        rows = torch.from_numpy(ancestors[0]).to(self.model.device)
        return particles[0].select(rows), particles[1].select(rows)
