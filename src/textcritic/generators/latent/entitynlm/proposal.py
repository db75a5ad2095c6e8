"""EntityDisc: the proposal of EntityNLM's latent states, the same model of entities with hidden states of its own."""

from collections.abc import Sequence

import torch

from textcritic.corpora.structured.texts import Structured
from textcritic.generators.latent.entitynlm.entities import Entities, Step
from textcritic.generators.latent.entitynlm.states import (
    EntityStates,
    forced_by_release,
    possible,
    states_of_texts,
)
from textcritic.generators.latent.lstm import WordReader, padded
from textcritic.generators.latent.model import Proposal
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.plan.entries.latent import EntityDiscModel


class EntityDisc(Proposal[EntityDiscModel, EntityStates]):
    """q(z | x) = prod_t q(z_t | what is read, z_<t), with z of `EntityStates` and the factors of `Entities`.

    Settings: `embedding`, `hidden`, `layers`, `dropout`, `entity_size`, `max_entities`, `longest_mention` (the last two
    as those of the model, or q misses states that p has), and

    - `reads`: what z_t is drawn from: `prefix` x_<t, no peeking; `next` x_<=t, the published proposal, which peeks at
      one token; `document` all of x, by a second LSTM from the end.
    - `as_released`: a fault of the released sampler, which begins with mention lengths of one. The first token, and
      each token after one that chose to stay outside, is forced to stay outside; neither q nor p has a factor for the
      type of such a token, so the estimate is not one of p(x). Training and beam search do not have it.

    The temperature divides the logits of each softmax: of types, of entities, of lengths.
    """

    kind, form = "entity-disc", EntityDiscModel

    def __init__(self, settings: EntityDiscModel, vocabulary: Vocabulary) -> None:
        super().__init__(settings, vocabulary)
        self.reader = WordReader(settings, len(vocabulary), both_ways=settings.reads == "document")
        limits = settings.max_entities, settings.longest_mention
        self.entities = Entities(self.reader.size, settings.entity_size, *limits)

    @property
    def as_released(self) -> bool:
        """See `Proposal.as_released`: the setting."""
        return self.settings.as_released

    def losses(self, texts: Sequence[Structured]) -> torch.Tensor:
        """See `Learner.losses`."""
        states = states_of_texts(texts, self.settings.max_entities, self.settings.longest_mention)
        log_probs, _ = self.entities.log_prob(self.steps(texts), states.to(self.device))
        lengths = torch.tensor([len(text.tokens) for text in texts], device=self.device)
        inside = torch.arange(log_probs.shape[1], device=self.device) < lengths[:, None]
        return -(log_probs * inside).sum(1)

    @torch.no_grad()
    def draw(
        self, text: Structured, count: int, temperature: float, generator: torch.Generator
    ) -> tuple[EntityStates, torch.Tensor]:
        """See `Proposal.draw`."""
        steps = self.steps([text])
        states, log_q = self.entities.draw(steps, count, temperature, generator, self.as_released)
        return states, log_q.cpu()

    @torch.no_grad()
    def log_q(self, text: Structured, states: EntityStates, temperature: float) -> torch.Tensor:
        """See `Proposal.log_q`."""
        forced = forced_by_release(states) if self.as_released else None
        states = EntityStates(states.entity, states.remaining, forced)
        can_be = possible(states, self.settings.max_entities, self.settings.longest_mention)
        log_q = torch.full((len(states),), -torch.inf, dtype=torch.float64)
        if can_be.any():
            log_probs, _ = self.entities.log_prob(self.steps([text]), states.select(can_be), temperature)
            log_q[can_be.cpu()] = log_probs.sum(1).cpu()
        return log_q

    @torch.no_grad()
    def best(self, text: Structured, count: int) -> EntityStates:
        """A beam search of width `count`, the likeliest first; distinct states, all of them possible."""
        steps = self.steps([text])
        particles = self.entities.begin(1, len(steps))
        total = torch.zeros(1, dtype=torch.float64, device=self.device)
        entity = remaining = particles.entity.new_empty(1, 0)
        for token, step in enumerate(steps):
            scores = total[:, None] + self.entities.log_options(particles, step, token)
            options = scores.shape[1]
            kept = min(count, int(scores.isfinite().sum()))  # what is not possible never takes a place
            total, order = scores.flatten().topk(kept)
            parents = order // options
            particles = particles.select(parents)
            self.entities.take_option(particles, order % options)
            entity = torch.cat([entity[parents], particles.entity[:, None]], 1)
            remaining = torch.cat([remaining[parents], particles.remaining[:, None]], 1)
            self.entities.read(particles, step, token)
        return EntityStates(entity, remaining)

    def steps(self, texts: Sequence[Structured]) -> list[Step]:
        """What the hidden states of some texts say, token by token; see `Entities.steps`."""
        numbers, lengths = padded(self.vocabulary, texts, self.device)
        reads = self.settings.reads
        hidden = self.reader(numbers, lengths if reads == "document" else None)
        reading = hidden[:, 1:]
        return self.entities.steps(hidden[:, :-1] if reads == "prefix" else reading, reading)
