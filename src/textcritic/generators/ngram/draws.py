"""Drawing texts from an n-gram model, many side by side; text i depends on (seed, i) and on nothing else."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from textcritic.errors import TextcriticError
from textcritic.generators.beams import Beams
from textcritic.generators.ngram.model import NgramModel
from textcritic.generators.ngram.ranks import Truncated
from textcritic.generators.ngram.words import END_ID, UNKNOWN_ID
from textcritic.generators.shards import CUT, ENDED
from textcritic.generators.uniforms import Uniforms
from textcritic.plan.checks.decodings import BEAM_SAMPLING, BEST_OF, DRAW
from textcritic.plan.entries import Decoding

TEXTS_AT_ONCE = 4096
Drawn = tuple[int, np.ndarray, str]
# Draws one word for each text: from contexts [order, texts], see `NgramModel.shift`, and numbers in [0, 1) [texts],
# words and their log-probabilities.
Draw = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def draw_texts(model: NgramModel, decoding: Decoding, seed: int, indices: Sequence[int]) -> Iterator[Drawn]:
    """Draw texts, yielding (index, ids with the end, "end" or "length").

    Truncation is that of `drawing.truncate`, beam sampling that of `generators.beams`, and the best of several draws
    that of `generators.best_of`.

    Args:
        model: the model.
        decoding: the scheme; a text has at most `max_tokens` tokens. Every other key that changes what is drawn
            is for maximum likelihood alone.
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
    copies = decoding.beam if decoding.method == BEST_OF else 1
    at_once = max(TEXTS_AT_ONCE // decoding.beam, 1)
    draw = _drawer(model, decoding)
    for start in range(0, len(indices), at_once):
        block = indices[start : start + at_once]
        if decoding.method == BEAM_SAMPLING:
            texts = beam_sampled(model, decoding, seed, block)
        else:
            draws = [copies * index + number for index in block for number in range(copies)]
            texts, scores = _drawn(model, draw, Uniforms.of(seed, draws), decoding.max_tokens)
            best = np.argmax(scores.reshape(-1, copies), axis=1) + np.arange(len(block)) * copies
            texts = [texts[number] for number in best]
        for index, ids in zip(block, texts, strict=True):
            yield index, ids, ENDED if ids[-1] == END_ID else CUT


def _drawn(model: NgramModel, draw: Draw, uniforms: Uniforms, max_tokens: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Ids of the texts whose numbers are given, word by word, and the mean log-probability of the words of each."""
    number = len(uniforms)
    active = np.arange(number)
    contexts = np.repeat(model.begin()[:, None], number, axis=1)
    score = np.zeros(number)
    rows, drawn = [], []
    for _ in range(max_tokens):
        words, log_probs = draw(contexts, uniforms.next(active))
        rows.append(active)
        drawn.append(words)
        score[active] += log_probs
        going_on = words != END_ID
        active = active[going_on]
        if not len(active):
            break
        contexts = model.shift(contexts[:, going_on], words[going_on])
    row = np.concatenate(rows)
    lengths = np.bincount(row, minlength=number)
    texts = np.split(np.concatenate(drawn)[np.argsort(row, kind="stable")], np.cumsum(lengths)[:-1])
    return texts, score / lengths


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


def beam_sampled(model: NgramModel, decoding: Decoding, seed: int, indices: Sequence[int]) -> list[np.ndarray]:
    """Ids of texts that are drawn by beam sampling, see `generators.beams`.

    Args:
        model: of maximum likelihood.
        decoding: its `beam` k and its `max_tokens`.
        seed: of the sample.
        indices: of the texts.
    """
    k = decoding.beam
    uniforms = Uniforms.of(seed, indices)
    beams = Beams(len(indices), k, END_ID, decoding.max_tokens)
    texts = np.arange(len(indices))  # that are not done [n]
    contexts = np.repeat(model.begin()[:, None], len(indices), axis=1)  # of the hypotheses that go on
    while len(texts):
        alive = beams.alive[texts]
        row = np.zeros(alive.shape, np.int64)
        row[alive] = np.arange(alive.sum())
        numbers = beams.numbers(uniforms, texts)
        words, log_probs = model.draw(model.order, contexts[-1].repeat(k), numbers.ravel())
        origin = beams.extend(texts, words.reshape(-1, k), log_probs.reshape(-1, k))
        left = ~beams.done()[texts]
        origin, texts = np.take_along_axis(row, origin, axis=1)[left], texts[left]
        alive = beams.alive[texts]
        contexts = model.shift(contexts[:, origin[alive]], beams.symbols[texts][alive])
    return [np.array(beams.text(text)) for text in range(len(indices))]
