"""Draw the state of one token, for many states at once."""

import torch

from textcritic.generators.latent.kglm.choices import Choices, Features
from textcritic.generators.latent.kglm.graph import slices
from textcritic.generators.latent.kglm.states import CONTINUE, NEW, RELATED, Links


def draw_state(
    choices: Choices, features: Features, states: Links, temperature: float, generator: torch.Generator
) -> Links:
    """States with one more token, drawn from `choices`.

    Args:
        choices: the distribution.
        features: of the token, F = 1 for all states or K.
        states: of the tokens before [K, T]; T may be 0.
        temperature: divides all logits.
        generator: of random numbers.
    """
    history = choices.history(states.entities)
    types = _draw(choices.type_table(features, history, temperature), len(history.current), generator)
    entities = torch.where(types == CONTINUE, history.current, -1)
    new, related = types == NEW, types == RELATED
    if new.any():
        table = choices.new_table(_rows(features, new), temperature)
        entities[new] = _draw(table, int(new.sum()), generator)
    if related.any():
        some = _rows(features, related)
        recent = history.recent[related]
        parent = _draw(choices.parent_table(some, history._replace(recent=recent), temperature), len(recent), generator)
        parents = recent.gather(1, parent.unsqueeze(1))[:, 0]
        entities[related] = _follow(choices, choices.relation_logits(some, temperature), parents, generator)
    return Links(
        torch.cat([states.types, types.unsqueeze(1)], 1), torch.cat([states.entities, entities.unsqueeze(1)], 1)
    )


def _follow(choices: Choices, logits: torch.Tensor, parents: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Where a drawn edge of each parent leads to [n]: the largest of the logits with Gumbel noise."""
    owner, edges = slices(choices.graph.starts, parents)
    rows = owner if len(logits) > 1 else torch.zeros_like(owner)
    uniform = torch.rand(len(owner), dtype=torch.float64, device=owner.device, generator=generator)
    noisy = logits[rows, choices.graph.relation[edges]] - (-uniform.clamp(min=1e-300).log()).log()
    largest = torch.full((len(parents),), -torch.inf, dtype=torch.float64, device=owner.device)
    won = noisy == largest.scatter_reduce(0, owner, noisy, "amax")[owner]
    return torch.empty_like(parents).index_put((owner[won],), choices.graph.tail[edges[won]])


def _rows(features: Features, chosen: torch.Tensor) -> Features:
    """Those of chosen states; of all states where they share them."""
    if len(features.head) == 1:
        return features
    return Features(features.head[chosen], features.edge[chosen])


def _draw(log_probs: torch.Tensor, count: int, generator: torch.Generator) -> torch.Tensor:
    """`count` draws of one row of log probabilities, or one of each row."""
    if len(log_probs) == 1:
        return torch.multinomial(log_probs[0].exp(), count, replacement=True, generator=generator)
    return torch.multinomial(log_probs.exp(), 1, generator=generator)[:, 0]
