"""How likely a model of fairseq finds texts: exact, per token, and perplexity.json of its test split."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.generators.fairseq.at_once import log_length
from textcritic.generators.fairseq.data import Batch, Batches, iter_kinds, load_examples, to_device
from textcritic.generators.fairseq.models import FairseqModel, load_model
from textcritic.generators.summary import summarise
from textcritic.training.hardware import autocast, cpu_settings, device
from textcritic.values import JsonObject

DESCRIPTIONS = {
    "translation": "each translation by itself, a token from the whole source and the tokens before it; the end is "
    "predicted too",
    "at once": "each translation by itself and in one pass: its length from the whole source, which counts in place of "
    "the end, and each token from the source and that length",
    "text": "each article by itself, a token from those before it; the end is predicted too",
}


def measure_fairseq(
    model_dir: str | os.PathLike[str],
    test_path: str | os.PathLike[str],
    out_path: str | os.PathLike[str],
    max_tokens: int,
    threads: int | None = None,
    seed: int = 0,
) -> JsonObject:
    """Measure a saved model on a test split and write perplexity.json.

    Args:
        model_dir: model folder.
        test_path: see `data.load_examples`; texts that are too long for the model are left out, and counted in
            `windows`.
        out_path: JSON file to write, see `summary.summarise`; a document is a sentence with its translations.
        max_tokens: of a forward pass, padding included; one text may have more.
        threads: CPU threads of torch; None leaves torch's own number.
        seed: of the bootstrap.

    Returns:
        what was written.

    Raises:
        TextcriticError: a fault of the model or of the split.
    """
    with cpu_settings(threads):
        model = load_model(model_dir)
        examples = load_examples(test_path, model)
        model.module.to(device())
        batches = Batches(model, examples, max(max_tokens, longest_text(model)))
        rows: list[int] = []
        parts: list[np.ndarray] = []
        for batch in batches.in_order():
            for row, nll in iter_nll(model, batches.collate(batch), autocast(device(), "fp32")):
                rows.append(row)
                parts.append(nll)
    nll = np.concatenate(parts)
    if np.isnan(nll).any():
        raise TextcriticError(f"{model_dir}: the model's probabilities are not numbers; train it again, more slowly")
    kinds = np.concatenate(list(iter_kinds(examples, np.array(rows))))
    documents = np.repeat(examples.group[rows], [len(part) for part in parts])
    summary = summarise(nll, kinds, documents, described(model, examples.left_out), seed)
    write_json(out_path, summary)
    return summary


def described(model: FairseqModel, left_out: int) -> str:
    """In words, what each token is predicted from."""
    kind = "text" if not model.translates else "translation" if model.autoregressive else "at once"
    omitted = f"; {left_out:,} texts are left out, too long for the model" if left_out else ""
    return DESCRIPTIONS[kind] + omitted


def longest_text(model: FairseqModel) -> int:
    """Tokens of the longest text that the model takes, with the symbols at its ends."""
    return max(model.longest_source, model.longest_target) + 2


@torch.no_grad()  # not inference_mode: fairseq keeps the masks that it makes, and training goes on with them
def iter_nll(model: FairseqModel, batch: Batch, precision: torch.autocast) -> Iterator[tuple[int, np.ndarray]]:
    """Stream (example, nats float64 [tokens + 1]) of a batch: of each token and of the end, or the length.

    The model is left in evaluation mode. Of a non-autoregressive model it is log P(length | source) + sum over tokens
    of log P(token | source, length), of its first pass, which reads no token; the length comes last, in place of the
    end. <s> and </s>, which it is given, do not count.
    """
    model.module.eval()
    on = next(model.module.parameters()).device
    batch = to_device(batch, on)
    with precision:
        nll, counted = _of_tokens(model, batch) if model.autoregressive else _at_once(model, batch)
    values, keep = nll.double().cpu().numpy(), counted.cpu().numpy()
    for row, example in enumerate(batch["id"].tolist()):
        yield example, values[row][keep[row]]


def _of_tokens(model: FairseqModel, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Nats [rows, columns] of an autoregressive model, and which of them count."""
    target = batch["target"]
    output = model.module(**batch["net_input"])
    if model.adaptive:
        nll = adaptive_nll(model.module.decoder.adaptive_softmax, output[0], target)
    else:
        nll = cross_entropy(output[0].float().flatten(0, 1), target.flatten(), reduction="none")
    return nll.view(target.shape), target != model.dictionary.pad()


def adaptive_nll(softmax: Any, features: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Nats [tokens] of an adaptive softmax (Grave et al. 2017): of the head, and of its cluster for a rare token."""
    _, clusters = softmax.adapt_target(target)
    logits, targets = softmax(features, target)
    nll = cross_entropy(logits[0].float(), targets[0], reduction="none")
    for cluster, scores, within in zip(clusters, logits[1:], targets[1:], strict=True):
        if cluster is not None:
            nll[cluster] += cross_entropy(scores.float(), within, reduction="none")
    return nll


def _at_once(model: FairseqModel, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Nats [rows, columns] of a non-autoregressive model, and which of them count; those of the length are at </s>."""
    target, given, decoder = batch["target"], batch["net_input"], model.module.decoder
    encoded = model.module.encoder(given["src_tokens"], src_lengths=given["src_lengths"])
    scores = decoder(normalize=False, prev_output_tokens=masked(model, target), encoder_out=encoded)
    nll = cross_entropy(scores.float().flatten(0, 1), target.flatten(), reduction="none").view(target.shape)
    end = target == model.dictionary.eos()
    log_probs, lengths = log_length(model, encoded)
    true = (target != model.dictionary.pad()).sum(dim=1, keepdim=True)
    nll[end] = -log_probs.masked_fill(lengths != true, -torch.inf).logsumexp(dim=1)
    return nll, (target != model.dictionary.pad()) & (target != model.dictionary.bos())


def masked(model: FairseqModel, target: torch.Tensor) -> torch.Tensor:
    """A target with nothing but its length known: all tokens are <unk>, as in fairseq's `full_mask`."""
    symbols = model.dictionary
    ends = (target == symbols.bos()) | (target == symbols.eos()) | (target == symbols.pad())
    return target.masked_fill(~ends, symbols.unk())
