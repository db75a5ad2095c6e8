"""The random numbers that tokens are drawn with: a stream for each article.

A token is the inverse of the cumulative distribution at one uniform number. The numbers of article i come from a
counter-based generator seeded by (seed, i), so an article depends neither on its neighbours in the batch nor on the
shard it falls into (up to the rounding of a model's own arithmetic, which batching changes in the last digits: a draw
differs when it falls that close to the border between two tokens).
"""

from collections.abc import Sequence

import numpy as np

from textcritic.errors import TextcriticError

UNIFORMS_AT_ONCE = 256


class Uniforms:
    """Uniform numbers in [0, 1) for the rows of a batch: row r reads the stream of the article assigned to it.

    Streams are Philox generators seeded by (seed, article index), read one number a token.
    """

    def __init__(self, seed: int, rows: int) -> None:
        if seed < 0:
            raise TextcriticError(f"decoding: seed: {seed} is not possible; give 0 or a positive integer")
        self._seed = seed
        self._streams: list[np.random.Generator] = [np.random.Generator(np.random.Philox(0))] * rows
        self._ready = np.empty((rows, UNIFORMS_AT_ONCE))
        self._used = np.full(rows, UNIFORMS_AT_ONCE)

    @classmethod
    def of(cls, seed: int, articles: Sequence[int]) -> "Uniforms":
        """With a row for each of the articles, in their order."""
        uniforms = cls(seed, len(articles))
        for row, article in enumerate(articles):
            uniforms.assign(row, article)
        return uniforms

    def __len__(self) -> int:
        return len(self._streams)

    def assign(self, row: int, article: int) -> None:
        """From now on `row` reads the stream of `article`, from its start."""
        self._streams[row] = np.random.Generator(np.random.Philox(np.random.SeedSequence((self._seed, article))))
        self._used[row] = UNIFORMS_AT_ONCE

    def next(self, rows: np.ndarray) -> np.ndarray:
        """The next number of each of `rows` [n], int."""
        for row in rows[self._used[rows] == UNIFORMS_AT_ONCE]:
            self._streams[row].random(out=self._ready[row])
            self._used[row] = 0
        numbers = self._ready[rows, self._used[rows]]
        self._used[rows] += 1
        return numbers

    def several(self, rows: np.ndarray, count: int) -> np.ndarray:
        """The next `count` numbers of each of `rows` [n], int, as [n, count]."""
        numbers = np.empty((len(rows), count))
        ready = self._used[rows] + count <= UNIFORMS_AT_ONCE
        numbers[ready] = self._ready[rows[ready, None], self._used[rows[ready], None] + np.arange(count)]
        self._used[rows[ready]] += count
        for place in np.flatnonzero(~ready):
            row = rows[place]
            left = UNIFORMS_AT_ONCE - self._used[row]
            numbers[place, :left] = self._ready[row, self._used[row] :]
            numbers[place, left:] = self._streams[row].random(count - left)
            self._used[row] = UNIFORMS_AT_ONCE
        return numbers

    def keep(self, rows: np.ndarray) -> None:
        """Drop all rows but `rows` [n], int; the kept rows are renumbered from 0."""
        self._streams = [self._streams[row] for row in rows]
        self._ready, self._used = self._ready[rows], self._used[rows]
