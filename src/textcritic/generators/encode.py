"""Articles as a language model's token stream: ids, and for every token whether it is boundary, title or body."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import numpy as np
from numpy.lib import format as npy_format
from transformers import PreTrainedTokenizerFast

from textcritic.corpora import BOUNDARY, Article, iter_articles, render, spans
from textcritic.errors import TextcriticError
from textcritic.files import whole_file
from textcritic.generators.load import load_tokenizer

SINGLE = "single"
AS_RELEASED = "as_released"
BATCH = 512


def encode_split(
    articles_path: str | os.PathLike[str],
    tokenizer_dir: str | os.PathLike[str],
    setting: str,
    boundary: str,
    out_prefix: str | os.PathLike[str],
    shuffle_seed: int | None = None,
) -> None:
    r"""Write the token stream of a split as `{out_prefix}.tokens.npy` (int32) and `{out_prefix}.kinds.npy` (uint8).

    With E for the end-of-text token and A for an article, the stream is

    - `single` (the paper, section 4): `E A E A E ... A E`, one E between articles;
    - `as_released`: each article written as `E A E \n`, as in the paper's released code.

    Either way the E after an article is a prediction target: it is how a model learns to end. A token has the kind of
    its last character, as GPT-2's pre-tokenisation puts a word's leading space into the word's token. An end-of-text
    marker that an article itself spells out is encoded as ordinary characters.

    Args:
        articles_path: Parquet file in the corpus schema.
        tokenizer_dir: tokenizer folder.
        setting: `w-title` or `wo-title`.
        boundary: `single` or `as_released`.
        out_prefix: path without suffix.
        shuffle_seed: put the articles into the order of this seed (training); None keeps the order of the file.

    Raises:
        TextcriticError: an unknown boundary, no articles, an empty article, or a fault of the files.
    """
    tokenizer = load_tokenizer(tokenizer_dir)
    before, after = boundary_ids(tokenizer, boundary)
    lead = [tokenizer.eos_token_id] if boundary == SINGLE else []
    pieces = (
        (
            np.array([*before, *ids, *after], np.int32),
            np.pad(kinds, (len(before), len(after)), constant_values=BOUNDARY),
            [len(before) + len(ids) + len(after)],
        )
        for ids, kinds in encode_articles(iter_articles(articles_path), tokenizer, setting)
    )
    write_stream(out_prefix, pieces, lead, shuffle_seed, articles_path)


def write_stream(
    out_prefix: str | os.PathLike[str],
    pieces: Iterable[tuple[np.ndarray, np.ndarray, Sequence[int]]],
    lead: Sequence[int],
    shuffle_seed: int | None,
    source: str | os.PathLike[str],
) -> None:
    """Write a token stream in the files and order of `encode_split`, holding no more than one piece of it in memory.

    Args:
        out_prefix: path without suffix.
        pieces: whole articles with their boundaries: tokens, kinds, and how many tokens belong to each article.
        lead: boundary tokens before the first article.
        shuffle_seed: see `encode_split`.
        source: where the articles come from, for the error line.

    Raises:
        TextcriticError: there are none, or a file cannot be written.
    """
    prefix = Path(out_prefix)
    with ExitStack() as stack:
        paths = [stack.enter_context(whole_file(f"{prefix}.{part}.npy")) for part in ("tokens", "kinds")]
        streams = [stack.enter_context(TemporaryFile(dir=prefix.parent)) for _ in paths]
        lengths: list[int] = []
        for tokens, kinds, tokens_of_each in pieces:
            streams[0].write(tokens.astype(np.int32).tobytes())
            streams[1].write(kinds.astype(np.uint8).tobytes())
            lengths.extend(tokens_of_each)
        if not lengths:
            raise TextcriticError(f"{source}: holds no articles")
        order = np.arange(len(lengths))
        if shuffle_seed is not None:
            np.random.default_rng(shuffle_seed).shuffle(order)
        _write_ordered(paths[0], streams[0], np.array(lengths), order, np.array(lead, np.int32))
        _write_ordered(paths[1], streams[1], np.array(lengths), order, np.full(len(lead), BOUNDARY, np.uint8))


def encode_articles(
    articles: Iterator[Article], tokenizer: PreTrainedTokenizerFast, setting: str
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Stream (token ids int32, kinds uint8) of each article's rendered text, without any boundary tokens.

    Raises:
        TextcriticError: an article is empty or cannot be rendered in the setting.
    """
    while batch := list(islice(articles, BATCH)):
        texts = [render(article, setting) for article in batch]
        encoded = tokenizer(
            texts,
            add_special_tokens=False,
            split_special_tokens=True,
            return_offsets_mapping=True,
            return_attention_mask=False,
            verbose=False,
        )
        for article, text, ids, offsets in zip(
            batch, texts, encoded["input_ids"], encoded["offset_mapping"], strict=True
        ):
            if not ids:
                raise TextcriticError(f"article '{article.id}': its text is empty; leave it out of the corpus")
            starts, stops, kinds = np.array(spans(article, setting)).T
            of_character = np.repeat(kinds.astype(np.uint8), stops - starts)
            last = np.array(offsets, np.int64)[:, 1] - 1
            yield np.array(ids, np.int32), of_character[last.clip(0, len(text) - 1)]


