"""Perplexity of a generator on held-out text, per token of its encoding, with a document-bootstrap interval."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from textcritic.corpora import BODY
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.generators.cpu import prepare_cpu
from textcritic.generators.encode import AS_RELEASED, SINGLE, document_index, load_encoded
from textcritic.generators.load import autocast, device, load_causal, load_tokenizer
from textcritic.inference import bootstrap_interval, exp_ratio_of_sums

DESCRIPTIONS = {
    SINGLE: "non-overlapping windows of {context} tokens, the last one shorter; every token but the first is predicted",
    AS_RELEASED: "non-overlapping blocks of {context} tokens, the first token of each is not predicted, and the last, "
    "partial block is dropped",
}


def perplexity(
    model_dir: str | os.PathLike[str],
    test_prefix: str | os.PathLike[str],
    context: int,
    out_path: str | os.PathLike[str],
    boundary: str = SINGLE,
    batch_size: int = 8,
    precision: str = "auto",
    threads: int | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Measure a saved model on an encoded split and write perplexity.json.

    Windows do not overlap, so a token is predicted from at most `context` tokens before it (paper, section 4: blocks of
    the model's length). `as_released` follows the released code's blocks: no prediction of a block's first token, and
    the partial last block dropped.

    Args:
        model_dir: model folder with its tokenizer.
        test_prefix: encoded split.
        context: window length in tokens; the training's.
        out_path: JSON file to write, see `summarise`.
        boundary: `single` or `as_released`: which windows.
        batch_size: windows in a forward pass.
        precision: see `load.autocast`.
        threads: CPU threads of torch; None leaves torch's own number.
        seed: of the bootstrap.

    Returns:
        what was written.

    Raises:
        TextcriticError: the model or the encoded split is missing, truncated, or they do not belong together.
    """
    prepare_cpu(threads)
    tokenizer = load_tokenizer(model_dir)
    model: Any = load_causal({"folder": str(model_dir)}, tokenizer, context=context)
    model.to(device())
    tokens, kinds = load_encoded(test_prefix)
    if tokens.max() >= len(tokenizer):
        raise TextcriticError(f"{Path(test_prefix)}.tokens.npy: was not encoded with the tokenizer of {model_dir}")
    spans = windows(len(tokens), context, boundary)
    parts = list(iter_nll(model, tokens, spans, batch_size, autocast(device(), precision)))
    if not parts:
        raise TextcriticError(f"{Path(test_prefix)}.tokens.npy: {len(tokens)} tokens are too few to predict any")
    predicted = np.concatenate([positions for positions, _ in parts])
    documents = document_index(np.asarray(tokens), np.asarray(kinds), tokenizer.eos_token_id)[predicted]
    nll = np.concatenate([part for _, part in parts])
    if np.isnan(nll).any():
        raise TextcriticError(f"{model_dir}: the model's probabilities are not numbers; train it again, more slowly")
    summary = summarise(nll, kinds[predicted], documents, DESCRIPTIONS[boundary].format(context=context), seed)
    write_json(out_path, summary)
    return summary


def summarise(nll: np.ndarray, kinds: np.ndarray, documents: np.ndarray, windows: str, seed: int = 0) -> dict[str, Any]:
    """Perplexity over all predicted tokens and over body tokens only, as perplexity.json holds it.

    Args:
        nll: nats of each predicted token [tokens]; infinite where the model gives the token no probability.
        kinds: kind of each [tokens]: 0 boundary, 1 title, 2 body.
        documents: article number of each [tokens].
        windows: in words, what each token was predicted from.
        seed: of the bootstrap over articles.

    Returns:
        `{"all", "body", "documents", "zero_probability_tokens", "windows"}`; the first two hold `ppl` = exp(nll /
        tokens), `nll` (total, nats), `tokens` and `ci95` (95% percentile interval of ppl). Infinite values are None.
    """
    _, documents = np.unique(documents, return_inverse=True)
    count = int(documents.max()) + 1
    return {
        "all": _part(nll, documents, count, seed),
        "body": _part(nll[kinds == BODY], documents[kinds == BODY], count, seed),
        "documents": count,
        "zero_probability_tokens": int(np.isinf(nll).sum()),
        "windows": windows,
    }


def windows(tokens: int, context: int, boundary: str = SINGLE) -> np.ndarray:
    """First input position and number of inputs of each window of a stream, int64 [windows, 2]; see `perplexity`."""
    if boundary == AS_RELEASED:
        starts = np.arange(0, tokens - context + 1, context)
        return np.stack([starts, np.full_like(starts, context - 1)], axis=1)
    starts = np.arange(0, tokens - 1, context)
    return np.stack([starts, np.minimum(context, tokens - 1 - starts)], axis=1)


@torch.inference_mode()
def iter_nll(
    model: Any, tokens: np.ndarray, spans: np.ndarray, batch_size: int, precision: torch.autocast
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Stream (positions int64, nats float64) of the predicted tokens, batch by batch; the model is left in eval mode.

    Args:
        model: a causal language model on its device.
        tokens: the stream [tokens].
        spans: windows, see `windows`.
        batch_size: windows in a forward pass.
        precision: see `load.autocast`.
    """
    model.eval()
    cuts = np.flatnonzero(np.diff(spans[:, 1])) + 1  # a batch has windows of one length
    for group in np.split(spans, cuts):
        for first in range(0, len(group), batch_size):
            starts, length = group[first : first + batch_size, 0], group[first, 1]
            positions = starts[:, None] + np.arange(length + 1)
            ids = torch.from_numpy(tokens[positions].astype(np.int64)).to(model.device)
            with precision:
                logits = model(input_ids=ids[:, :-1], use_cache=False).logits
            nll = cross_entropy(logits.float().flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
            yield positions[:, 1:].ravel(), nll.double().cpu().numpy()


def _part(nll: np.ndarray, documents: np.ndarray, count: int, seed: int) -> dict[str, Any]:
    if not len(nll) or np.isinf(nll).any():
        return {"ppl": None, "nll": None if len(nll) else 0.0, "tokens": len(nll), "ci95": [None, None]}
    columns = np.stack([np.bincount(documents, nll, count), np.bincount(documents, minlength=count)], axis=1)
    total = float(nll.sum())
    interval = bootstrap_interval(columns, exp_ratio_of_sums, resamples=1000, level=0.95, seed=seed)
    return {
        "ppl": float(np.exp(total / len(nll))),
        "nll": total,
        "tokens": len(nll),
        "ci95": [interval.low, interval.high],
    }
