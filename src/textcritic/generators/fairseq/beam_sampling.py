"""Beam sampling from an autoregressive model of fairseq; `generators.beams` says what it is."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from textcritic.generators.beams import Beams
from textcritic.generators.decoding import Decoding, Uniforms
from textcritic.generators.drawing import draw_scored
from textcritic.generators.fairseq.models import FairseqModel
from textcritic.generators.fairseq.steps import Steps, batches


def sample_beams(
    model: FairseqModel,
    sources: Sequence[np.ndarray] | None,
    indices: Sequence[int],
    decoding: Decoding,
    seed: int,
) -> Iterator[tuple[int, list[int], bool]]:
    """Draw texts by beam sampling, yielding (index, symbols, whether it ended) as each is finished.

    Only living hypotheses are rows of the batch, and none of them is a copy of another.

    Args:
        model: autoregressive, on its device.
        sources: symbols of the texts to translate, end included; None for a language model.
        indices: of the texts, see `steps.batches`.
        decoding: k is its `beam`; `max_tokens` and `batch_size` as elsewhere.
        seed: see `shards.Shard`; each step takes k * k numbers of a text's stream.
    """
    for batch, given in batches(indices, sources, decoding.batch_size):
        yield from _sample_batch(model, given, batch, decoding, seed)


def _sample_batch(
    model: FairseqModel,
    sources: Sequence[np.ndarray] | None,
    batch: Sequence[int],
    decoding: Decoding,
    seed: int,
) -> Iterator[tuple[int, list[int], bool]]:
    on = next(model.module.parameters()).device
    beams = Beams(len(batch), decoding.beam, model.dictionary.eos(), decoding.max_tokens)
    uniforms, index = Uniforms.of(seed, batch), np.array(batch)
    # Not around the yield: the caller's code does not run in inference mode.
    with torch.inference_mode():
        steps = Steps(model, sources, len(batch))
    while len(index):
        text, rank = np.nonzero(beams.alive)
        # The models read the last symbol alone, the rest from their caches, and count how many there are.
        symbols = torch.full((len(text), int(beams.length[0]) + 1), beams.end)
        symbols[:, -1] = torch.from_numpy(beams.symbols[text, rank])
        every = np.arange(len(index))
        with torch.inference_mode():
            log_probs = steps.log_probs(symbols.to(on))
            drawn, scores = draw_scored(log_probs, beams.numbers(uniforms, every))
        row = np.zeros(beams.alive.shape, np.int64)
        row[text, rank] = np.arange(len(text))
        origin = row[every[:, None], beams.extend(every, drawn.numpy(), scores.numpy())]
        done = beams.done()
        for place in np.flatnonzero(done).tolist():
            yield int(index[place]), beams.text(place), bool(beams.ended()[place])
        if done.any():
            left = np.flatnonzero(~done)
            beams.keep(left)
            uniforms.keep(left)
            index, origin = index[left], origin[left]
        order = origin[beams.alive]
        if len(order) and not np.array_equal(order, np.arange(len(text))):
            with torch.inference_mode():
                steps.reorder(torch.from_numpy(order).to(on))
