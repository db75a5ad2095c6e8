"""Decoding a batch with an autoregressive model of fairseq: one symbol a row and step, earlier ones from its caches."""

import copy
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from textcritic.errors import TextcriticError
from textcritic.generators.fairseq.models import FairseqModel
from textcritic.training.hardware import device

# The modules of fairseq's decoders whose outputs are the logits.
OUTPUT_LAYERS = ("output_projection", "fc_out", "fc3")


class Steps:
    """A batch of texts that grow by one symbol a step.

    Args:
        model: autoregressive, on its device, see `prepare`.
        sources: symbols of the texts to translate, end included, the longest first; None for a language model.
        rows: texts; with sources, as many.
        copies: rows for each text, one after the other.
    """

    def __init__(self, model: FairseqModel, sources: Sequence[np.ndarray] | None, rows: int, copies: int = 1) -> None:
        self.module, self.pad = model.module, model.dictionary.pad()
        self.state: dict[str, object] = {}
        self.encoder_out = None
        on = next(self.module.parameters()).device
        if sources is not None:
            self.encoder_out = self.module.encoder(*padded(sources, self.pad, on))
            if copies > 1:
                order = torch.arange(rows, device=on).repeat_interleave(copies)
                self.encoder_out = self.module.encoder.reorder_encoder_out(self.encoder_out, order)

    def log_probs(self, symbols: torch.Tensor) -> torch.Tensor:
        """Log probabilities of each row's next symbol, float32 [rows, symbols]; that of <pad> is -inf, as in fairseq.

        Args:
            symbols: all of each row so far, the beginning included [rows, step + 1]; only the last one is new.
        """
        output = self.module.decoder(symbols, encoder_out=self.encoder_out, incremental_state=self.state)
        last = output[0][:, -1:].float()
        log_probs: torch.Tensor = self.module.get_normalized_probs((last, None), log_probs=True, sample=None)[:, -1]
        log_probs[:, self.pad] = -torch.inf
        return log_probs

    def reorder(self, order: torch.Tensor) -> None:
        """From now on row i goes on from what row order[i] was; of several copies, only from one of the same text."""
        self.module.decoder.reorder_incremental_state_scripting(self.state, order)
        if self.encoder_out is not None:
            self.encoder_out = self.module.encoder.reorder_encoder_out(self.encoder_out, order)


def prepare(model: FairseqModel, precision: str, name: str) -> None:
    """Put a model on the GPU if there is one, ready for many steps and not for training.

    In "bf16", all of it but the output layer is rounded, so that logits stay fp32.

    Args:
        model: is changed.
        precision: "fp32" or "bf16".
        name: what to call the model in errors.

    Raises:
        TextcriticError: an autoregressive model that cannot be run symbol by symbol; in bf16, a model whose output
            layer is its table of embeddings and no layer of its own.
    """
    from fairseq.models import FairseqIncrementalDecoder
    from fairseq.modules.linearized_convolution import LinearizedConvolution

    module = model.module
    if model.autoregressive and not isinstance(module.decoder, FairseqIncrementalDecoder):
        raise TextcriticError(f"{name}: fairseq cannot run a {model.architecture} token by token; use another")
    for layer in module.modules():
        if hasattr(layer, "weight_g"):  # else the convolutions' weights are normalised at every step
            torch.nn.utils.remove_weight_norm(layer)
    if precision == "bf16":
        decoder = module.decoder
        output = next((key for key in (*OUTPUT_LAYERS, "adaptive_softmax") if getattr(decoder, key, None)), None)
        if output is None:
            raise TextcriticError(f"{name}: its output layer is its embeddings; it is sampled in `precision: fp32`")
        kept = copy.deepcopy(getattr(decoder, output))
        if output in OUTPUT_LAYERS:
            kept.register_forward_pre_hook(lambda layer, inputs: (inputs[0].float(),))
        module.to(torch.bfloat16)
        setattr(decoder, output, kept)
    module.to(device())
    with torch.no_grad():
        for layer in module.modules():
            if isinstance(layer, LinearizedConvolution):  # else it turns its weights into this form at every step
                layer._linearized_weight = layer._get_linearized_weight()


def batches(
    indices: Sequence[int], sources: Sequence[np.ndarray] | None, rows: int, draws: int = 1
) -> Iterator[tuple[list[int], list[np.ndarray] | None]]:
    """Texts to be made side by side, with their sources, the longest first; without sources, in their order.

    Args:
        indices: the numbers of the texts; text i translates source i, and after the last source comes the first again.
        sources: all sources, or None.
        rows: how many texts are in a batch.
        draws: how many draws each text has; draw j of text i is then a text of its own, with index i * draws + j.
    """

    def source(index: int) -> np.ndarray:
        assert sources is not None
        return sources[index // draws % len(sources)]

    order = [index * draws + number for index in indices for number in range(draws)]
    if sources is not None:
        order.sort(key=lambda index: (-len(source(index)), index))
    for first in range(0, len(order), rows):
        batch = order[first : first + rows]
        yield batch, None if sources is None else [source(index) for index in batch]


def padded(
    sources: Sequence[np.ndarray], pad: int, on: torch.device, left: bool = True
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sources as fairseq reads them, int64 [rows, longest], and their lengths [rows].

    Padding is on the left, which fairseq's LSTM encoders need and all others accept, or on the right.
    """
    tokens = np.full((len(sources), max(map(len, sources))), pad, np.int64)
    for row, source in enumerate(sources):
        tokens[row, slice(-len(source), None) if left else slice(len(source))] = source
    lengths = torch.tensor([len(source) for source in sources])
    return torch.from_numpy(tokens).to(on), lengths.to(on)
