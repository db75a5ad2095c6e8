"""The continuations of each context by how often they occur, and drawing among the likeliest of them.

So the likeliest continuations of a context are where its slice begins, and a look-up says where they end.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textcritic.generators.ngram.arrays import ArrayFile, open_array
from textcritic.plan.entries import Decoding

NGRAMS_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class Ranked:
    """The n-grams of the full order, those of one context by falling count, of equal counts the word first seen first.

    Attributes:
        words: last words, int32 [n-grams].
        cumulative: how often those before each one occur, int64 [n-grams + 1].
        first: where each context begins, int64 [contexts + 1]; the same as in the order of keys.
    """

    words: np.ndarray
    cumulative: np.ndarray
    first: np.ndarray

    @classmethod
    def of(cls, folder: Path, first: np.ndarray, damaged: str) -> "Ranked":
        """From what `write_ranks` wrote; raises as `open_array`."""
        words, cumulative = (open_array(folder / f"ranked_{name}.npy", damaged) for name in ("words", "cumulative"))
        return cls(words, cumulative, first)


def write_ranks(folder: Path, keys: np.ndarray, cumulative: np.ndarray, first: np.ndarray, size: int) -> None:
    """Write `ranked_words.npy` and `ranked_cumulative.npy`; memory is bounded but for contexts with many continuations.

    Args:
        folder: for the two files.
        keys: of the n-grams of the full order, and so on, as `NgramModel` has them.
        cumulative: of the same.
        first: of the same.
        size: words of the vocabulary.
    """
    with (
        ArrayFile(folder / "ranked_words.npy", np.int32) as words,
        ArrayFile(folder / "ranked_cumulative.npy", np.int64) as ends,
    ):
        for start, stop in blocks(first):
            low, high = int(first[start]), int(first[stop])
            counts = np.diff(cumulative[low : high + 1])
            context = np.repeat(np.arange(stop - start), np.diff(first[start : stop + 1]))
            order = np.lexsort((-counts, context))
            words.append(keys[low:high][order] % size)
            ends.append(cumulative[low] + np.cumsum(counts[order]) - counts[order])
        ends.append(cumulative[-1:])


def blocks(first: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of contexts [start, stop) that have about `NGRAMS_AT_ONCE` n-grams, or are a single one with more."""
    start = 0
    while start < len(first) - 1:
        stop = int(np.searchsorted(first, first[start] + NGRAMS_AT_ONCE, side="right")) - 1
        stop = min(max(stop, start + 1), start + NGRAMS_AT_ONCE)
        yield start, stop
        start = stop


class Truncated:
    """Drawing with a temperature, among the k likeliest words, or among those that hold a share of the mass.

    As `drawing.truncate` has it: temperature, top-k, top-p in this order; words as likely as the k-th stay, and the one
    that crosses p stays. With a temperature the weights of all n-grams are worked out first, 8 bytes each in memory.

    Args:
        ranked: of the model.
        decoding: the scheme.
    """

    def __init__(self, ranked: Ranked, decoding: Decoding) -> None:
        self._ranked, self._decoding = ranked, decoding
        self._is_whole = decoding.temperature == 1
        self._mass = ranked.cumulative if self._is_whole else _tempered(ranked, decoding.temperature)

    def draw(self, context: np.ndarray, uniforms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Draw a word after each context.

        Args:
            context: numbers of contexts [n] that were each followed by a word.
            uniforms: numbers in [0, 1) [n].

        Returns:
            words, int64 [n], and their log-probabilities at this temperature among all words, nats, float64 [n].
        """
        first, stop = self._ranked.first[context], self._ranked.first[context + 1]
        before = self._mass[first]
        total = self._mass[stop] - before
        if self._decoding.top_k:
            stop = self._likeliest(first, stop)
        if self._decoding.top_p < 1:
            needed = (self._mass[stop] - before) * self._decoding.top_p
            # Counts are looked up as whole numbers: for a fraction numpy would make a copy of all counts.
            needed = np.ceil(needed).astype(np.int64) if self._is_whole else needed
            stop = np.minimum(np.searchsorted(self._mass, before + needed, side="left"), stop)
        target = before + (uniforms * (self._mass[stop] - before)).astype(self._mass.dtype)
        at = np.clip(np.searchsorted(self._mass, target, side="right") - 1, first, stop - 1)
        weight = self._counts(at)
        if not self._is_whole:
            weight = (weight / self._counts(first)) ** (1 / self._decoding.temperature)
        return self._ranked.words[at].astype(np.int64), np.log(weight / total)

    def _likeliest(self, first: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Where the k likeliest words end, with those as likely as the k-th."""
        last = np.minimum(first + self._decoding.top_k, stop) - 1
        least = self._counts(last)
        # Counts fall within a context: the last place with this count or more, by bisection.
        low, high = last, stop
        while (high - low > 1).any():
            middle = (low + high) // 2
            stays = self._counts(np.minimum(middle, len(self._ranked.words) - 1)) >= least
            low, high = np.where(stays & (high - low > 1), middle, low), np.where(stays, high, middle)
        return low + 1

    def _counts(self, at: np.ndarray) -> np.ndarray:
        counts: np.ndarray = self._ranked.cumulative[at + 1] - self._ranked.cumulative[at]
        return counts


def _tempered(ranked: Ranked, temperature: float) -> np.ndarray:
    """Sums of the weights of the n-grams before each one, float64 [n-grams + 1]; that of a context's likeliest is 1."""
    sums = np.zeros(len(ranked.words) + 1)
    for start, stop in blocks(ranked.first):
        low, high = int(ranked.first[start]), int(ranked.first[stop])
        counts = np.diff(ranked.cumulative[low : high + 1])
        sizes = np.diff(ranked.first[start : stop + 1])
        likeliest = counts[(ranked.first[start:stop] - low)[sizes > 0]]
        share = counts / np.maximum(np.repeat(likeliest, sizes[sizes > 0]), 1)
        sums[low + 1 : high + 1] = sums[low] + np.cumsum(share ** (1 / temperature))
    return sums
