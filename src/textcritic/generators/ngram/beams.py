"""Beam sampling for n-gram models, many texts side by side."""

from collections.abc import Sequence

import numpy as np

from textcritic.generators.beams import Beams
from textcritic.generators.decoding import Decoding, Uniforms
from textcritic.generators.ngram.model import NgramModel
from textcritic.generators.ngram.words import END_ID


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
