"""Articles as a language model's token stream, and how that is cut into training blocks and windows.

A stream is the tokens' ids and, for every token, whether it is boundary, title or body.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import numpy as np
from numpy.lib import format as npy_format
from transformers import PreTrainedTokenizerFast

from textcritic.batches import batched
from textcritic.corpora import BOUNDARY, Article, iter_articles, render, spans
from textcritic.errors import TextcriticError
from textcritic.files import whole_file
from textcritic.training.load import load_tokenizer

SINGLE = "single"
AS_RELEASED = "as_released"
BATCH = 512
PACKED, ARTICLES = "packed", "articles"

# Of the windows in which perplexity is measured, for perplexity.json.
DESCRIPTIONS = {
    PACKED: "non-overlapping windows of {context} tokens, the last one shorter; every token but the first is predicted",
    AS_RELEASED: "non-overlapping blocks of {context} tokens, the first token of each is not predicted, and the last, "
    "partial block is dropped",
    ARTICLES: "windows of {context} tokens that begin with an article; an article that does not fit in what is left of "
    "a window begins the next one; every token but the first is predicted, once",
}


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
    for batch in batched(articles, BATCH):
        texts = [render(article, setting) for article in batch]
        covered = [spans(article, setting) for article in batch]
        # Documents of one section without title have one kind of token, and offsets take as long as the tokens.
        mixed = any(len(pieces) != 1 for pieces in covered)
        encoded = tokenizer(
            texts,
            add_special_tokens=False,
            split_special_tokens=True,
            return_offsets_mapping=mixed,
            return_attention_mask=False,
            verbose=False,
        )
        for number, (article, ids, pieces) in enumerate(zip(batch, encoded["input_ids"], covered, strict=True)):
            if not ids:
                raise TextcriticError(f"article '{article.id}': its text is empty; leave it out of the corpus")
            if mixed:
                kinds = _kinds(pieces, np.array(encoded["offset_mapping"][number], np.int64))
            else:
                kinds = np.full(len(ids), pieces[0][2], np.uint8)
            yield np.array(ids, np.int32), kinds


def _kinds(pieces: Sequence[tuple[int, int, int]], offsets: np.ndarray) -> np.ndarray:
    """The kind of the last character of each token: uint8 [tokens]."""
    starts, stops, kinds = np.array(pieces).T
    of_character = np.repeat(kinds.astype(np.uint8), stops - starts)
    return of_character[(offsets[:, 1] - 1).clip(0, len(of_character) - 1)]


def boundary_ids(tokenizer: PreTrainedTokenizerFast, boundary: str) -> tuple[list[int], list[int]]:
    """Token ids before and after each article (in `single` the stream also begins with one end-of-text).

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


def training_starts(tokens: np.ndarray, kinds: np.ndarray, end: int, context: int, blocks: str) -> np.ndarray:
    """Where the training blocks of `context` inputs and targets begin in a stream.

    Args:
        tokens: ids [tokens].
        kinds: kinds [tokens].
        end: id of the end-of-text token.
        context: tokens in a block.
        blocks: `packed`, one block after the other (the papers' way), or `articles`: a block begins with an article,
            and the article that the block before cut off begins it again. A model that sees little text learns the
            beginnings of articles, which it is sampled from, far sooner.

    Returns:
        int64 [blocks]; blocks that the end of the stream would cut short are left out.
    """
    if blocks == PACKED:
        return np.arange((len(tokens) - 1) // context) * context
    starts = _article_starts(tokens, kinds, end, context)
    return starts[starts + context < len(tokens)]


def windows(tokens: np.ndarray, kinds: np.ndarray, end: int, context: int, kind: str = PACKED) -> np.ndarray:
    """The windows in which perplexity is measured, one of `DESCRIPTIONS`.

    Returns:
        int64 [windows, 3]: first input position, number of inputs, and how many of their predictions count.
    """
    count = len(tokens)
    if kind == AS_RELEASED:
        starts = np.arange(0, count - context + 1, context)
        inputs = np.full_like(starts, context - 1)
        return np.stack([starts, inputs, inputs], axis=1)
    packed = kind == PACKED
    starts = np.arange(0, count - 1, context) if packed else _article_starts(tokens, kinds, end, context)
    inputs = np.minimum(context, count - 1 - starts)
    return np.stack([starts, inputs, np.minimum(inputs, np.diff(starts, append=count - 1))], axis=1)


def block_at(seed: int, position: int, blocks: int) -> int:
    """The block at a position of the endless stream of epochs, each a fresh permutation of all blocks."""
    epoch, place = divmod(position, blocks)
    return int(_permutation(seed, epoch, blocks)[place])


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


@lru_cache(maxsize=2)
def _permutation(seed: int, epoch: int, blocks: int) -> np.ndarray:
    return np.random.default_rng([seed, epoch]).permutation(blocks)


def _article_starts(tokens: np.ndarray, kinds: np.ndarray, end: int, context: int) -> np.ndarray:
    """Starts of blocks that begin with an article, and inside one only where it is longer than a block."""
    opens = np.flatnonzero((tokens[:-1] == end) & (kinds[1:] != BOUNDARY))
    starts = [0]
    while starts[-1] + context < len(tokens) - 1:
        stop = starts[-1] + context
        cut = int(opens[np.searchsorted(opens, stop, side="right") - 1]) if len(opens) else 0
        starts.append(cut if cut > starts[-1] else stop)
    return np.array(starts, np.int64)
