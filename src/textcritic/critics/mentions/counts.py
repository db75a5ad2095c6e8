"""Counts of n-grams of all orders up to n, as tables in which a window is found by its context, then by its last item.

The n-gram of order k is the last k items of a window, with the labels that they have in the whole window: they are not
relabelled again, so that `he:1` without a `:0` is a unigram of its own (as in the released code of the paper).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textcritic.critics.mentions.windows import Ints, Items, Windows


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The n-grams of one order k, of M items.

    Attributes:
        contexts: int64 [contexts], sorted: `shorter * M + item`, where `item` is the first item of the context and
            `shorter` is the index of the rest of it among the contexts of order k - 1; for order 1: a zero.
        grams: int64 [n-grams], sorted: `context * M + item`, where `item` is the predicted one.
        lower: int64 [n-grams], the index in order k - 1 of the n-gram without its first item; for order 1: empty.
        raw: int64 [n-grams], how often each occurs.
        extensions: int64 [n-grams], the number of distinct items before each n-gram (for order n: empty).
    """

    contexts: Ints
    grams: Ints
    lower: Ints
    raw: Ints
    extensions: Ints


def levels_of(windows: Windows) -> list[Level]:
    """The n-grams of orders 1 ... n; their ends are windows, so that no order needs the chains again."""
    size, order = windows.alphabet.size, windows.alphabet.order
    contexts, place = _contexts(windows.items, size)
    none = np.empty(0, np.int64)
    grams, raw, extensions = place * size + windows.items[:, -1], windows.counts, none
    levels: list[Level] = []
    for k in range(order, 1, -1):
        shorter = contexts[k - 1] // size
        below, lower = np.unique(shorter[grams // size] * size + grams % size, return_inverse=True)
        levels.append(Level(contexts[k - 1], grams, lower, raw, extensions))
        grams, extensions = below, np.bincount(lower, minlength=len(below))
        raw = np.bincount(lower, raw, len(below)).astype(np.int64)  # sums of float64 are exact up to 2^53
    levels.append(Level(contexts[0], grams, none, raw, extensions))
    return levels[::-1]


def find(keys: Ints, wanted: Ints) -> Ints:
    """The index of each of `wanted` in sorted keys, -1 where it is not among them."""
    if not len(keys):
        return np.full(len(wanted), -1)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def find_contexts(levels: Sequence[Level], contexts: Items, size: int) -> list[Ints]:
    """The index of each context, and of each of its ends, among the contexts of its order.

    Args:
        levels: orders 1 ... n.
        contexts: [contexts, n - 1], items.
        size: M.

    Returns:
        [n][contexts]: for order k, the index of the last k - 1 items among the contexts of that order; -1: not there.
    """
    places = [np.zeros(len(contexts), np.int64)]
    for k, level in enumerate(levels[1:], 2):
        # After a -1 the key is below 0, and not found: if an end of a context is missing, the context is missing too.
        places.append(find(level.contexts, places[-1] * size + contexts[:, -(k - 1)]))
    return places


def _contexts(items: Items, size: int) -> tuple[list[Ints], Ints]:
    """Contexts of each order, as in `Level`, and the index of the longest context of each window: [windows].

    Windows are sorted by their contexts, read from the last item back.
    """
    contexts = [np.zeros(min(1, len(items)), np.int64)]
    place = np.zeros(len(items), np.int64)
    differs = np.zeros(len(items), dtype=bool)
    for k in range(2, items.shape[1] + 1):
        item = items[:, -k]
        keys = place * size + item
        differs[1:] |= item[1:] != item[:-1]
        differs[:1] = True
        contexts.append(keys[differs])
        place = np.cumsum(differs) - 1
    return contexts, place
