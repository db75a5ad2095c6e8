"""KGLM and its proposal token by token, for the particle filter."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from textcritic.corpora.structured.texts import Structured
from textcritic.generators.latent.kglm.choices import Choices, Features
from textcritic.generators.latent.kglm.draw import draw_state
from textcritic.generators.latent.kglm.model import KGLM
from textcritic.generators.latent.kglm.proposal import KglmDisc
from textcritic.generators.latent.kglm.states import Links
from textcritic.generators.latent.lstm import padded


@dataclass(frozen=True, slots=True)
class _Read:
    """A text, and what the model and the proposal have read of it."""

    words: torch.Tensor
    hidden: torch.Tensor
    model: Features
    proposal: Features


class LinkSteps:
    """What `inference.sequential.particle_filter` asks for, of N texts; a step is a token.

    The proposal should read the prefix or the next token: one that reads the whole text is as good a proposal, but then
    a single step is no estimate of p(x_t | x_<t).

    Args:
        model: p.
        proposal: q, in evaluation mode as the model.
        texts: N of them.
        temperature: of the proposal.
    """

    @torch.no_grad()
    def __init__(self, model: KGLM, proposal: KglmDisc, texts: Sequence[Structured], temperature: float = 1.0) -> None:
        self.model, self.proposal, self.temperature = model, proposal, temperature
        self.read = []
        for text in texts:
            words, lengths = padded(model.vocabulary, [text], model.device)
            hidden, features = model.features(words, lengths)
            self.read.append(_Read(words[0], hidden, features, proposal.features([text])[0]))
        self.steps = max(len(text.tokens) for text in texts)

    def begin(self, particles: int) -> tuple[Links, ...]:
        """K = `particles` empty states of each text."""
        empty = torch.empty(particles, 0, dtype=torch.int64, device=self.model.device)
        return tuple(Links(empty, empty) for _ in self.read)

    @torch.no_grad()
    def propose(
        self, step: int, particles: tuple[Links, ...], rng: np.random.Generator
    ) -> tuple[tuple[Links, ...], npt.NDArray[np.float64]]:
        """The states with one token more, and log p - log q of this token in nats [N, K]; 0 where a text has ended."""
        generator = torch.Generator(self.model.device).manual_seed(int(rng.integers(2**63)))
        longer, increments = [], np.zeros((len(self.read), len(particles[0])))
        for row, (read, states) in enumerate(zip(self.read, particles, strict=True)):
            if step < len(read.words):
                at = read.proposal.at(step)
                states = draw_state(self.proposal.choices, at, states, self.temperature, generator)
                increments[row] = self._increment(read, states, step).cpu().numpy()
            longer.append(states)
        return tuple(longer), increments

    def select(self, particles: tuple[Links, ...], ancestors: npt.NDArray[np.int64]) -> tuple[Links, ...]:
        """Particle [n, k] of the result is particle [n, ancestors[n, k]]."""
        rows = torch.from_numpy(ancestors).to(self.model.device)
        return tuple(Links(s.types[row], s.entities[row]) for s, row in zip(particles, rows, strict=True))

    def _increment(self, read: _Read, states: Links, step: int) -> torch.Tensor:
        log_p = _last(self.model.choices, read.model, states, step, 1.0)
        log_q = _last(self.proposal.choices, read.proposal, states, step, self.temperature)
        at = torch.full((len(states), 1), step, device=self.model.device)
        entity = self.model.choices.entity
        word = self.model.words.log_probs(read.hidden, read.words, states.entities[:, -1:], at, entity)
        return log_p + word[:, 0] - log_q


def _last(choices: Choices, features: Features, states: Links, step: int, temperature: float) -> torch.Tensor:
    """The log probability of the last state of each particle, which the window before it is enough for [K]."""
    first = max(0, step - choices.window)
    recent = Links(states.types[:, first:], states.entities[:, first:])
    tokens = torch.arange(first, step + 1, device=features.head.device)
    log = choices.log_probs(features, recent, tokens.expand(len(states), -1), temperature, tokens == step)
    return log[:, -1]
