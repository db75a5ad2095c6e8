"""Entities with embeddings that change as they are mentioned: what EntityNLM and its proposal share.

Ji et al. 2017 (Dynamic Entity Representations in Neural Language Models), section 3, as the released code of the paper
on importance sampling has it: one LSTM that is not reset at ends of sentences, distances in tokens.
"""

from dataclasses import dataclass, fields, replace
from typing import Self

import torch
from torch import nn

from textcritic.generators.latent.entitynlm.states import NONE, EntityStates

OUTSIDE, MENTION = 0, 1


@dataclass
class Particles:
    """Where R rows are in their texts; each row is one z of one text, up to a token.

    Attributes:
        embeddings: [R, slots, entity_size], of entities 0, 1, ...; those not yet mentioned have the first embedding.
        seen: int64 [R, slots], the token at which each was last mentioned.
        known: int64 [R], entities mentioned so far.
        entity, remaining: int64 [R], z of the last token.
        context: [R, entity_size], the embedding of the last entity mentioned, as it was before its last token was read;
            zero before the first mention.
    """

    embeddings: torch.Tensor
    seen: torch.Tensor
    known: torch.Tensor
    entity: torch.Tensor
    remaining: torch.Tensor
    context: torch.Tensor

    def select(self, rows: torch.Tensor) -> Self:
        """Some of the rows, each as often as its number comes."""
        return replace(self, **{field.name: getattr(self, field.name)[rows] for field in fields(self)})


@dataclass(frozen=True)
class Step:
    """What the hidden states say at one token; all [R or 1, ...], 1 where all rows are of one text.

    Attributes:
        types: logits of OUTSIDE and MENTION, [., 2].
        query: whose product with an embedding is the entity's logit, [., entity_size].
        lengths: logits of 0, 1, ... tokens remaining, as far as they do not depend on the entity, [., longest_mention].
        gate, value: of the update after the token, [., entity_size].
    """

    types: torch.Tensor
    query: torch.Tensor
    lengths: torch.Tensor
    gate: torch.Tensor
    value: torch.Tensor


