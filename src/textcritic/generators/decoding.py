"""Decoding schemes: how the next token is drawn from logits, with a stream of random numbers for each article.

A token is the inverse of the cumulative distribution at one uniform number. The numbers of article i come from a
counter-based generator seeded by (seed, i), so an article depends neither on its neighbours in the batch nor on the
shard it falls into (up to the rounding of a model's own arithmetic, which batching changes in the last digits: a draw
differs when it falls that close to the border between two tokens).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.plan.checks.decodings import DRAW, LIKELIEST, check_method
from textcritic.plan.entries.decodings import Decoding as Entry

UNIFORMS_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Decoding:
    """A decoding scheme; the defaults are pure ancestral sampling.

    Attributes:
        temperature: logits are divided by it.
        top_k: keep the k most probable tokens, ties with the k-th included; 0 keeps all.
        top_p: keep the smallest set of likeliest tokens whose mass, after `top_k`, is at least `top_p`; 1 keeps all.
        stride: tokens that are dropped from the old end when the context has outgrown the model's window; None is half
            the window, 1 predicts every token from the last window - 1 tokens, as published.
        max_tokens: an article that has not ended after so many tokens is cut there.
        batch_size: articles drawn side by side, fewer where a GPU's memory has no room for so many; it changes the
            speed, not the articles.
        method: "draw", "beam-sampling" (`generators.beams`) or "best-of" (the best of several draws); for models of
            fairseq also "likeliest", which takes the likeliest tokens and draws nothing.
        beam: of an autoregressive model, hypotheses kept by a beam search or beam sampling, or draws to take the best
            of.
        iterations: passes after the first in which a non-autoregressive model refines what it made.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    stride: int | None = None
    max_tokens: int = 20_000
    batch_size: int = 64
    method: str = DRAW
    beam: int = 1
    iterations: int = 0

    def __post_init__(self) -> None:
        _require(self.temperature > 0, "temperature", self.temperature, "give a number above 0 (1 is plain sampling)")
        _require(self.top_k >= 0, "top_k", self.top_k, "give 0 (off) or a positive number of tokens")
        _require(0 < self.top_p <= 1, "top_p", self.top_p, "give a probability above 0, at most 1 (1 is off)")
        _require(self.stride is None or self.stride >= 1, "stride", self.stride, "give null or at least 1 token")
        _require(self.max_tokens >= 1, "max_tokens", self.max_tokens, "give at least 1 token")
        _require(self.batch_size >= 1, "batch_size", self.batch_size, "give at least 1 article")
        _require(self.beam >= 1, "beam", self.beam, "give at least 1 hypothesis")
        _require(self.iterations >= 0, "iterations", self.iterations, "give 0 or a positive number of passes")
        try:
            check_method(self)
        except TextcriticError as error:
            raise TextcriticError(f"decoding: {error}") from error

    @classmethod
    def from_entry(cls, entry: Entry, **others: Any) -> "Decoding":
        """From a registry entry; its other keys say how many articles to draw. `others` replace some of its values."""
        return cls(**{name: getattr(entry, name) for name in cls.__dataclass_fields__} | others)

    @property
    def is_ancestral(self) -> bool:
        """Whether tokens are drawn, and from the model's own distribution, untouched."""
        return self.method == DRAW and self.temperature == 1 and self.top_k == 0 and self.top_p == 1

    def require_draws(self, name: str) -> None:
        """See that tokens are to be drawn, whatever is then made of them.

        Raises:
            TextcriticError: a search is wanted of the model `name`, which can only be drawn from.
        """
        if self.method == LIKELIEST:
            raise TextcriticError(f"{name}: is drawn from; `method: {self.method}` is for models of fairseq")

    def stride_in(self, window: int) -> int:
        """The stride, in tokens, for a model that sees `window` tokens.

        Raises:
            TextcriticError: it would drop the whole context.
        """
        stride = max(window // 2, 1) if self.stride is None else self.stride
        _require(stride < window, "stride", stride, f"give less than the model's window of {window} tokens")
        return stride


class Uniforms:
    """Uniform numbers in [0, 1) for the rows of a batch: row r reads the stream of the article assigned to it.

    Streams are Philox generators seeded by (seed, article index), read one number a token.
    """

    def __init__(self, seed: int, rows: int) -> None:
        _require(seed >= 0, "seed", seed, "give 0 or a positive integer")
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


def _require(holds: bool, key: str, value: object, right: str) -> None:
    if not holds:
        raise TextcriticError(f"decoding: {key}: {value} is not possible; {right}")
