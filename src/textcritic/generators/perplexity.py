"""Perplexity of a generator on held-out text, per token of its encoding, with a document-bootstrap interval."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.generators.encode import DESCRIPTIONS, PACKED, document_index, load_encoded, windows
from textcritic.generators.summary import summarise
from textcritic.training.hardware import autocast, cpu_settings, device
from textcritic.training.load import load_causal, load_tokenizer
from textcritic.values import JsonObject


@dataclass(frozen=True)
class Windowing:
    """The windows of text in which perplexity is measured, and how.

    Attributes:
        context: length in tokens; the training's.
        kind: `packed`, `articles` or `as_released`, see `encode.DESCRIPTIONS`.
        batch_size: windows in a forward pass.
        float32_matmul_precision: the training's, see `hardware.cpu_settings`.
    """

    context: int
    kind: str = PACKED
    batch_size: int = 8
    float32_matmul_precision: str = "highest"


def perplexity(
    model_dir: str | os.PathLike[str],
    test_prefix: str | os.PathLike[str],
    windowing: Windowing,
    out_path: str | os.PathLike[str],
    threads: int | None = None,
    seed: int = 0,
) -> JsonObject:
    """Measure a saved model on an encoded split and write perplexity.json.

    Windows are cut as training blocks are, so a token is predicted from at most `context` tokens before it (paper,
    section 4: blocks of the model's length); the file says which tokens these are.

    Args:
        model_dir: model folder with its tokenizer.
        test_prefix: encoded split.
        windowing: the windows.
        out_path: JSON file to write, see `summarise`.
        threads: CPU threads of torch; None leaves torch's own number.
        seed: of the bootstrap.

    Returns:
        what was written.

    Raises:
        TextcriticError: the model or the encoded split is missing, truncated, or they do not belong together.
    """
    with cpu_settings(threads, windowing.float32_matmul_precision):
        nll, kinds, documents = _measure(model_dir, test_prefix, windowing)
    if np.isnan(nll).any():
        raise TextcriticError(f"{model_dir}: the model's probabilities are not numbers; train it again, more slowly")
    described = DESCRIPTIONS[windowing.kind].format(context=windowing.context)
    summary = summarise(nll, kinds, documents, described, seed)
    write_json(out_path, summary)
    return summary


@torch.inference_mode()
def iter_nll(
    model: torch.nn.Module, tokens: np.ndarray, spans: np.ndarray, batch_size: int, precision: torch.autocast
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Stream (positions int64, nats float64) of the predicted tokens, batch by batch; the model is left in eval mode.

    Args:
        model: a causal language model on its device.
        tokens: the stream [tokens].
        spans: windows, see `encode.windows`.
        batch_size: windows in a forward pass.
        precision: see `hardware.autocast`.
    """
    model.eval()
    on = next(model.parameters()).device
    cuts = np.flatnonzero(np.diff(spans[:, 1])) + 1  # a batch has windows of one length
    for group in np.split(spans, cuts):
        for first in range(0, len(group), batch_size):
            starts, length = group[first : first + batch_size, 0], group[first, 1]
            positions = starts[:, None] + np.arange(length + 1)
            ids = torch.from_numpy(tokens[positions].astype(np.int64)).to(on)
            with precision:
                logits = model(input_ids=ids[:, :-1], use_cache=False).logits
            nll = cross_entropy(logits.float().flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
            counted = np.arange(length) < group[first : first + batch_size, 2, None]
            yield positions[:, 1:][counted], nll.double().cpu().numpy()[counted.ravel()]


def _measure(
    model_dir: str | os.PathLike[str], test_prefix: str | os.PathLike[str], windowing: Windowing
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nats, kind and article of each predicted token."""
    tokenizer = load_tokenizer(model_dir)
    model: torch.nn.Module = load_causal({"folder": str(model_dir)}, tokenizer, context=windowing.context)
    model.to(device())
    tokens, kinds = load_encoded(test_prefix)
    if tokens.max() >= len(tokenizer):
        raise TextcriticError(f"{Path(test_prefix)}.tokens.npy: was not encoded with the tokenizer of {model_dir}")
    spans = windows(tokens, kinds, tokenizer.eos_token_id, windowing.context, windowing.kind)
    parts = list(iter_nll(model, tokens, spans, windowing.batch_size, autocast(device(), "fp32")))
    if not parts:
        raise TextcriticError(f"{Path(test_prefix)}.tokens.npy: {len(tokens)} tokens are too few to predict any")
    predicted = np.concatenate([positions for positions, _ in parts])
    documents = document_index(np.asarray(tokens), np.asarray(kinds), tokenizer.eos_token_id)[predicted]
    return np.concatenate([part for _, part in parts]), kinds[predicted], documents