class Entities(nn.Module):
    """p(type, entity, length) of each token given those before, and the embeddings that it is computed from.

    With h the hidden state that decides, and h' that after the token, e_j the embedding of entity j:
    - type ~ softmax(W_r h);
    - entity ~ softmax over known entities and a new one of h W_e e_j + lambda (t - last token of j), where the new one
      has the first embedding and distance 0; a new one is not offered once there are `max_entities`;
    - remaining tokens ~ softmax(W_l [h; e_j]);
    - after each token of a mention e_j = normalise(d e_j + (1 - d) W_u h') with d = sigmoid(h' W_d e_j).

    Args:
        hidden: size of h and h'.
        size: of the embeddings.
        max_entities, longest_mention: limits.
    """

    def __init__(self, hidden: int, size: int, max_entities: int, longest_mention: int) -> None:
        super().__init__()
        self.max_entities, self.longest_mention = max_entities, longest_mention
        self.first = nn.Parameter(torch.randn(size))
        self.distance = nn.Parameter(torch.zeros(()))
        self.types = nn.Linear(hidden, 2)
        self.query = nn.Linear(hidden, size, bias=False)
        self.lengths = nn.Linear(hidden, longest_mention)
        self.lengths_by_entity = nn.Linear(size, longest_mention, bias=False)
        self.gate = nn.Linear(hidden, size, bias=False)
        self.value = nn.Linear(hidden, size, bias=False)

    def steps(self, deciding: torch.Tensor, reading: torch.Tensor) -> list[Step]:
        """What hidden states say, token by token: two of [texts, n, hidden] -> n."""
        whole = self.step(deciding, reading)
        parts = [getattr(whole, field.name).unbind(1) for field in fields(Step)]
        return [Step(*step) for step in zip(*parts, strict=True)]

    def step(self, deciding: torch.Tensor, reading: torch.Tensor) -> Step:
        """What the hidden states of one token say: two of [rows, hidden]."""
        decided = self.types(deciding), self.query(deciding), self.lengths(deciding)
        return Step(*decided, self.gate(reading), self.value(reading))

    def begin(self, rows: int, slots: int, noise: float = 0.0) -> Particles:
        """Rows before their first token.

        Args:
            rows: R.
            slots: entities that they can have, unless `max_entities` is less.
            noise: standard deviation of what is added to the first embeddings, by torch's random numbers.
        """
        slots = min(slots, self.max_entities)
        device = self.first.device
        first = self.first.expand(rows, slots, -1)
        if noise:
            first = first + noise * torch.randn_like(first)
        none = torch.zeros(rows, dtype=torch.int64, device=device)
        seen = torch.zeros(rows, slots, dtype=torch.int64, device=device)
        context = torch.zeros(rows, len(self.first), device=device)
        embeddings = nn.functional.normalize(first, dim=-1).contiguous()
        return Particles(embeddings, seen, none, none + NONE, none, context)

    def log_prob(
        self, steps: list[Step], states: EntityStates, temperature: float = 1.0, noise: float = 0.0
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The log probability of possible states by hidden states, and the contexts for the words.

        Args:
            steps: of `steps`, for the texts of the rows or for one text.
            states: R of them, possible.
            temperature: by which the logits of every softmax are divided.
            noise: see `begin`.

        Returns:
            float64 [R, n], 0 for a token whose state follows from the one before; and contexts [R, n, entity_size].
        """
        particles = self.begin(len(states), int(states.entity.max()) + 2, noise)
        log_probs, contexts = [], []
        for token, step in enumerate(steps):
            given = (states.entity[:, token], states.remaining[:, token])
            forced = None if states.forced is None else states.forced[:, token]
            log_probs.append(self.choose(particles, step, token, given, temperature, forced))
            contexts.append(particles.context)
            self.read(particles, step, token)
        return torch.stack(log_probs, 1), torch.stack(contexts, 1)

    def draw(
        self, steps: list[Step], count: int, temperature: float, generator: torch.Generator, as_released: bool = False
    ) -> tuple[EntityStates, torch.Tensor]:
        """Draw states of one text, and their log probability, float64 [count]; see `EntityDisc` for `as_released`."""
        particles = self.begin(count, len(steps))
        log_probs = torch.zeros(count, dtype=torch.float64, device=self.first.device)
        drawn, forced = [], torch.full((count,), as_released, device=self.first.device)
        for token, step in enumerate(steps):
            log_probs += self.choose(particles, step, token, generator, temperature, forced)
            drawn.append((particles.entity, particles.remaining, forced))
            if as_released:
                forced = (particles.entity == NONE) & ~forced
            self.read(particles, step, token)
        entity, remaining, forced = (torch.stack(parts, 1) for parts in zip(*drawn, strict=True))
        return EntityStates(entity, remaining, forced if as_released else None), log_probs

    def choose(
        self,
        particles: Particles,
        step: Step,
        token: int,
        choice: tuple[torch.Tensor, torch.Tensor] | torch.Generator,
        temperature: float = 1.0,
        forced: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Give each row the state of its next token: its entity, what remains, and the context.

        Args:
            particles: changed in place.
            step: of this token.
            token: its number, from 0.
            choice: entities and what remains, int64 [R] each, or what they are drawn by.
            temperature: see `log_prob`.
            forced: bool [R], rows that may only stay outside, without a factor.

        Returns:
            the log probability of the choice, float64 [R].
        """
        free = particles.remaining == 0
        if forced is not None:
            free = free & ~forced
        types = (step.types / temperature).log_softmax(1).double().expand(len(free), 2)
        if isinstance(choice, torch.Generator):
            random = torch.rand(len(free), generator=choice, dtype=torch.float64, device=choice.device).to(free.device)
            begins = free & (random < types[:, MENTION].exp())
        else:
            begins = free & (choice[0] != NONE)
        log_prob = torch.where(free, torch.where(begins, types[:, MENTION], types[:, OUTSIDE]), 0.0)
        inside = particles.remaining > 0
        entity = torch.where(inside, particles.entity, NONE)
        remaining = (particles.remaining - 1).clamp(min=0)
        rows = begins.nonzero()[:, 0]
        if len(rows):
            entities = (self._entity_logits(particles, step, token, rows) / temperature).log_softmax(1)
            chosen = _chosen(entities, choice, 0, rows)
            vectors = particles.embeddings[rows, chosen]
            lengths = (_of(step.lengths, rows) + self.lengths_by_entity(vectors)) / temperature
            lengths = lengths.log_softmax(1)
            left = _chosen(lengths, choice, 1, rows)
            factors = entities.gather(1, chosen[:, None])[:, 0].double() + lengths.gather(1, left[:, None])[:, 0]
            log_prob = log_prob.index_add(0, rows, factors)
            entity, remaining = entity.index_put((rows,), chosen), remaining.index_put((rows,), left)
            particles.known = particles.known.index_put((rows,), torch.maximum(particles.known[rows], chosen + 1))
        self.enter(particles, entity, remaining)
        return log_prob

    def enter(self, particles: Particles, entity: torch.Tensor, remaining: torch.Tensor) -> None:
        """Give each row a state of its next token, int64 [R] each, and the context that goes with it."""
        particles.entity, particles.remaining = entity, remaining
        rows = (entity != NONE).nonzero()[:, 0]
        vectors = particles.embeddings[rows, entity[rows]]
        particles.context = particles.context.index_put((rows,), vectors)

    def read(self, particles: Particles, step: Step, token: int) -> None:
        """Change the embedding of the entity of each row whose token is in a mention, now that it has been read."""
        rows = (particles.entity != NONE).nonzero()[:, 0]
        at = (rows, particles.entity[rows])
        old = particles.embeddings[at]
        share = (_of(step.gate, rows) * old).sum(1, keepdim=True).sigmoid()
        new = nn.functional.normalize(share * old + (1 - share) * _of(step.value, rows), dim=1)
        # In place it would be wrong with gradients, which need the old embeddings; without, a copy would take long.
        put = torch.Tensor.index_put if torch.is_grad_enabled() else torch.Tensor.index_put_
        particles.embeddings = put(particles.embeddings, at, new)
        particles.seen.index_put_(at, torch.tensor(token, device=rows.device))

    def log_options(self, particles: Particles, step: Step, token: int) -> torch.Tensor:
        """The log probability of every state that the next token of each row can have.

        Returns:
            float64 [R, 1 + slots * longest_mention]: outside, or the mention that is going on goes on; and then
            `1 + entity * longest_mention + remaining` for a mention that begins. -inf: not possible.
        """
        rows = torch.arange(len(particles.known), device=particles.known.device)
        entities = self._entity_logits(particles, step, token, rows).log_softmax(1)
        lengths = (_of(step.lengths, rows)[:, None] + self.lengths_by_entity(particles.embeddings)).log_softmax(2)
        types = step.types.log_softmax(1).double().expand(len(rows), 2)
        begins = types[:, MENTION, None, None] + entities.double()[:, :, None] + lengths
        options = torch.cat([types[:, :MENTION], begins.flatten(1)], 1)
        goes_on = torch.full_like(options, -torch.inf)
        goes_on[:, 0] = 0.0
        return torch.where((particles.remaining > 0)[:, None], goes_on, options)

    def take_option(self, particles: Particles, option: torch.Tensor) -> None:
        """Give each row the state that is a number of `log_options`, int64 [R]."""
        begins = option > 0
        inside = particles.remaining > 0
        entity = torch.where(inside, particles.entity, NONE)
        entity = torch.where(begins, (option - 1) // self.longest_mention, entity)
        left = (particles.remaining - 1).clamp(min=0)
        remaining = torch.where(begins, (option - 1) % self.longest_mention, left)
        particles.known = torch.maximum(particles.known, entity + 1)
        self.enter(particles, entity, remaining)

    def _entity_logits(self, particles: Particles, step: Step, token: int, rows: torch.Tensor) -> torch.Tensor:
        """Logits of the entity of a mention that begins, [rows, slots]; the first unknown one is a new entity."""
        embeddings, mentioned = particles.embeddings[rows], particles.known[rows][:, None]
        logits = (embeddings * _of(step.query, rows)[:, None]).sum(2)
        numbers = torch.arange(embeddings.shape[1], device=rows.device)
        distances = torch.where(numbers < mentioned, token - particles.seen[rows], 0)
        return (logits + self.distance * distances).masked_fill(numbers > mentioned, -torch.inf)


def _of(values: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """The values of some rows, [rows, ...], or [1, ...] where all rows share them."""
    return values if len(values) == 1 else values[rows]


def _chosen(
    log_probs: torch.Tensor, choice: tuple[torch.Tensor, torch.Tensor] | torch.Generator, which: int, rows: torch.Tensor
) -> torch.Tensor:
    """What is given to some rows, or drawn: int64 [rows]."""
    if isinstance(choice, torch.Generator):
        drawn = torch.multinomial(log_probs.double().exp().to(choice.device), 1, generator=choice)[:, 0]
        return drawn.to(rows.device)
    return choice[which][rows]
