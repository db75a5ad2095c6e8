"""Drawing texts from an n-gram model, many side by side; text i depends on (seed, i) and on nothing else."""

from collections.abc import Iterator, Sequence

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.generators.decoding import Decoding, Uniforms
from textcritic.generators.ngram.beams import Draw, beam_sampled, best_of, by_text
from textcritic.generators.ngram.model import NgramModel
from textcritic.generators.ngram.ranks import Truncated
from textcritic.generators.ngram.words import END_ID, UNKNOWN_ID
from textcritic.generators.shards import CUT, ENDED
from textcritic.options.decodings import BEAM_SAMPLING, BEST_OF, DRAW

TEXTS_AT_ONCE = 4096
Drawn = tuple[int, np.ndarray, str]


def draw_texts(model: NgramModel, decoding: Decoding, seed: int, indices: Sequence[int]) -> Iterator[Drawn]:
    """Draw texts, yielding (index, ids with the end, "end" or "length").

    Args:
        model: the model.
        decoding: the scheme; a text has at most `max_tokens` tokens. What else but `max_tokens` changes the draws is
            for maximum likelihood alone.
        seed: of the sample.
        indices: of the texts.

    Raises:
        TextcriticError: the model is interpolated, or the method not one of n-gram models, and so cannot be drawn from
            in this way.
    """
    if decoding.method not in (DRAW, BEAM_SAMPLING, BEST_OF):
        raise TextcriticError(
            f"decoding: method: {decoding.method} does not apply to an n-gram model; use {DRAW}, {BEAM_SAMPLING} or"
            f" {BEST_OF}"
        )
    if model.ranked is None and not decoding.is_ancestral:
        raise TextcriticError(
            "decoding: temperature, top_k, top_p, beam sampling and best-of do not apply to an interpolated n-gram"
            " model; use a decoding without them, or a model with `smoothing: none`"
        )
    at_once = max(TEXTS_AT_ONCE // decoding.beam, 1)
    draw = _drawer(model, decoding)
    for start in range(0, len(indices), at_once):
        block = indices[start : start + at_once]
        uniforms = Uniforms.of(seed, block)
        if decoding.method == BEAM_SAMPLING:
            texts = beam_sampled(model, uniforms, decoding)
        elif decoding.method == BEST_OF:
            texts = best_of(model, draw, uniforms, decoding)
        else:
            texts = _drawn(model, draw, uniforms, decoding.max_tokens)
        for index, ids in zip(block, texts, strict=True):
            yield index, ids, ENDED if ids[-1] == END_ID else CUT


def _drawn(model: NgramModel, draw: Draw, uniforms: Uniforms, max_tokens: int) -> list[np.ndarray]:
    """Ids of the texts whose numbers are given, word by word."""
    number = len(uniforms)
    active = np.arange(number)
    contexts = np.repeat(model.begin()[:, None], number, axis=1)
    rows, drawn = [], []
    for _ in range(max_tokens):
        words, _ = draw(contexts, uniforms.next(active))
        rows.append(active)
        drawn.append(words)
        going_on = words != END_ID
        active = active[going_on]
        if not len(active):
            break
        contexts = model.shift(contexts[:, going_on], words[going_on])
    return by_text(rows, drawn, number)


def _drawer(model: NgramModel, decoding: Decoding) -> Draw:
    """What draws one word for each text; with a mixture of orders, without its log-probability."""
    if model.weights is not None:
        return lambda contexts, numbers: (_interpolated(model, contexts, numbers), np.full(len(numbers), np.nan))
    if decoding.temperature == 1 and decoding.top_k == 0 and decoding.top_p == 1:
        return lambda contexts, numbers: model.draw(model.order, contexts[-1], numbers)
    assert model.ranked is not None
    truncated = Truncated(model.ranked, decoding)
    return lambda contexts, numbers: truncated.draw(contexts[-1], numbers)


def _interpolated(model: NgramModel, contexts: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """One word for each text from the mixture of all orders: first the order, then the word."""
    assert model.weights is not None
    longest, buckets = model.longest(contexts)
    weights = model.weights[buckets]
    weights[:, 0] *= (model.size - 1) / model.size  # the uniform term without the unknown word
    limits = np.cumsum(weights, axis=1)
    at = uniforms * limits[:, -1]
    component = np.minimum((at[:, None] >= limits).sum(axis=1), longest)
    # Within its component, the same number is uniform again.
    everyone = np.arange(len(at))
    weight = weights[everyone, component]
    within = ((at - limits[everyone, component] + weight) / weight).clip(0, np.nextafter(1, 0))
    words = np.floor(within * (model.size - 1)).astype(np.int64)
    words += words >= UNKNOWN_ID
    for k in range(1, model.order + 1):
        chosen = component == k
        words[chosen] = model.draw(k, contexts[k - 1, chosen], within[chosen])[0]
    return words
