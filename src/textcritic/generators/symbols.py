"""Sequences of a synthetic process as token streams: a token for each letter and one for the delimiter."""

import os
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from textcritic.corpora import BODY, BOUNDARY, END, Article
from textcritic.corpora.articles import ARTICLE_SCHEMA, articles_of, iter_batches
from textcritic.corpora.synthetic.process import DELIMITER
from textcritic.errors import TextcriticError
from textcritic.files import whole_folder
from textcritic.generators.encode import SINGLE, load_encoded, write_stream
from textcritic.plan.entries import Encoding
from textcritic.plan.entries.encodings import SYMBOLS
from textcritic.training.load import load_tokenizer

# Marks the end of a text among its bytes; no UTF-8 text has it.
END_BYTE = b"\xff"
PIECE = 1 << 24  # tokens of a stream that are looked at together


def make_symbol_tokenizer(out_dir: str | os.PathLike[str], letters: str) -> None:
    """Save a transformers tokenizer of single characters: the letters, then the delimiter, then the end of text.

    Decoding gives the text back exactly. A character that is not in the vocabulary cannot be encoded.

    Args:
        out_dir: folder to write, whole or not at all.
        letters: the alphabet; ids follow its order, from 0.

    Raises:
        TextcriticError: there are no letters, or they are not distinct, not ASCII, or include the delimiter.
    """
    if not letters or not letters.isascii() or len(set(letters + DELIMITER)) <= len(letters):
        raise TextcriticError(f"letters: {letters!r} should be distinct ASCII characters without a space")
    vocabulary = {symbol: number for number, symbol in enumerate([*letters, DELIMITER, END])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=END, eos_token=END, clean_up_tokenization_spaces=False
    )
    with whole_folder(out_dir) as folder:
        fast.save_pretrained(folder)


def encode_process_split(
    articles_path: str | os.PathLike[str],
    tokenizer_dir: str | os.PathLike[str],
    out_prefix: str | os.PathLike[str],
    shuffle_seed: int | None = None,
) -> None:
    """Write the token stream of a split, see `encode.encode_split`: form `single`, without titles.

    A sequence is its sub-sequences, a delimiter behind each, the last one too. Letters and delimiters are of the kind
    `BODY`. The tokens are those that the tokenizer gives, but looked up without it: 20 million tokens take seconds.

    Args:
        articles_path: Parquet file in the corpus schema, a section for each sub-sequence.
        tokenizer_dir: folder that `make_symbol_tokenizer` wrote.
        out_prefix: path without suffix.
        shuffle_seed: put the sequences into the order of this seed (training); None keeps the order of the file.

    Raises:
        TextcriticError: there are no sequences, one has no sub-sequences, a sub-sequence is empty or has a character
            that is not a letter, or a fault of the files.
    """
    tokenizer = load_tokenizer(tokenizer_dir)
    write_stream(out_prefix, _pieces(articles_path, tokenizer), [tokenizer.eos_token_id], shuffle_seed, articles_path)


def read_sequences(prefix: str | os.PathLike[str], end: int) -> tuple[np.ndarray, np.ndarray]:
    """The sequences of an encoded split in the form `single`, without the end-of-text tokens.

    Args:
        prefix: encoded split.
        end: id of the end-of-text token.

    Returns:
        ids of all sequences, one after the other, in the smallest unsigned type that holds them [tokens]; and where
        each begins, the end of the last one behind them, int64 [sequences + 1].

    Raises:
        TextcriticError: a file is missing or not whole, is not in this form, or a sequence is empty.
    """
    tokens, ends = np.asarray(load_encoded(prefix)[0]), sequence_ends(prefix, end)
    return tokens[tokens != end].astype(np.min_scalar_type(tokens.max())), ends - np.arange(len(ends))


def sequence_ends(prefix: str | os.PathLike[str], end: int) -> np.ndarray:
    """Where the end-of-text tokens are, one before, between and after the sequences, int64 [sequences + 1].

    The stream is read in pieces; args and errors as of `read_sequences`.
    """
    tokens = load_encoded(prefix)[0]
    ends = np.concatenate(
        [np.flatnonzero(tokens[first : first + PIECE] == end) + first for first in range(0, max(len(tokens), 1), PIECE)]
    )
    if len(ends) < 2 or ends[0] != 0 or ends[-1] != len(tokens) - 1:
        raise TextcriticError(f"{prefix}.tokens.npy: should begin and end with the end-of-text token {end}")
    empty = np.flatnonzero(np.diff(ends) == 1)
    if len(empty):
        raise TextcriticError(f"{prefix}.tokens.npy: sequence {empty[0]} is empty; a sequence has at least one token")
    return ends


def require_symbols(encoding: Encoding, name: str) -> None:
    """Make sure that an encoding is one for a synthetic process.

    Raises:
        TextcriticError: its tokenizer is not `{symbols: {}}`, or its boundary not `single`.
    """
    if encoding.reads != SYMBOLS or encoding.boundary != SINGLE:
        raise TextcriticError(
            f"encodings: {name}: a synthetic process needs an encoding with tokenizer: {{symbols: {{}}}} and "
            f"boundary: {SINGLE}"
        )


def _pieces(
    path: str | os.PathLike[str], tokenizer: PreTrainedTokenizerFast
) -> Iterator[tuple[np.ndarray, np.ndarray, list[int]]]:
    """Tokens, kinds and lengths of the sequences of each row group, every sequence with the end of text behind it."""
    end = tokenizer.eos_token_id
    ids = {symbol: number for symbol, number in tokenizer.get_vocab().items() if len(symbol) == 1}
    id_of_byte = np.full(256, -1, np.int32)
    id_of_byte[[*map(ord, ids), END_BYTE[0]]] = [*ids.values(), end]
    for batch in iter_batches(path, ARTICLE_SCHEMA):
        column = batch.column("sections")
        subsequences = column.flatten().field("text").cast(pa.binary())
        offsets = np.pad(np.cumsum(pc.list_value_length(column)), (1, 0)).astype(np.int32)
        # binary_join makes "aB c" of "aB" and "c"; one more delimiter and the end go behind it.
        joined = pc.binary_join(pa.ListArray.from_arrays(offsets, subsequences), DELIMITER.encode())
        texts = pc.binary_join_element_wise(joined, END_BYTE, DELIMITER.encode())
        tokens = id_of_byte[np.frombuffer(texts.buffers()[2] or b"", np.uint8)]
        # An article without sections still has one delimiter, and a text may contain delimiters: both are surplus.
        surplus = np.count_nonzero(tokens == ids[DELIMITER]) - len(subsequences)
        empty = pc.any(pc.equal(pc.binary_length(subsequences), 0)).as_py()
        if texts.null_count or empty or surplus or (tokens < 0).any():
            raise TextcriticError(f"{path}: {_fault(articles_of(batch), set(ids) - {DELIMITER})}")
        yield tokens, np.where(tokens == end, BOUNDARY, BODY), pc.binary_length(texts).to_pylist()


def _fault(articles: list[Article], letters: set[str]) -> str:
    """What is wrong with the first article that is not a valid sequence."""
    for article in articles:
        if not article.sections:
            return f"article '{article.id}' has no sections; a sequence has one for each sub-sequence"
        for number, section in enumerate(article.sections, start=1):
            if not section.text or not letters.issuperset(section.text):
                return f"article '{article.id}', section {number}: {section.text!r} should be letters of the process"
    raise AssertionError("all articles are sequences")
