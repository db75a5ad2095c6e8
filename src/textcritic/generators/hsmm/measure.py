"""Perplexity of a hidden semi-Markov language model on held-out sequences, exactly."""

import os
from pathlib import Path

import numpy as np

from textcritic.corpora import BODY, BOUNDARY
from textcritic.files import write_json
from textcritic.generators.hsmm.model import HSMM
from textcritic.generators.hsmm.recursion import log_marginal
from textcritic.generators.hsmm.text import Text, exact_lattices
from textcritic.generators.summary import summarise
from textcritic.runlog import Progress
from textcritic.training.hardware import cpu_settings, device
from textcritic.training.load import load_tokenizer
from textcritic.values import JsonObject

WINDOWS = "whole sequences, over all segmentations and states"


def measure_hsmm(
    model_dir: str | os.PathLike[str],
    test_prefix: str | os.PathLike[str],
    out_path: str | os.PathLike[str],
    threads: int | None = None,
    seed: int = 0,
) -> JsonObject:
    """Measure a saved model on an encoded split and write perplexity.json, see `generators.summary.summarise`.

    "body" is the published perplexity: exp(-sum log p(x) / tokens), where the end of a sequence is not predicted. In
    "all" the end is one more token, with the probability that the model gives it.

    Args:
        model_dir: model folder with its tokenizer.
        test_prefix: token stream of the split, see `generators.symbols`.
        out_path: JSON file to write.
        threads: CPU threads of torch; None leaves torch's own number.
        seed: of the bootstrap.

    Raises:
        TextcriticError: the model or the encoded split is missing, truncated, or they do not belong together.
    """
    with cpu_settings(threads):
        end = load_tokenizer(model_dir).eos_token_id
        text = Text.read(test_prefix, end)
        model = HSMM.load(Path(model_dir)).to(device())
        inner, whole = [], []
        progress = Progress(f"perplexity of {os.fspath(model_dir)}", len(text), "sequences")
        for lattice in exact_lattices(text, model.lexicon, model.states, device()):
            moved = lattice.to(model.initial.device)
            inner.append(log_marginal(model, moved).cpu().numpy())
            whole.append(log_marginal(model, moved, end=True).cpu().numpy())
            progress.advance(len(lattice.tokens))
    summary = summarise(*_per_token(np.concatenate(inner), np.concatenate(whole), np.diff(text.offsets)), WINDOWS, seed)
    write_json(out_path, summary)
    return summary


def _per_token(inner: np.ndarray, whole: np.ndarray, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nats, kinds and sequences of tokens: a sequence's nats are shared evenly by its tokens, as only sums count."""
    ends = np.subtract(inner, whole, out=np.full_like(inner, np.inf), where=np.isfinite(inner))
    nll = np.concatenate([np.repeat(-inner / tokens, tokens), ends])
    kinds = np.repeat([BODY, BOUNDARY], [tokens.sum(), len(tokens)])
    sequence = np.arange(len(tokens))
    return nll, kinds, np.concatenate([np.repeat(sequence, tokens), sequence])
