"""The critic of mentions, refitted on any documents of a set; used for cross-fitting (`inference.Refit`)."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from textcritic.critics.mentions.counts import levels_of
from textcritic.critics.mentions.model import FLOOR, discounts_from
from textcritic.critics.mentions.windows import Alphabet, Ints, count_windows, iter_keys, run_of_each, sorted_runs
from textcritic.inference.crossfit import Parts, sample_weights
from textcritic.inference.statistics import Array
from textcritic.latents.resolvers.mention_chains import MentionChains
from textcritic.plan.checks.critics import Discount

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class MentionRefit:
    """Critics as `MentionCritic`, of any documents of a set; the windows of all documents are found once.

    Args:
        chains: of all documents, the real ones first.
        order: n, tokens of a window.
        discount: as of `MentionCritic`.
    """

    def __init__(self, chains: MentionChains, order: int, discount: Discount) -> None:
        from scipy.sparse import csr_matrix

        windows = count_windows(chains, order)
        documents = np.repeat(np.arange(len(chains.lengths)), chains.lengths)
        window_of = _numbered(chains, windows.alphabet)
        self._windows = csr_matrix(
            (np.ones(len(window_of)), (window_of, documents)), (len(windows.counts), len(chains.lengths))
        )
        self._discount = discount
        self._levels = []
        for level in levels_of(windows):
            contexts = level.grams // windows.alphabet.size
            self._levels.append((_adding(contexts, len(level.contexts)), contexts, level.lower))
        sizes = [len(contexts) for _, contexts, _ in self._levels]
        self._down = [_adding(lower, size) for (*_, lower), size in zip(self._levels[1:], sizes, strict=False)]

    def sums(self, parts: Parts) -> tuple[Array, Array]:
        """(NLL, tokens) of the real documents, and of the sample; see `inference.Refit`."""
        numbers = np.unique(parts[parts >= 0])
        of_parts = self._windows @ (parts[:, None] == numbers).astype(np.float64)
        weights = np.stack([sample_weights(parts, part, len(numbers)) for part in numbers.tolist()], axis=1)
        of_sample = self._windows @ weights
        nll = self._nll(of_parts.sum(axis=1, keepdims=True) - of_parts)
        real = np.array([np.vdot(of_parts, nll), of_parts.sum()])
        return real, np.array([np.vdot(of_sample, nll), of_sample.sum()])

    def _nll(self, counts: Array) -> Array:
        """-log P of the last item of each window under critics of these counts of windows: [windows, critics]."""
        raw = [counts]
        for down in reversed(self._down):
            raw.insert(0, down @ raw[0])
        adjusted = raw
        if self._discount != "as_released":
            above = [down @ (count > 0) for down, count in zip(self._down, raw[1:], strict=True)]
            adjusted = [*above, raw[-1]]
        taken = self._taken(adjusted)
        below: Array = np.empty(0)
        for order, ((add, contexts, lower), count) in enumerate(zip(self._levels, adjusted, strict=True)):
            if order:
                below = np.take(below, lower, axis=0)
            elif self._discount == "as_released":
                below = np.zeros_like(count)
            else:
                below = np.broadcast_to(1 / ((count > 0).sum(axis=0) + 1), count.shape)
            below = _interpolated(count, taken[order], below, (add, contexts))
            if not order and self._discount == "as_released":
                below = np.where(count > 0, below, FLOOR)
        np.maximum(below, FLOOR, out=below, where=below <= 0)
        nll: Array = np.log(below, out=below)
        return np.negative(nll, out=nll)

    def _taken(self, adjusted: list[Array]) -> Array:
        """The discounts of counts of 1, 2, and 3 or more, for each order: [n, 3, critics]."""
        most = 5 if self._discount == "modified" else 3  # the others need the numbers of 1 and 2 alone
        numbers = np.zeros((len(adjusted), 5, adjusted[0].shape[1]))
        for order, of in enumerate(adjusted):
            for r in range(1, most):
                numbers[order, r] = np.ones(len(of)) @ (of == r)
        return np.stack([discounts_from(numbers[..., k], self._discount) for k in range(numbers.shape[-1])], axis=-1)


def _interpolated(count: Array, taken: Array, below: Array, contexts: "tuple[csr_matrix, Ints]") -> Array:
    """P of each n-gram of one order: [n-grams, critics].

    Args:
        count: adjusted, [n-grams, critics].
        taken: discounts of counts of 1, 2, and 3 or more: [3, critics].
        below: P of the n-gram without its first item, [n-grams, critics].
        contexts: adds up n-grams of one context, and the context of each n-gram.
    """
    add, of_gram = contexts
    if (taken == taken[0]).all():
        kept = count - taken[0] * (count > 0)
    else:
        kept = count - np.choose(np.clip(count, 0, 3).astype(int), [0.0 * taken[0], *taken])
    total = add @ count
    seen = total > 0
    scale = np.divide(1.0, total, out=np.zeros_like(total), where=seen)
    weight = np.where(seen, 1 - (add @ kept) * scale, 1.0)
    kept *= np.take(scale, of_gram, axis=0)
    probability: Array = np.take(weight, of_gram, axis=0)
    probability *= below
    probability += kept
    return probability


def _adding(places: npt.NDArray[np.int64], number: int) -> "csr_matrix":
    """What adds up rows of an array by their places: sparse [number, rows]."""
    from scipy.sparse import csr_matrix

    return csr_matrix((np.ones(len(places)), (places, np.arange(len(places)))), (number, len(places)))


def _numbered(chains: MentionChains, alphabet: Alphabet) -> Ints:
    """Which of the distinct windows, sorted as in `Windows`, each token has: [tokens]."""
    keys = np.concatenate([keys for _, keys in iter_keys(chains, alphabet)], axis=1)
    return run_of_each(*sorted_runs(keys))
