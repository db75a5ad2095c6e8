"""Texts of fairseq's non-autoregressive models, which make all symbols of a text at once (Gu et al. 2018)."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from textcritic.generators.drawing import draw
from textcritic.generators.fairseq.models import FairseqModel
from textcritic.generators.fairseq.steps import batches, padded
from textcritic.generators.uniforms import Uniforms
from textcritic.plan.entries import Decoding

SHORTEST = 2  # the beginning and the end, as fairseq has it
OFFSET = 128  # fairseq's class for a text as long as its source, where the model predicts the difference


def draw_at_once(
    model: FairseqModel, sources: Sequence[np.ndarray], indices: Sequence[int], decoding: Decoding, seed: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Draw texts: the length from P(L | x), then each symbol independently from its distribution given x and L.

    The places of the beginning and the end are given, as the model reads them there. Temperature, top-k and top-p apply
    to symbols, not to the length. The first number of a text's stream draws its length, the next ones its symbols from
    left to right.

    Args:
        model: non-autoregressive, on its device.
        sources: symbols of the texts to translate, beginning and end included.
        indices: of the texts, see `steps.batches`.
        decoding: the scheme.
        seed: see `shards.Shard`.

    Yields:
        Index of a text and its symbols [L], with beginning and end.
    """
    for batch, given in batches(indices, sources, decoding.batch_size):
        assert given is not None
        uniforms = Uniforms.of(seed, batch)
        with torch.inference_mode():
            drawn = _draw(model, given, decoding, uniforms)
        yield from zip(batch, drawn, strict=True)


def likeliest_at_once(
    model: FairseqModel, sources: Sequence[np.ndarray], indices: Sequence[int], decoding: Decoding
) -> Iterator[tuple[int, np.ndarray]]:
    """The likeliest length, then the likeliest symbols, refined in `decoding.iterations` more passes.

    What a pass does depends on the architecture. An iterative_nonautoregressive_transformer reads its own output (Lee
    et al. 2018). A cmlm_transformer predicts its least likely symbols again, fewer in each pass (mask-predict,
    Ghazvininejad et al. 2019). All passes are made, also where nothing changes any more.

    Args:
        model: see `draw_at_once`.
        sources: see `draw_at_once`.
        indices: see `draw_at_once`.
        decoding: the scheme.

    Yields:
        Index of a text and its symbols, in the places of its beginning and its end too.
    """
    pad = model.dictionary.pad()
    for batch, given in batches(indices, sources, decoding.batch_size):
        assert given is not None
        with torch.inference_mode():
            symbols = _refined(model, given, decoding.iterations + 1).cpu().numpy()
        for index, row in zip(batch, symbols, strict=True):
            yield index, row[row != pad]


def log_length(model: FairseqModel, encoder_out: dict[str, list[torch.Tensor]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Log probabilities of the model's classes of length [rows, classes], and the length of each, int64 of that shape.

    Several classes have the same length where it would be below 2.
    """
    decoder = model.module.decoder
    log_probs: torch.Tensor = decoder.forward_length(normalize=True, encoder_out=encoder_out).float()
    lengths = torch.arange(log_probs.shape[1], device=log_probs.device).expand(log_probs.shape)
    if decoder.pred_length_offset:
        mask = encoder_out["encoder_padding_mask"][0]  # [rows, longest source]
        lengths = lengths - OFFSET + (~mask).sum(dim=1, keepdim=True)
    return log_probs, lengths.clamp(SHORTEST, int(decoder.max_positions()))


def _draw(
    model: FairseqModel, sources: Sequence[np.ndarray], decoding: Decoding, uniforms: Uniforms
) -> list[np.ndarray]:
    module, symbols = model.module, model.dictionary
    on = next(module.parameters()).device
    everyone = np.arange(len(sources))
    encoder_out = module.encoder(*_padded(sources, symbols.pad(), on))
    log_probs, of_class = log_length(model, encoder_out)
    classes = draw(log_probs, uniforms.next(everyone), Decoding()).to(on)
    lengths = of_class.gather(1, classes[:, None])
    places = torch.arange(int(lengths.max()), device=on)
    masked = torch.full((len(sources), len(places)), symbols.unk(), device=on)
    masked[:, 0] = symbols.bos()
    masked = masked.masked_fill(places == lengths - 1, symbols.eos()).masked_fill(places >= lengths, symbols.pad())
    log_probs = module.decoder(normalize=True, prev_output_tokens=masked, encoder_out=encoder_out, step=0).float()
    log_probs[:, :, symbols.pad()] = -torch.inf
    length = lengths[:, 0].cpu().numpy()
    drawn = masked.cpu().numpy()
    # What is drawn beyond the limit is cut off.
    for place in range(1, min(length.max() - 1, decoding.max_tokens + 1)):
        rows = np.flatnonzero(length > place + 1)
        drawn[rows, place] = draw(log_probs[torch.from_numpy(rows).to(on), place], uniforms.next(rows), decoding)
    return [row[:until] for row, until in zip(drawn, length, strict=True)]


def _refined(model: FairseqModel, sources: Sequence[np.ndarray], passes: int) -> torch.Tensor:
    """The symbols after `passes` passes [rows, longest]."""
    module = model.module
    tokens, lengths = _padded(sources, model.dictionary.pad(), next(module.parameters()).device)
    encoder_out = module.forward_encoder([tokens, lengths])
    output = module.initialize_output_tokens(encoder_out, tokens)
    # Scores begin in the encoder's precision; those of the output layer, which is not rounded, are put among them.
    output = output._replace(output_scores=output.output_scores.float())
    for step in range(passes):
        output = module.forward_decoder(
            output._replace(step=step, max_step=passes), encoder_out, eos_penalty=0.0, max_ratio=None
        )
    symbols: torch.Tensor = output.output_tokens
    return symbols


def _padded(sources: Sequence[np.ndarray], pad: int, on: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    # Where embeddings of the source are copied, fairseq counts its places from the left: there must be no padding.
    return padded(sources, pad, on, left=False)
