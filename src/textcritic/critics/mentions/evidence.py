"""Counts of a window in the text that a critic was fitted on: how often its context was seen, and what came next."""

from dataclasses import dataclass

import numpy as np

from textcritic.critics.mentions.counts import find, find_contexts
from textcritic.critics.mentions.model import MentionCritic
from textcritic.critics.mentions.windows import CHUNK, Ints, Items, items_of, iter_keys
from textcritic.latents.resolvers.mention_chains import MentionChains


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Counts behind `log P` of the last token of each window.

    Attributes:
        known: int64 [windows], how many of the last items before that token were seen together: 0 ... n - 1.
        seen: int64 [windows], how often those were seen, a token after them.
        followed: int64 [windows], how often this token came after them.
    """

    known: Ints
    seen: Ints
    followed: Ints


def evidence(critic: MentionCritic, chains: MentionChains, chunk: int = CHUNK) -> Evidence:
    """The counts of the longest end of each token's context that the critic has seen: [tokens].

    Args:
        critic: any.
        chains: of any text.
        chunk: tokens in memory at a time; no effect on the result.
    """
    alphabet = critic.windows.alphabet
    parts = [_of_windows(critic, items_of(keys, alphabet)) for _, keys in iter_keys(chains, alphabet, chunk)]
    return Evidence(*np.concatenate([np.empty((3, 0), np.int64), *parts], axis=1))


def _of_windows(critic: MentionCritic, items: Items) -> Ints:
    """`known`, `seen` and `followed` of windows: [3, windows]."""
    size = critic.windows.alphabet.size
    places = np.stack(find_contexts(critic.levels, items[:, :-1], size))
    # Contexts that were seen are those of orders 1, 2, ... without a gap.
    order = (places >= 0).sum(axis=0)
    seen, followed = np.zeros(len(items), np.int64), np.zeros(len(items), np.int64)
    for k in np.unique(order):
        rows = np.flatnonzero(order == k)
        level, context = critic.levels[k - 1], places[k - 1, rows]
        totals = np.bincount(level.grams // size, level.raw, len(level.contexts)).astype(np.int64)
        seen[rows] = totals[context]
        gram = find(level.grams, context * size + items[rows, -1])
        followed[rows] = np.where(gram < 0, 0, level.raw[gram])
    return np.stack([order - 1, seen, followed])
