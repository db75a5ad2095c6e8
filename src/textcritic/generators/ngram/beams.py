"""Beam sampling and the best of several draws, for n-gram models; many texts side by side."""

from collections.abc import Callable

import numpy as np

from textcritic.generators.decoding import Decoding, Uniforms
from textcritic.generators.ngram.model import NgramModel
from textcritic.generators.ngram.words import END_ID

# Draws one word for each text: from contexts [order, texts], see `NgramModel.shift`, and numbers in [0, 1) [texts],
# words and their log-probabilities.
Draw = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
STAYS = -1  # instead of a word: the hypothesis ended before


def beam_sampled(model: NgramModel, uniforms: Uniforms, decoding: Decoding) -> list[np.ndarray]:
    """Ids of texts, drawn by the beam sampling that `fairseq.beam_sampling.sample_beams` defines.

    Of equally probable hypotheses the one that was drawn first stays. Each step takes k * k numbers of a text's stream,
    where k is the beam.

    Args:
        model: of maximum likelihood.
        uniforms: a row for each text.
        decoding: its `beam` and `max_tokens`.
    """
    beams = _Beams(model, uniforms, decoding.beam)
    for step in range(decoding.max_tokens):
        beams.extend()
        if not beams.keep_unfinished(last=step == decoding.max_tokens - 1):
            break
    return beams.texts()


class _Beams:
    """Hypotheses of several texts; n is the number of texts that are not done, k the beam, h = n k hypotheses."""

    def __init__(self, model: NgramModel, uniforms: Uniforms, beam: int) -> None:
        self.model, self.uniforms, self.beam = model, uniforms, beam
        self.number = number = len(uniforms)
        self.active = np.arange(number)  # texts that are not done [n]
        self.contexts = np.repeat(model.begin()[:, None], number * beam, axis=1)  # [order, h]
        self.ended = np.zeros((number, beam), bool)
        # At the start the hypotheses of a text are the same, so that all but one are left out.
        self.scores = np.full((number, beam), -np.inf)
        self.scores[:, 0] = 0
        self.steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # texts [n], origins and words [n, k]

    def extend(self) -> None:
        """Draw k words for each hypothesis, and keep the k most probable of a text."""
        n, k = self.scores.shape
        numbers = np.stack([self.uniforms.next(np.arange(n)) for _ in range(k * k)], axis=1).ravel()
        word, log_prob = (
            x.reshape(n * k, k) for x in self.model.draw(self.model.order, self.contexts[-1].repeat(k), numbers)
        )
        again = np.tril(word[:, :, None] == word[:, None, :], k=-1).any(axis=2)
        extended = self.scores.reshape(-1, 1) + log_prob
        extended[again | self.ended.reshape(-1, 1)] = -np.inf
        # Behind the extensions stand the hypotheses that have ended.
        stay = np.where(self.ended, self.scores, -np.inf)
        candidates = np.concatenate([extended.reshape(n, k * k), stay], axis=1)
        chosen = np.argsort(-candidates, axis=1, kind="stable")[:, :k]
        self.scores = np.take_along_axis(candidates, chosen, axis=1)
        stays = chosen >= k * k
        origin = np.where(stays, chosen - k * k, chosen // k)
        drawn = np.take_along_axis(word.reshape(n, k * k), chosen.clip(max=k * k - 1), axis=1)
        self.steps.append((self.active, origin.astype(np.int32), np.where(stays, STAYS, drawn).astype(np.int32)))
        self.ended = stays | (drawn == END_ID)
        rows = (np.arange(n)[:, None] * k + origin)[~self.ended]
        # Hypotheses that have ended draw on, without effect, as if they began.
        contexts = np.repeat(self.model.begin()[:, None], n * k, axis=1)
        contexts[:, ~self.ended.ravel()] = self.model.shift(self.contexts[:, rows], drawn[~self.ended])
        self.contexts = contexts

    def keep_unfinished(self, *, last: bool) -> int:
        """Drop the texts whose most probable hypothesis has ended, all if it is the last step; how many are left."""
        left = np.flatnonzero(~self.ended[:, 0] & (not last))
        self.contexts = self.contexts.reshape(len(self.contexts), -1, self.beam)[:, left].reshape(
            len(self.contexts), -1
        )
        self.active, self.scores, self.ended = self.active[left], self.scores[left], self.ended[left]
        self.uniforms.keep(left)
        return len(left)

    def texts(self) -> list[np.ndarray]:
        """The ids of the texts: the most probable hypothesis of each at its last step, traced back."""
        hypothesis = np.zeros(self.number, np.int64)
        texts, words = [], []
        for active, origin, word in reversed(self.steps):
            rows = np.arange(len(active))
            texts.append(active)
            words.append(word[rows, hypothesis[active]])
            hypothesis[active] = origin[rows, hypothesis[active]]
        return by_text(texts[::-1], words[::-1], self.number)


def best_of(model: NgramModel, draw: Draw, uniforms: Uniforms, decoding: Decoding) -> list[np.ndarray]:
    """Ids of texts, each the best of k independent draws: the one with the highest log-probability per token.

    The end is a token; a draw that is cut at `max_tokens` has none. Of equally good draws the first is taken. Each step
    takes k numbers of a text's stream, until all its draws have ended.

    Args:
        model: of maximum likelihood.
        draw: how a word is drawn.
        uniforms: a row for each text.
        decoding: k is its `beam`; its `max_tokens`.
    """
    number, k = len(uniforms), decoding.beam
    going_on = np.ones((number, k), bool)
    contexts = np.repeat(model.begin()[:, None], number * k, axis=1)  # of the draws that go on
    score, length = np.zeros(number * k), np.zeros(number * k, np.int64)
    draws, words = [], []
    for _ in range(decoding.max_tokens):
        texts = np.flatnonzero(going_on.any(axis=1))
        if not len(texts):
            break
        numbers = np.zeros((number, k))
        for column in range(k):
            numbers[texts, column] = uniforms.next(texts)
        active = np.flatnonzero(going_on)
        word, log_prob = draw(contexts, numbers[going_on])
        score[active] += log_prob
        length[active] += 1
        draws.append(active)
        words.append(word)
        going_on.ravel()[active] = word != END_ID
        contexts = model.shift(contexts[:, word != END_ID], word[word != END_ID])
    best = np.argmax((score / length).reshape(number, k), axis=1)
    chosen = [active[best[active // k] == active % k] // k for active in draws]
    kept = [word[best[active // k] == active % k] for active, word in zip(draws, words, strict=True)]
    return by_text(chosen, kept, number)


def by_text(texts: list[np.ndarray], words: list[np.ndarray], number: int) -> list[np.ndarray]:
    """The ids of each text, from the texts and words of each step."""
    text, word = np.concatenate(texts), np.concatenate(words).astype(np.int64)
    text, word = text[word != STAYS], word[word != STAYS]
    lengths = np.bincount(text, minlength=number)
    return np.split(word[np.argsort(text, kind="stable")], np.cumsum(lengths)[:-1])