def boundary_ids(tokenizer: PreTrainedTokenizerFast, boundary: str) -> tuple[list[int], list[int]]:
    """Token ids before and after each article (in `single` the stream's first end-of-text comes on top).

    Raises:
        TextcriticError: an unknown boundary, or a tokenizer without an end-of-text token.
    """
    end = tokenizer.eos_token_id
    if end is None:
        raise TextcriticError("tokenizer: has no eos_token; a language model needs one to end its articles")
    if boundary == SINGLE:
        return [], [end]
    if boundary == AS_RELEASED:
        return [end], [end, *_newline(tokenizer)]
    raise TextcriticError(f"encoding: boundary '{boundary}' is unknown; use {SINGLE} or {AS_RELEASED}")


def prompt_ids(tokenizer: PreTrainedTokenizerFast, boundary: str) -> list[int]:
    r"""Token ids to sample a new article after: E in `single`, `E \n E` in `as_released`; raises as `boundary_ids`."""
    before, after = boundary_ids(tokenizer, boundary)
    return [*after, *before]


def document_index(tokens: np.ndarray, kinds: np.ndarray, end: int) -> np.ndarray:
    """Number of the article that each token of a stream belongs to, in both boundary forms.

    An end-of-text token closes an article when the token before it is part of one; whatever follows, up to and
    including the next article's end, belongs to that next article (and after the last article, to the last).

    Args:
        tokens: ids [tokens].
        kinds: kinds [tokens].
        end: id of the end-of-text token.

    Returns:
        int64 [tokens].
    """
    closes = tokens == end
    closes[0] = False
    closes[1:] &= kinds[:-1] != BOUNDARY
    index: np.ndarray = np.cumsum(closes) - closes
    return index.clip(0, max(int(closes.sum()) - 1, 0))


def load_encoded(prefix: str | os.PathLike[str]) -> tuple[np.ndarray, np.ndarray]:
    """Memory maps (tokens int32, kinds uint8) of an encoded split.

    Raises:
        TextcriticError: a file is missing, truncated or not what `encode_split` writes.
    """
    tokens, kinds = (_memory_map(Path(f"{prefix}.{part}.npy")) for part in ("tokens", "kinds"))
    if tokens.dtype != np.int32 or kinds.dtype != np.uint8 or tokens.shape != kinds.shape:
        raise TextcriticError(f"{prefix}: tokens and kinds do not belong together; delete both and rerun the encoding")
    return tokens, kinds


def _memory_map(path: Path) -> np.ndarray:
    try:
        array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: no such file") from error
    except (ValueError, OSError, EOFError) as error:
        raise TextcriticError(f"{path}: not a whole .npy file; delete it and rerun the rule that makes it") from error
    return array


def _newline(tokenizer: PreTrainedTokenizerFast) -> list[int]:
    ids: list[int] = tokenizer("\n", add_special_tokens=False)["input_ids"]
    return ids


def _write_ordered(path: Path, stream: IO[bytes], lengths: np.ndarray, order: np.ndarray, lead: np.ndarray) -> None:
    """Write `lead` and then the articles of `stream` in `order` as one .npy file."""
    stream.flush()
    data = np.memmap(stream, lead.dtype, mode="r")
    starts = np.cumsum(lengths) - lengths
    header = {"descr": lead.dtype.str, "fortran_order": False, "shape": (len(lead) + len(data),)}
    with path.open("wb") as handle:
        npy_format.write_array_header_1_0(handle, header)
        handle.write(lead.tobytes())
        for article in order:
            start = starts[article]
            handle.write(data[start : start + lengths[article]].tobytes())
