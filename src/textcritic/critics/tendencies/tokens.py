"""Texts to tokens: cut at white space, or into words and single marks. Nothing loops over tokens or characters."""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.errors import TextcriticError
from textcritic.plan.checks.tendencies import Tokenizer

# Bytes of text that are cut at a time. A key (document, token, token) of so many then fits into 63 bits.
CHUNK_BYTES = 1 << 21

# Classes of characters. A mark, a format character and a tone of skin go with the character before them.
SPACE, WORD, JOINER, OTHER, MARK, FORMAT, TONE = range(7)
# What each is where nothing comes before.
ALONE = np.array([SPACE, WORD, JOINER, OTHER, WORD, SPACE, OTHER], np.uint8)
JOINERS = "'’-‐‑"
ZERO_WIDTH_JOINER = 0x200D
CODE_POINTS = 0x110000

Flags = npt.NDArray[np.bool_]
Classes = npt.NDArray[np.uint8]
Ids = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of D texts, one text after the other, as positions among the distinct ones.

    Attributes:
        types: distinct tokens as they are written, an Arrow array of strings [types]; some may have no token.
        ids: int32 [tokens], the position of each token in `types`.
        lengths: int64 [D], tokens of each text.
    """

    types: pa.StringArray
    ids: Ids
    lengths: npt.NDArray[np.int64]


def tokenize(texts: pa.StringArray, tokenizer: Tokenizer) -> Tokens:
    """Cut texts into tokens.

    Args:
        texts: strings without null, of less than 2 GiB together.
        tokenizer: `whitespace` cuts as `str.split` does. `words`: a run of letters, marks, digits and other numbers is
            a token, with single apostrophes and hyphens inside it; so is every other visible character, with the
            marks, tones of skin and joined emoji that follow it. White space and control characters separate.

    Raises:
        TextcriticError: a text is not UTF-8.
    """
    data, ends = bytes_of(texts)
    if not len(data):
        return Tokens(pa.array([], pa.string()), np.zeros(0, np.int32), np.zeros(len(texts), np.int64))
    codes = code_points(data)
    # The byte at which each character begins; only bytes inside a character begin with the bits 10.
    begins = np.flatnonzero((data & 0xC0) != 0x80)
    first = np.zeros(len(codes) + 1, np.bool_)
    first[np.searchsorted(begins, np.append(0, ends))] = True
    first = first[:-1]
    is_space, starts = _at_white_space(codes, first) if tokenizer == "whitespace" else _at_words(codes, first)
    pieces = np.flatnonzero(starts)
    tokens = ~is_space[pieces]
    # White space stays in as pieces of its own, so that the text need not be copied.
    offsets = np.append(begins[pieces], len(data)).astype(np.int32)
    strings = pa.StringArray.from_buffers(len(pieces), pa.py_buffer(offsets), pa.py_buffer(data))
    encoded = strings.dictionary_encode()
    positions = offsets[:-1][tokens]
    lengths = np.diff(np.searchsorted(positions, ends), prepend=0)
    return Tokens(encoded.dictionary, encoded.indices.to_numpy()[tokens], lengths)


def chunks(batches: Iterable[pa.Array], most_bytes: int = CHUNK_BYTES) -> Iterator[pa.StringArray]:
    """Cut batches of texts into arrays of at most `most_bytes` bytes of text, or of one text.

    Args:
        batches: Arrow arrays of strings; null is an empty text.
        most_bytes: of a chunk.
    """
    for batch in batches:
        texts = batch.cast(pa.large_string()).fill_null("")
        sizes = pc.binary_length(texts).to_numpy(zero_copy_only=False)
        ends = np.cumsum(sizes)
        start = 0
        while start < len(texts):
            stop = int(np.searchsorted(ends, ends[start] - sizes[start] + most_bytes, side="right"))
            stop = max(stop, start + 1)
            yield texts.slice(start, stop - start).cast(pa.string())
            start = stop


def bytes_of(texts: pa.StringArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The bytes of all texts, and where each text ends among them."""
    if not len(texts):
        return np.zeros(0, np.uint8), np.zeros(0, np.int64)
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32)[texts.offset :][: len(texts) + 1].astype(np.int64)
    every = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return every[bounds[0] : bounds[-1]], bounds[1:] - bounds[0]


