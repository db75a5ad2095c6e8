"""Beam sampling of articles from a causal language model: batched, cached, past the context window."""

from collections import deque

import numpy as np
import torch
from transformers import PreTrainedModel

from textcritic.generators.article_model import ArticleModel
from textcritic.generators.beams import Beams
from textcritic.generators.best_of import Drawn
from textcritic.generators.cache import ArticleCache, next_logits, prefill
from textcritic.generators.drawing import draw_scored
from textcritic.generators.shards import CUT, ENDED
from textcritic.generators.uniforms import Uniforms
from textcritic.plan.entries import Decoding


class BeamBatch:
    """Articles whose beams are extended side by side; one that is finished gives its place to the next of the queue.

    Args:
        source: the model and its prompt.
        decoding: the scheme; k is its `beam`.
        seed: see `shards.Shard`.
        queue: the articles to draw; those that are begun are taken out.
        places: n, articles side by side, at most as many as there are in the queue.

    Attributes:
        rows: articles that are not finished; with 0, all are.
    """

    def __init__(self, source: ArticleModel, decoding: Decoding, seed: int, queue: deque[int], places: int) -> None:
        self.source, self.queue, self.rows = source, queue, places
        self.window = source.window()
        self.stride = decoding.stride_in(self.window)
        self.first = len(source.prompt) + source.given  # the first token that is drawn
        self.beams = Beams(places, decoding.beam, source.end, decoding.max_tokens)
        self.uniforms = Uniforms(seed, places)
        self.past = _Past(source.model, places, decoding.beam, self.window)
        self.index = np.zeros(places, np.int64)
        self.beginnings = np.zeros((places, self.first), np.int64)
        self.length = np.ones(places, np.int64)  # tokens known, the last of them not yet fed
        self.begin = np.zeros(places, np.int64)  # first token that is still in the context
        self._refill(np.arange(places))

    def step(self) -> list[Drawn]:
        """Feed the last token of every hypothesis and draw its extensions; returns the articles that this finishes."""
        self._slide()
        every, alive = np.arange(self.rows), self.beams.alive
        given = self.beginnings[every, np.minimum(self.length, self.first) - 1]
        last = np.where((self.length <= self.first)[:, None], given[:, None], self.beams.symbols)
        logits = self.past.next_logits(last, self.length - self.begin, alive)
        drawing = np.flatnonzero(self.length >= self.first)
        origin = np.tile(np.arange(self.beams.beam), (self.rows, 1))
        if len(drawing):
            if len(drawing) < self.rows:
                of_text = np.nonzero(alive)[0]
                logits = logits[self._tensor(np.flatnonzero(self.length[of_text] >= self.first))]
            symbols, log_probs = draw_scored(logits, self.beams.numbers(self.uniforms, drawing))
            origin[drawing] = self.beams.extend(drawing, symbols.numpy(), log_probs.numpy())
        self.length += 1
        self.past.branch(origin)
        finished = np.flatnonzero(self.beams.done())
        articles = [self._article(place) for place in finished.tolist()]
        self._hand_on(finished)
        return articles

    def _slide(self) -> None:
        """Shorten the contexts that have outgrown the window, and compute what is left of them afresh."""
        over = np.flatnonzero(self.length - self.begin >= self.window)
        if not len(over):
            return
        self.begin[over] += self.stride
        rows, contexts = [], []
        for place in over.tolist():
            alive = np.flatnonzero(self.beams.alive[place])
            drawn = self.beams.hypotheses(place, len(alive))
            tokens = np.concatenate([np.tile(self.beginnings[place], (len(alive), 1)), drawn], axis=1)
            # Their last token is left to the step itself, which feeds one token to every hypothesis anyway.
            contexts.append(tokens[:, self.begin[place] : self.begin[place] + self.window - self.stride - 1])
            rows.append(alive * self.rows + place)
        self.past.recompute(np.concatenate(rows), np.concatenate(contexts))

    def _article(self, place: int) -> Drawn:
        given = self.beginnings[place, len(self.source.prompt) :].tolist()
        finish = ENDED if self.beams.ended()[place] else CUT
        drawn = self.beams.text(place)
        return Drawn(int(self.index[place]), given + drawn, finish, float(self.beams.scores[place, 0]) / len(drawn))

    def _hand_on(self, finished: np.ndarray) -> None:
        """Give the places of finished articles to the next ones; once there are none, drop the places."""
        refilled = finished[: len(self.queue)]
        if len(refilled):
            self._refill(refilled)
        if len(refilled) == len(finished):
            return
        kept = np.delete(np.arange(self.rows), finished[len(refilled) :])
        self.rows = len(kept)
        for part in (self.beams, self.uniforms, self.past):
            part.keep(kept)
        self.index, self.beginnings = self.index[kept], self.beginnings[kept]
        self.length, self.begin = self.length[kept], self.begin[kept]

    def _refill(self, places: np.ndarray) -> None:
        for place in places.tolist():
            self.index[place] = self.queue.popleft()
            self.uniforms.assign(place, int(self.index[place]))
            self.beginnings[place] = self.source.beginning(int(self.index[place]))
        self.length[places], self.begin[places] = 1, 0
        self.beams.restart(places)

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values).to(self.source.model.device)


class _Past:
    """What a model has read of the hypotheses of n texts; row r * n + t of its cache is hypothesis r of text t.

    Rows are copied when several hypotheses go on from the same one, and every row is fed, also those that have ended.
    """

    def __init__(self, model: PreTrainedModel, texts: int, beam: int, window: int) -> None:
        self.model, self.texts, self.beam = model, texts, beam
        self.cache = ArticleCache(texts * beam, window)

    def next_logits(self, tokens: np.ndarray, lengths: np.ndarray, alive: np.ndarray) -> torch.Tensor:
        """Feed `tokens` [n, k]; the next logits [m, vocabulary] of those `alive` [n, k], by text and then by rank.

        `lengths` [n] are of the contexts, these tokens included.
        """
        logits = next_logits(self.model, self.cache, tokens.T.reshape(-1), np.tile(lengths - 1, self.beam))
        text, rank = np.nonzero(alive)
        return logits[torch.from_numpy(rank * self.texts + text).to(logits.device)]

    def branch(self, origin: np.ndarray) -> None:
        """From now on hypotheses go on from those of rank `origin` [n, k]."""
        text, rank = np.nonzero(origin != np.arange(self.beam))
        places = np.stack([rank, origin[text, rank]]) * self.texts + text
        self.cache.copy(*torch.from_numpy(places).to(self.model.device))

    def recompute(self, rows: np.ndarray, contexts: np.ndarray) -> None:
        """Replace the contexts of `rows` [m] by tokens [m, length]."""
        on = self.model.device
        prefill(self.model, self.cache, torch.from_numpy(rows).to(on), torch.from_numpy(contexts).to(on))

    def keep(self, places: np.ndarray) -> None:
        """Drop all texts but those at `places` [m]; they are numbered from 0 again."""
        rows = (np.arange(self.beam)[:, None] * self.texts + places).reshape(-1)
        self.texts = len(places)
        self.cache.keep(torch.from_numpy(rows).to(self.model.device))
