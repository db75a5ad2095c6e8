"""Articles as points: the last hidden state of a language model at the last token of each text.

These are the features of MAUVE (Pillutla et al. 2021), whose authors take those of GPT-2 large.
"""

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from textcritic.corpora import iter_articles, render
from textcritic.corpora.layout import WO_TITLE
from textcritic.errors import TextcriticError
from textcritic.files import write_arrays
from textcritic.plan.entries.classifiers import Embedder
from textcritic.runlog import Progress
from textcritic.training.hardware import autocast, cpu_settings, device
from textcritic.training.load import load_causal, load_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

TOKENIZED = 256


def embed_articles(
    articles: str | os.PathLike[str],
    model_dir: str | os.PathLike[str],
    out_path: str | os.PathLike[str],
    options: Embedder,
    threads: int | None = None,
) -> None:
    """Write the features of each article as .npz: `ids` [N], `features` float32 [N, d], `tokens` [N], `groups` [N].

    A text is that of the sections, without titles, a blank line between them, and without special tokens. Rows are in
    the order of the ids, as the value of MAUVE depends on the order. An article without any token is left out.

    Args:
        articles: Parquet file of a corpus or a sample.
        model_dir: folder of a causal language model, with its tokenizer.
        out_path: file to write.
        options: how; `fp32` or not, features are float32.
        threads: CPU threads of torch; None leaves torch's own number.

    Raises:
        TextcriticError: a fault of the files or the model; two articles have one id.
    """
    tokenizer = load_tokenizer(model_dir)
    model: Any = load_causal({"folder": str(model_dir)}, tokenizer)
    model.to(device())
    positions = getattr(model.config, "max_position_embeddings", None) or options.max_tokens
    longest = min(options.max_tokens, positions)
    read = sorted(((a.id, a.group or "", render(a, WO_TITLE)) for a in iter_articles(articles)), key=lambda a: a[0])
    twice = next((one[0] for one, two in pairwise(read) if one[0] == two[0]), None)
    if twice is not None:
        raise TextcriticError(f"{articles}: two articles have the id {twice!r}; give each its own id")
    tokens = _tokens([text for *_, text in read], tokenizer, longest)
    kept = [n for n, ids in enumerate(tokens) if ids]
    with cpu_settings(threads, options.float32_matmul_precision):
        vectors = last_states(model, [tokens[n] for n in kept], options)
    write_arrays(
        out_path,
        {
            "ids": np.array([read[n][0] for n in kept], dtype=np.str_),
            "features": vectors,
            "tokens": np.array([len(tokens[n]) for n in kept], dtype=np.int32),
            "groups": np.array([read[n][1] for n in kept], dtype=np.str_),
        },
    )


@torch.inference_mode()
def last_states(model: Any, tokens: Sequence[Sequence[int]], options: Embedder) -> npt.NDArray[np.float32]:
    """The last layer's hidden state at the last token of each text: float32 [texts, d].

    Args:
        model: a causal language model on its device; later tokens do not change the state of an earlier one.
        tokens: of each text, one at least.
        options: see `embed_articles`.
    """
    vectors = np.zeros((len(tokens), model.config.hidden_size), dtype=np.float32)
    order = sorted(range(len(tokens)), key=lambda n: len(tokens[n]))
    progress = Progress("embedding texts", len(tokens), "texts")
    for first in range(0, len(order), options.batch_size):
        batch = order[first : first + options.batch_size]
        lengths = torch.tensor([len(tokens[n]) for n in batch])
        ids = torch.zeros((len(batch), int(lengths.max())), dtype=torch.long)
        for row, n in enumerate(batch):
            ids[row, : len(tokens[n])] = torch.tensor(tokens[n])
        with autocast(model.device, options.precision):
            states = model.base_model(input_ids=ids.to(model.device), use_cache=False).last_hidden_state
        vectors[batch] = states[torch.arange(len(batch)), lengths - 1].float().cpu().numpy()
        progress.advance(len(batch))
    return vectors


def _tokens(texts: list[str], tokenizer: "PreTrainedTokenizerFast", longest: int) -> list[list[int]]:
    ids: list[list[int]] = []
    for first in range(0, len(texts), TOKENIZED):
        encoded = tokenizer(
            texts[first : first + TOKENIZED],
            add_special_tokens=False,
            split_special_tokens=True,
            truncation=True,
            max_length=longest,
            return_attention_mask=False,
        )
        ids += encoded["input_ids"]
    return ids
