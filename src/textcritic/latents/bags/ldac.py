"""LDA-C files, one document a line: `types id:count id:count ...` (Blei's lda-c and ctm-c)."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from textcritic.errors import TextcriticError
from textcritic.runlog import log

# Bytes that are parsed at a time; arrays of some 15 times this size are made of them.
BLOCK = 1 << 22
LONGEST_LINE = 1 << 28  # bytes; of a million different words a line has some 12 MB
MOST = 2**31 - 1
ZERO, COLON, SPACE, NEWLINE = b"0: \n"
OTHER_SPACE = bytes.maketrans(b"\t\r\v\f", b"    ")
NUMBER = rb"\d{1,4000}"  # Python reads no more than 4300 digits

Numbers = npt.NDArray[np.int64]
Rows = tuple[Numbers, Numbers, Numbers]
"""Entries of each line, then of all entries the word ids and the counts."""


def read_ldac(path: str | os.PathLike[str], num_words: int | None = None) -> csr_matrix:
    """Read an LDA-C file: int32 counts [documents, words], word ids of a row in ascending order.

    A line is a document; the line `0` is an empty one. A word that a line has twice gets the sum of its counts. A last
    line without a line break is read, with a warning in the log.

    Args:
        path: the file.
        num_words: V of the vocabulary; None: the highest id in the file, plus one.

    Raises:
        TextcriticError: naming file and line: something that is not a whole number, a count below 1, an id beyond the
            vocabulary, a wrong number of types, a blank line, one of more than 256 MiB; or the file has no line.
    """
    most = MOST if num_words is None else num_words
    number, parts = 1, []
    try:
        with Path(path).open("rb") as handle:
            for block in _blocks(handle, path):
                parts.append(_fast(block, most) or _careful(block, path, number, most))
                number += len(parts[-1][0])
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not parts:
        raise TextcriticError(f"{path}: there is no document in it; write one a line: types id:count id:count ...")
    lengths, ids, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    words = int(ids.max(initial=-1)) + 1 if num_words is None else num_words
    matrix = csr_matrix((counts, ids, np.r_[0, np.cumsum(lengths)]), shape=(len(lengths), words))
    matrix.sum_duplicates()
    if matrix.data.max(initial=0) > MOST:
        raise TextcriticError(f"{path}: the counts of a word in a document add up to more than {MOST:,}")
    return matrix.astype(np.int32)


def over_words(known: npt.NDArray[np.int32], counts: csr_matrix) -> csr_matrix:
    """Counts over some words only, whose ids ascend; memory and time do not grow with the largest id."""
    kept = np.isin(counts.indices, known, kind="sort")
    indices = np.searchsorted(known, counts.indices[kept]).astype(np.int32)
    indptr = np.r_[0, np.cumsum(kept)][counts.indptr]
    return csr_matrix((counts.data[kept], indices, indptr), shape=(counts.shape[0], len(known)))


def _blocks(handle: IO[bytes], path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Whole lines, some megabytes at a time; each block ends in a line break."""
    rest: list[bytes] = []
    while block := handle.read(BLOCK):
        lines, line_break, tail = block.rpartition(b"\n")
        if line_break:
            yield b"".join([*rest, lines, line_break])
            rest = []
        rest.append(tail)
        if len(rest) * BLOCK > LONGEST_LINE:
            raise TextcriticError(f"{path}: a line is longer than {LONGEST_LINE >> 20} MiB; write one document a line")
    if last := b"".join(rest):
        log.warning("%s: the last line has no line break; if the file was cut short, so may its last count be", path)
        yield last + b"\n"


def _fast(block: bytes, num_words: int) -> Rows | None:
    """Parse a block at once; None if anything in it is unusual: then `_careful` parses it line by line."""
    text = np.frombuffer(block.translate(OTHER_SPACE), np.uint8)
    digit, newline = text - np.uint8(ZERO) < 10, np.flatnonzero(text == NEWLINE)
    colon = np.flatnonzero(text == COLON)
    if digit.sum() + len(colon) + len(newline) + (text == SPACE).sum() != len(text):
        return None
    edges = np.flatnonzero(np.diff(digit, prepend=False, append=False))
    starts, widths = edges[::2], edges[1::2] - edges[::2]
    per_line = np.diff(np.searchsorted(starts, newline), prepend=0)
    if not len(starts) or (per_line % 2 == 0).any() or widths.max() > 9:
        return None
    # The numbers of a line: types, then id, count, id, count ...; colons are only between an id and its count.
    place = np.arange(len(starts)) - np.repeat(np.cumsum(per_line) - per_line, per_line)
    behind_colon = text[starts - 1] == COLON
    if (behind_colon != ((place > 0) & (place % 2 == 0))).any():
        return None
    if len(colon) != behind_colon.sum() or not digit[colon - 1].all():
        return None
    values = np.zeros(len(starts), dtype=np.int64)
    for k in range(int(widths.max())):
        longer = np.flatnonzero(widths > k)
        values[longer] = 10 * values[longer] + text[starts[longer] + k] - ZERO
    types, ids, counts = values[place == 0], values[place % 2 == 1], values[(place > 0) & (place % 2 == 0)]
    if (types != per_line // 2).any() or ids.max(initial=-1) >= num_words or counts.min(initial=1) < 1:
        return None
    return types, ids, counts


def _careful(block: bytes, path: str | os.PathLike[str], first: int, num_words: int) -> Rows:
    """Parse a block line by line, to name the first fault."""
    lengths, pairs = [], []
    for number, line in enumerate(block.removesuffix(b"\n").split(b"\n"), start=first):
        try:
            entries = _line(line, num_words)
        except ValueError as error:
            raise TextcriticError(f"{path}:{number}: {error}; a line should be: types id:count id:count ...") from error
        lengths.append(len(entries))
        pairs += entries
    ids, counts = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return np.array(lengths, dtype=np.int64), ids, counts


def _line(line: bytes, num_words: int) -> list[tuple[int, int]]:
    if not line.split():
        raise ValueError("a blank line, where an empty document is a 0")
    types, *entries = line.split()
    if not re.fullmatch(NUMBER, types):
        raise ValueError(f"{_shown(types)} is not the number of types")
    pairs = [_pair(entry, num_words) for entry in entries]
    if int(types) != len(pairs):
        raise ValueError(f"{_shown(types)} types, and the line has {len(pairs)} (is it cut short?)")
    return pairs


def _pair(entry: bytes, num_words: int) -> tuple[int, int]:
    match = re.fullmatch(rb"(%b):(-?%b)" % (NUMBER, NUMBER), entry)
    if match is None:
        raise ValueError(f"{_shown(entry)} is not id:count in whole numbers")
    id_, count = map(int, match.groups())
    if id_ >= num_words:
        raise ValueError(f"word id {id_} is beyond the vocabulary of {num_words} words, whose ids start at 0")
    if not 1 <= count <= MOST:
        raise ValueError(f"the count of {_shown(entry)} is not from 1 to {MOST}")
    return id_, count


def _shown(piece: bytes) -> str:
    """A piece of a line as one line of ASCII, for a message."""
    return ascii(piece[:40].decode("utf-8", "replace"))
