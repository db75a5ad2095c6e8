"""Beam sampling of articles from a causal language model: batched, cached, past the context window."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
from transformers import PreTrainedModel

from textcritic.generators.beam_cache import TREE, BeamCache, next_beam_logits
from textcritic.generators.beams import Beams
from textcritic.generators.best_of import Drawn
from textcritic.generators.cache import ArticleCache, next_logits, prefill
from textcritic.generators.decoding import Decoding, Uniforms
from textcritic.generators.drawing import draw_scored
from textcritic.generators.shards import CUT, ENDED

if TYPE_CHECKING:
    from textcritic.generators.sample import ArticleModel


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

    def __init__(self, source: "ArticleModel", decoding: Decoding, seed: int, queue: deque[int], places: int) -> None:
        self.source, self.queue, self.rows = source, queue, places
        self.window = source.window()
        self.stride = decoding.stride_in(self.window)
        self.first = len(source.prompt) + source.given  # the first token that is drawn
        self.beams = Beams(places, decoding.beam, source.end, decoding.max_tokens)
        self.uniforms = Uniforms(seed, places)
        tree = source.model.config._attn_implementation == TREE
        feeder: type[_Shared | _Copied] = _Shared if tree else _Copied
        self.past: _Past = feeder(source.model, places, decoding.beam, self.window)
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
        self.past.branch(origin, self.beams.alive)
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
        self.past.recompute(over, np.concatenate(rows), np.concatenate(contexts))

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
        self.past.restart(places)

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values).to(self.source.model.device)


@contextmanager
def tree_attention(model: PreTrainedModel) -> Iterator[None]:
    """In this block a model reads what hypotheses share once, if it takes its attention from transformers' interface.

    GPT-Neo does not: its hypotheses are rows that are copied when several go on from the same one.
    """
    before = model.config._attn_implementation
    if before != "sdpa" or not model._supports_attention_backend:
        yield
        return
    model.set_attn_implementation(TREE)
    try:
        yield
    finally:
        model.set_attn_implementation(before)


class _Past(Protocol):
    """What a model has read of the hypotheses of n texts; row r * n + t is hypothesis r of text t."""

    def next_logits(self, tokens: np.ndarray, lengths: np.ndarray, alive: np.ndarray) -> torch.Tensor:
        """Feed `tokens` [n, k] to those `alive`; their next logits [m, vocabulary], by text and then by rank.

        `lengths` [n] are of the contexts, these tokens included.
        """

    def branch(self, origin: np.ndarray, alive: np.ndarray) -> None:
        """From now on hypotheses go on from those of rank `origin` [n, k]."""

    def recompute(self, places: np.ndarray, rows: np.ndarray, contexts: np.ndarray) -> None:
        """Replace the contexts of `rows` [m], which are the texts at `places`, by tokens [m, length]."""

    def restart(self, places: np.ndarray) -> None:
        """Texts at `places` [m] begin afresh."""

    def keep(self, places: np.ndarray) -> None:
        """Drop all texts but those at `places` [m]; they are numbered anew from 0."""


class _Shared:
    """A past in which tokens are stored once; only living hypotheses are fed."""

    def __init__(self, model: PreTrainedModel, texts: int, beam: int, window: int) -> None:
        self.model, self.cache = model, BeamCache(texts, beam, window)
        self.branch, self.restart, self.keep = self.cache.branch, self.cache.restart, self.cache.keep_texts

    def next_logits(self, tokens: np.ndarray, lengths: np.ndarray, alive: np.ndarray) -> torch.Tensor:
        text, rank = np.nonzero(alive)
        return next_beam_logits(self.model, self.cache, rank * len(alive) + text, tokens[text, rank], lengths)

    def recompute(self, places: np.ndarray, rows: np.ndarray, contexts: np.ndarray) -> None:
        on = self.model.device
        prefill(self.model, self.cache, torch.from_numpy(rows).to(on), torch.from_numpy(contexts).to(on))
        self.cache.own(places)


class _Copied:
    """A past of full rows, which are copied when the beam changes, for any model; every hypothesis is fed."""

    def __init__(self, model: PreTrainedModel, texts: int, beam: int, window: int) -> None:
        self.model, self.texts, self.beam = model, texts, beam
        self.cache = ArticleCache(texts * beam, window)

    def next_logits(self, tokens: np.ndarray, lengths: np.ndarray, alive: np.ndarray) -> torch.Tensor:
        logits = next_logits(self.model, self.cache, tokens.T.reshape(-1), np.tile(lengths - 1, self.beam))
        text, rank = np.nonzero(alive)
        return logits[torch.from_numpy(rank * self.texts + text).to(logits.device)]

    def branch(self, origin: np.ndarray, alive: np.ndarray) -> None:
        rows = (origin * self.texts + np.arange(self.texts)[:, None]).T.reshape(-1)
        self.cache.keep(torch.from_numpy(rows).to(self.model.device))

    def recompute(self, places: np.ndarray, rows: np.ndarray, contexts: np.ndarray) -> None:
        on = self.model.device
        prefill(self.model, self.cache, torch.from_numpy(rows).to(on), torch.from_numpy(contexts).to(on))

    def restart(self, places: np.ndarray) -> None:
        """There is nothing to do: a context that is empty is hidden."""

    def keep(self, places: np.ndarray) -> None:
        rows = (np.arange(self.beam)[:, None] * self.texts + places).reshape(-1)
        self.texts = len(places)
        self.cache.keep(torch.from_numpy(rows).to(self.model.device))
