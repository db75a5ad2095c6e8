"""Beam sampling: a beam whose extensions are drawn (Meister and Cotterell 2021, "Beyond Perplexity", section 5).

At each step k symbols are drawn for each of the k hypotheses of a text, from the model's own distribution and with
replacement, and the k most probable of these k * k extensions stay. Where the paper is silent: the same extension drawn
twice counts once; a hypothesis that has ended stays with the probability that it has, and competes with the others; the
text is the most probable one, as soon as that one has ended, since nothing can become more probable.

For the same reason nothing that is less probable than an ended hypothesis can become the text, and it is dropped at
once: the text is the same, and the model is spared the work.
"""

import numpy as np

from textcritic.generators.uniforms import Uniforms

FIRST_STEPS = 128  # that there is room for at first; the room doubles


class Beams:
    """The hypotheses of several texts, each text's in the order of their probability: which go on, and from which.

    Args:
        texts: number of texts n; all are at their start, which is one empty hypothesis.
        beam: k, at least 1; with 1, the text is an ancestral sample.
        end: the symbol that ends a text.
        max_tokens: symbols after which a text is cut.

    Attributes:
        scores: log probabilities, float64 [n, k], descending; -inf where a text has fewer hypotheses.
        alive: hypotheses that go on, bool [n, k].
        symbols: the last symbol of each, int64 [n, k]; the end at the start.
        length: symbols drawn of each text, int64 [n].
    """

    def __init__(self, texts: int, beam: int, end: int, max_tokens: int) -> None:
        self.beam, self.end, self.max_tokens = beam, end, max_tokens
        self.scores = np.empty((texts, beam))
        self.alive = np.empty((texts, beam), bool)
        self.symbols = np.empty((texts, beam), np.int64)
        self.length = np.empty(texts, np.int64)
        # What was drawn at each step, and for which hypothesis of the step before.
        self._drawn = np.empty((texts, min(FIRST_STEPS, max_tokens), beam), np.int32)
        self._origin = np.empty_like(self._drawn)
        self.restart(np.arange(texts))

    def restart(self, places: np.ndarray) -> None:
        """Put texts at `places` [m], int, back to their start."""
        self.scores[places], self.alive[places] = -np.inf, False
        self.scores[places, 0], self.alive[places, 0] = 0, True
        self.symbols[places], self.length[places] = self.end, 0

    def numbers(self, uniforms: Uniforms, places: np.ndarray) -> np.ndarray:
        """Uniform numbers [rows, k] for the living hypotheses of the texts at `places` [m], in `extend`'s order.

        A step takes k * k numbers of a text's stream, k for each hypothesis in the order of their probability,
        whether or not it is there.
        """
        numbers = uniforms.several(places, self.beam**2).reshape(-1, self.beam, self.beam)
        return numbers[self.alive[places]]

    def extend(self, places: np.ndarray, symbols: np.ndarray, log_probs: np.ndarray) -> np.ndarray:
        """Extend the living hypotheses of texts, and keep the most probable.

        Args:
            places: the texts [m], int.
            symbols: drawn for each living hypothesis [rows, k], by text and then by rank.
            log_probs: the log-probabilities of these symbols, [rows, k].

        Returns:
            The rank of the hypothesis that each one continues, int64 [m, k]; its own rank if it continues none.
        """
        m, k = len(places), self.beam
        before, alive = self.scores[places], self.alive[places]
        again = np.tril(symbols[:, :, None] == symbols[:, None, :], -1).any(axis=2)
        # The last column is the hypothesis itself, if it has ended.
        extended = np.full((m, k, k + 1), -np.inf)
        extended[alive, :k] = np.where(again, -np.inf, before[alive][:, None] + log_probs)
        extended[:, :, k] = np.where(alive, -np.inf, before)
        drawn = np.full((m, k, k + 1), self.end)
        drawn[alive, :k] = symbols
        every = np.arange(m)[:, None]
        chosen = np.argsort(-extended.reshape(m, -1), axis=1, kind="stable")[:, :k]
        origin, scores, last = (
            chosen // (k + 1),
            extended.reshape(m, -1)[every, chosen],
            drawn.reshape(m, -1)[every, chosen],
        )
        ended = (last == self.end) & (scores > -np.inf)
        scores[np.cumsum(ended, axis=1) - ended > 0] = -np.inf  # hypotheses ranked below an ended one
        alive = ~ended & (scores > -np.inf)
        at = self.length[places]
        if at.max() == self._drawn.shape[1]:
            more = np.empty((len(self.length), min(at.max(), self.max_tokens - at.max()), k), np.int32)
            self._drawn, self._origin = (np.concatenate([old, more], axis=1) for old in (self._drawn, self._origin))
        self._drawn[places, at], self._origin[places, at] = last, origin
        self.scores[places], self.alive[places], self.symbols[places] = scores, alive, last
        self.length[places] += 1
        return np.where(scores > -np.inf, origin, np.arange(k))

    def ended(self) -> np.ndarray:
        """Texts whose most probable hypothesis has ended, bool [n]."""
        return ~self.alive[:, 0]

    def done(self) -> np.ndarray:
        """Texts that have ended or must be cut, bool [n]."""
        return self.ended() | (self.length == self.max_tokens)

    def text(self, place: int) -> list[int]:
        """Symbols of a text's most probable hypothesis; its end, if it has one, is the last."""
        symbols: list[int] = self.hypotheses(place, 1)[0].tolist()
        return symbols[: symbols.index(self.end) + 1] if self.end in symbols else symbols

    def hypotheses(self, place: int, number: int) -> np.ndarray:
        """Symbols of the most probable hypotheses of a text, int64 [number, length]; an end is repeated."""
        length = int(self.length[place])
        symbols = np.empty((number, length), np.int64)
        rank = np.arange(number)
        for at in range(length - 1, -1, -1):
            symbols[:, at] = self._drawn[place, at, rank]
            rank = self._origin[place, at, rank]
        return symbols

    def keep(self, places: np.ndarray) -> None:
        """Drop all texts but those at `places` [m], int; the kept texts are renumbered from 0."""
        for name in ("scores", "alive", "symbols", "length", "_drawn", "_origin"):
            setattr(self, name, getattr(self, name)[places])
