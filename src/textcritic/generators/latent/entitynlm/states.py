"""The latent states of EntityNLM: for each token whether it is in a mention, the entity, and how much remains."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch

from textcritic.corpora.structured.texts import Mention, Structured
from textcritic.errors import TextcriticError

NONE = -1  # entity of a token outside of mentions


@dataclass(frozen=True)
class EntityStates:
    """K states z of one text of n tokens, or one state of each of K texts, padded with tokens outside of mentions.

    z is possible under the model if, token by token:
    - after a token with r > 0 remaining, the entity is the same and r - 1 remain;
    - after any other token, and at the beginning, the token is outside (entity -1, 0 remain), or it begins a mention of
      an entity that has been mentioned, or of the next new one; entities are numbered 0, 1, ... in order of their first
      mention. Of a mention of m tokens m - 1 remain at its first one; m is at most the model's `longest_mention`, the
      number of entities at most its `max_entities`.
    The last mention may go on behind the text: p(x) is that of a text of n tokens or more that begins with x.

    Attributes:
        entity: int64 [K, n], NONE outside of mentions.
        remaining: int64 [K, n], tokens of the mention that follow this one; 0 outside.
        forced: bool [K, n], tokens that the released sampler leaves no choice, so that neither q nor p has a factor for
            their type (see `EntityDisc`); None: there are none.
    """

    entity: torch.Tensor
    remaining: torch.Tensor
    forced: torch.Tensor | None = None

    def __len__(self) -> int:
        return len(self.entity)

    def select(self, rows: torch.Tensor) -> Self:
        """Some of the K states, by a mask or by numbers."""
        forced = None if self.forced is None else self.forced[rows]
        return replace(self, entity=self.entity[rows], remaining=self.remaining[rows], forced=forced)

    def to(self, device: torch.device) -> Self:
        """The same states on another device."""
        forced = None if self.forced is None else self.forced.to(device)
        return replace(self, entity=self.entity.to(device), remaining=self.remaining.to(device), forced=forced)


def states_of_texts(texts: Sequence[Structured], max_entities: int, longest_mention: int) -> EntityStates:
    """The states that texts have by their mentions, a row each; a mention that was cut ends with its text.

    Raises:
        TextcriticError: a mention that is longer than the model allows, or too many entities.
    """
    longest = max(len(text.tokens) for text in texts)
    entity = torch.full((len(texts), longest), NONE)
    remaining = torch.zeros_like(entity)
    for row, text in enumerate(texts):
        numbers: dict[str, int] = {}
        for mention in text.mentions:
            length = mention.end - mention.start
            if length > longest_mention:
                raise TextcriticError(
                    f"{text.id}: the mention of tokens {mention.start} to {mention.end} has {length} tokens, the "
                    f"model's longest_mention is {longest_mention}; leave it out or raise longest_mention"
                )
            entity[row, mention.start : mention.end] = numbers.setdefault(mention.entity, len(numbers))
            remaining[row, mention.start : mention.end] = torch.arange(length - 1, -1, -1)
        if len(numbers) > max_entities:
            raise TextcriticError(
                f"{text.id}: {len(numbers)} entities, the model's max_entities is {max_entities}; cut it into shorter "
                "pieces or raise max_entities"
            )
    return EntityStates(entity, remaining)


def possible(states: EntityStates, max_entities: int, longest_mention: int) -> torch.Tensor:
    """Which states are possible, see `EntityStates`: bool [K]."""
    entity, remaining = states.entity, states.remaining
    before = entity.new_full((len(entity), 1), NONE)
    last = torch.cat([before, entity[:, :-1]], 1)
    left = torch.cat([before + 1, remaining[:, :-1]], 1)
    mentioned = last.cummax(1).values + 1  # entities mentioned before this token
    outside = (entity == NONE) & (remaining == 0)
    begins = (entity >= 0) & (entity <= mentioned) & (entity < max_entities)
    begins &= (remaining >= 0) & (remaining < longest_mention)
    if states.forced is not None:
        begins &= ~states.forced
    goes_on = (entity == last) & (remaining == left - 1)
    return torch.where(left > 0, goes_on, outside | begins).all(1)


def mentions_of(states: EntityStates, row: int) -> tuple[Mention, ...]:
    """The mentions of one of the states; one that goes on behind the text ends there."""
    entity, remaining = states.entity[row].tolist(), states.remaining[row].tolist()
    mentions, start = [], 0
    while start < len(entity):
        end = start + 1
        if entity[start] != NONE:
            end = min(end + remaining[start], len(entity))
            mentions.append(Mention(start, end, str(entity[start])))
        start = end
    return tuple(mentions)


def forced_by_release(states: EntityStates) -> torch.Tensor:
    """The tokens that the released sampler forces outside, see `EntityDisc`: bool [K, n]."""
    forced = torch.ones_like(states.entity, dtype=torch.bool)
    for token in range(1, forced.shape[1]):
        forced[:, token] = (states.entity[:, token - 1] == NONE) & ~forced[:, token - 1]
    return forced
