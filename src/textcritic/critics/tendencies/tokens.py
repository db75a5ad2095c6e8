"""Texts to tokens: cut at white space, or into words and single marks. Nothing loops over tokens or characters."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.corpora.unicode import CODE_POINTS, by_category, spaces
from textcritic.critics.tendencies.options import Tokenizer
from textcritic.errors import TextcriticError

CHUNK_BYTES = 1 << 21
# Bytes of text that are cut at a time: with what is known of each, they fit into the cache of a processor.
BLOCK_BYTES = 1 << 18

# Classes of characters. A mark, a format character and a tone of skin go with the character before them.
SPACE, WORD, JOINER, OTHER, MARK, FORMAT, TONE = range(7)
# What each is where nothing comes before.
ALONE = np.array([SPACE, WORD, JOINER, OTHER, WORD, SPACE, OTHER], np.uint8)
JOINERS = "'’-‐‑"
ZERO_WIDTH_JOINER = 0x200D

Bytes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]
Classes = npt.NDArray[np.uint8]
Ids = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of D texts, one text after the other, as positions in a list of types.

    Attributes:
        types: tokens as they are written, an Arrow array of strings [types]; a few are there twice.
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
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        raise TextcriticError("a text is not UTF-8; save the file as UTF-8") from error
    pieces, lengths = [pa.array([], pa.string())], [np.zeros(0, np.int64)]
    for block in chunks([texts], BLOCK_BYTES):
        of_block, of_each = _cut(block, tokenizer)
        pieces.append(of_block)
        lengths.append(of_each)
    encoded = pa.concat_arrays(pieces).dictionary_encode()
    types = pc.utf8_rtrim(encoded.dictionary, characters=_separators(tokenizer))
    return Tokens(types, encoded.indices.drop_null().to_numpy(), np.concatenate(lengths))


def chunks(batches: Iterable[pa.Array], most_bytes: int = CHUNK_BYTES) -> Iterator[pa.StringArray]:
    """Cut batches of texts into arrays of at most `most_bytes` bytes of text, or of one text; small batches are joined.

    Args:
        batches: Arrow arrays of strings; null is an empty text.
        most_bytes: of a chunk.
    """
    waiting: list[pa.LargeStringArray] = []
    room = most_bytes
    for batch in batches:
        texts = batch.cast(pa.large_string()).fill_null("")
        ends = np.cumsum(pc.binary_length(texts).to_numpy(zero_copy_only=False))
        start = done = 0
        while start < len(texts):
            stop = int(np.searchsorted(ends, done + room, side="right"))
            if stop == start and not waiting:
                stop = start + 1
            waiting.append(texts.slice(start, stop - start))
            if stop == len(texts):
                room -= int(ends[-1]) - done
                break
            yield _joined(waiting)
            waiting, room, start, done = [], most_bytes, stop, int(ends[stop - 1]) if stop else 0
    if waiting:
        yield _joined(waiting)


def _joined(texts: list[pa.LargeStringArray]) -> pa.StringArray:
    """Several arrays as one; a single one is not copied."""
    return (texts[0] if len(texts) == 1 else pa.concat_arrays(texts)).cast(pa.string())


def bytes_of(texts: pa.StringArray) -> tuple[Bytes, npt.NDArray[np.int64]]:
    """The bytes of all texts, and where each text ends among them."""
    if not len(texts):
        return np.zeros(0, np.uint8), np.zeros(0, np.int64)
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32)[texts.offset :][: len(texts) + 1].astype(np.int64)
    every = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return every[bounds[0] : bounds[-1]], bounds[1:] - bounds[0]


def code_points(data: Bytes) -> npt.NDArray[np.uint32]:
    """The code point of each character of a text in UTF-8: uint32 [characters]."""
    return np.frombuffer(data.tobytes().decode("utf-8").encode("utf-32-le"), np.uint32)


def _cut(texts: pa.StringArray, tokenizer: Tokenizer) -> tuple[pa.StringArray, npt.NDArray[np.int64]]:
    """Cut texts into pieces; also how many tokens each text has.

    A piece is a token with the white space after it, so that the text need not be copied. White space at the start of a
    text is a separate piece, null.
    """
    data, ends = bytes_of(texts)
    first = np.zeros(len(data) + 1, np.bool_)
    first[np.append(0, ends)] = True
    starts, is_token = (_at_white_space if tokenizer == "whitespace" else _at_words)(data, first[:-1])
    offsets = pa.py_buffer(np.append(starts, len(data)).astype(np.int32))
    _, valid = pa.array(is_token).buffers()
    pieces = pa.StringArray.from_buffers(len(starts), offsets, pa.py_buffer(data), valid)
    return pieces, np.diff(np.searchsorted(starts[is_token], ends), prepend=0)


def _at_white_space(data: Bytes, first: Flags) -> tuple[npt.NDArray[np.int64], Flags]:
    """The byte at which each piece begins, and which are tokens.

    Args:
        data: a text in UTF-8.
        first: which bytes begin a text.
    """
    # From \t to \r and from \x1c to the blank; smaller numbers become large ones.
    is_space = (data - np.uint8(9) < 5) | (data - np.uint8(28) < 5)
    wide = np.flatnonzero(data >= 0x80)
    sizes = np.diff(np.flatnonzero(_leads(data[wide])), append=len(wide))
    is_space[wide] = np.repeat(_is_space().take(code_points(data[wide])), sizes)
    starts = first.copy()
    starts[1:] |= is_space[:-1] & ~is_space[1:]
    places = np.flatnonzero(starts)
    return places, ~is_space[places]


def _at_words(data: Bytes, first: Flags) -> tuple[npt.NDArray[np.int64], Flags]:
    """The same for words and single marks."""
    codes = code_points(data)
    begins = np.flatnonzero(_leads(data))
    first = first.take(begins)
    classes = _classes().take(codes)
    separates = classes == SPACE
    follows = classes >= MARK
    if follows.any():
        classes, follows = _followed(codes, classes, first)
    joiners = np.flatnonzero(classes == JOINER)
    # The character after the last one is the first: it begins a text, so that no joiner is inside a word before it.
    after = (joiners + 1) % max(len(classes), 1)
    inside = (classes[joiners - 1] == WORD) & (classes[after] == WORD) & ~first[joiners] & ~first[after]
    classes[joiners] = np.where(inside, WORD, OTHER)
    is_space = classes == SPACE
    starts = first | ((classes == OTHER) & ~follows)
    starts[1:] |= (classes[1:] != classes[:-1]) & ~is_space[1:]
    # Other white space, a format character, begins a piece: at the end of one it would be taken for part of the token.
    starts |= is_space & ~separates
    places = np.flatnonzero(starts)
    return begins[places], ~is_space[places]


def _leads(data: Bytes) -> Flags:
    """Which bytes begin a character: those inside one begin with the bits 10."""
    leads: Flags = (data & 0xC0) != 0x80
    return leads


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
def _is_space() -> Flags:
    """Which code points Python takes for white space: [code points]."""
    flags = np.zeros(CODE_POINTS, bool)
    flags[spaces()] = True
    return flags


@cache
def _separators(tokenizer: Tokenizer) -> str:
    """The characters that a tokenizer always takes for white space."""
    codes = spaces() if tokenizer == "whitespace" else np.flatnonzero(_classes() == SPACE)
    return "".join(map(chr, codes.tolist()))


@cache
def _classes() -> Classes:
    """The class of each code point: [code points]."""
    classes = by_category({"L": WORD, "N": WORD, "M": MARK, "Cf": FORMAT, "Cc": SPACE, "Z": SPACE}, OTHER)
    classes[[ord(joiner) for joiner in JOINERS]] = JOINER
    classes[0x1F3FB:0x1F400] = TONE
    return classes