def code_points(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """The code point of each character of a text in UTF-8: uint32 [characters].

    Raises:
        TextcriticError: it is not UTF-8.
    """
    try:
        text = data.tobytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise TextcriticError(f"a text is not UTF-8 ({error.reason}); save the file as UTF-8") from error
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)


def _at_white_space(codes: npt.NDArray[np.uint32], first: Flags) -> tuple[Flags, Flags]:
    """Which characters are white space, and which begin a piece: a token, or the white space between two."""
    is_space = _spaces()[codes]
    starts = first.copy()
    starts[1:] |= is_space[1:] != is_space[:-1]
    return is_space, starts


def _at_words(codes: npt.NDArray[np.uint32], first: Flags) -> tuple[Flags, Flags]:
    """The same for words and single marks."""
    classes = _classes()[codes]
    follows = classes >= MARK
    if follows.any():
        classes, follows = _followed(codes, classes, first)
    inner = np.zeros(len(codes), np.bool_)
    inner[1:-1] = (classes[1:-1] == JOINER) & (classes[:-2] == WORD) & (classes[2:] == WORD)
    inner[1:-1] &= ~first[1:-1] & ~first[2:]
    classes = np.where(inner, WORD, np.where(classes == JOINER, OTHER, classes))
    starts = (classes == OTHER) & ~follows
    starts[1:] |= classes[1:] != classes[:-1]
    return classes == SPACE, starts | first


def _followed(codes: npt.NDArray[np.uint32], classes: Classes, first: Flags) -> tuple[Classes, Flags]:
    """The classes with that of the character before in place of `MARK` and higher, and which characters go with it."""
    # A format character with nothing visible before it is as good as white space.
    before = classes[_last(classes != FORMAT, first)]
    classes = np.where((classes == FORMAT) & ((before == SPACE) | (before == FORMAT)), SPACE, classes)
    leads = classes < MARK
    leads[1:] |= classes[:-1] == SPACE
    base = _last(leads, first)
    follows = base != np.arange(len(classes))
    resolved = ALONE[classes[base]]
    # An emoji that is joined to the one before it.
    mark = (resolved == OTHER) | (resolved == JOINER)
    follows[1:] |= (codes[:-1] == ZERO_WIDTH_JOINER) & follows[:-1] & mark[:-1] & mark[1:] & ~first[1:]
    return resolved, follows


def _last(among: Flags, first: Flags) -> npt.NDArray[np.int64]:
    """Where the last of some characters up to each one is, or the first character of its text."""
    last: npt.NDArray[np.int64] = np.maximum.accumulate(np.where(among | first, np.arange(len(among)), 0))
    return last


@cache
def categories() -> list[str]:
    """The Unicode category of each code point, such as `Lu`: [code points]."""
    return [unicodedata.category(chr(code)) for code in range(CODE_POINTS)]


@cache
def _spaces() -> Flags:
    """Which code points Python takes for white space: [code points]."""
    return np.array([chr(code).isspace() for code in range(CODE_POINTS)])


@cache
def _classes() -> Classes:
    """The class of each code point: [code points]."""
    by_category = {"L": WORD, "N": WORD, "M": MARK, "Cf": FORMAT, "Cc": SPACE, "Z": SPACE}
    classes = np.array([by_category.get(c, by_category.get(c[0], OTHER)) for c in categories()], np.uint8)
    classes[[ord(joiner) for joiner in JOINERS]] = JOINER
    classes[0x1F3FB:0x1F400] = TONE
    return classes
