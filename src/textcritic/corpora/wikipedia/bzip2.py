"""Bzip2 files: where their streams begin, streams one by one, and all of them decompressed in order.

A multistream file is several bzip2 streams in a row. Wikimedia cuts its dumps so that each stream holds whole pages;
those can be decompressed separately. Streams begin at whole bytes, but their blocks and ends do not.
"""

import bz2
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, pairwise
from pathlib import Path
from typing import BinaryIO

from textcritic.errors import TextcriticError

READ = 1 << 20  # bytes read or decompressed at one time
FIRST_STREAM = 4 << 20  # a multistream file's first stream ends within so many bytes
LONGEST_STREAM = 64 << 20  # compressed bytes; a worker gets a whole stream, and 100 pages never have so many

# A stream begins with a header and the number pi, if it has a block, or the square root of pi, which ends it.
_START = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")
_START_BYTES, _END_BYTES = 10, 11
_END = 0x177245385090


def is_multistream(path: Path, opening: re.Pattern[bytes]) -> bool:
    """Whether the file has a second stream and `opening` matches its beginning, after white space."""
    size = path.stat().st_size
    second = next_start(path, 1, min(size, FIRST_STREAM))
    if second == min(size, FIRST_STREAM):
        return False
    with readable(path) as handle:
        handle.seek(second)
        try:
            start = bz2.BZ2Decompressor().decompress(handle.read(READ), 100).lstrip()
            return opening.match(start) is not None
        except OSError:
            return False


def next_start(path: Path, position: int, end: int, read: int = READ) -> int:
    """The first place from `position` on and before `end` where a stream begins; `end` if there is none."""
    with readable(path) as handle:
        return next(_starts(handle, position, end, read), end)


def streams(path: Path, start: int, end: int, read: int = READ) -> Iterator[tuple[int, bytes]]:
    """(offset, compressed bytes) of the streams in [start, end), two places where a stream begins or the file ends.

    Raises:
        TextcriticError: a stream of more than `LONGEST_STREAM` bytes; the file cannot be read.
    """
    with readable(path) as scanned, readable(path) as handle:
        for offset, following in pairwise(chain(_starts(scanned, start, end, read), [end])):
            if following - offset > LONGEST_STREAM:
                raise TextcriticError(
                    f"{path}: the bzip2 stream at byte {offset} has {following - offset:,} bytes, more than"
                    " is held in memory; pack the dump as one stream, or as Wikimedia does, in streams of 100 pages"
                )
            handle.seek(offset)
            yield offset, handle.read(following - offset)


def unpacked(data: bytes, path: Path, offset: int) -> Iterator[bytes]:
    """The content of one whole stream, in pieces of at most `READ` bytes.

    Args:
        data: the stream's compressed bytes.
        path: its file, for the error.
        offset: where in the file it begins, for the error.

    Raises:
        TextcriticError: the stream is damaged, cut, or followed by something that is not a stream.
    """
    decompressor = bz2.BZ2Decompressor()
    while not decompressor.eof:
        piece = _decompressed(decompressor, data, path, offset)
        data = b""
        if piece:
            yield piece
        elif decompressor.needs_input and not decompressor.eof:
            raise _cut(path, offset)
    if decompressor.unused_data:
        raise _damaged(path, offset)


def decompressed(path: Path, read: int = READ) -> Iterator[tuple[bytes, int]]:
    """The content of all streams of a file in order, in pieces; with each the bytes of the file read so far.

    Raises:
        TextcriticError: a stream is damaged or cut, the line says where it begins; the file cannot be read.
    """
    offset = done = 0
    decompressor = bz2.BZ2Decompressor()
    with readable(path) as handle:
        while True:
            data = decompressor.unused_data if decompressor.eof else b""
            if not data and (decompressor.needs_input or decompressor.eof):
                data = handle.read(read)
                done += len(data)
            if decompressor.eof:
                if not data:
                    return
                offset, decompressor = done - len(data), bz2.BZ2Decompressor()
            elif not data and decompressor.needs_input:
                raise _cut(path, offset)
            if piece := _decompressed(decompressor, data, path, offset):
                yield piece, done


@contextmanager
def readable(path: Path) -> Iterator[BinaryIO]:
    """A file open for reading; an error while it is open names this file, not an output that is being written.

    Raises:
        TextcriticError: it cannot be opened or read.
    """
    try:
        with path.open("rb") as handle:
            yield handle
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error


def _starts(handle: BinaryIO, position: int, end: int, read: int) -> Iterator[int]:
    """Offsets in [position, end) where a stream begins: the mark of a beginning, right after the mark of an end."""
    base = max(position - _END_BYTES, 0)
    handle.seek(base)
    window = b""
    while base + len(window) < end + _START_BYTES and (data := handle.read(read)):
        window += data
        for match in _START.finditer(window):
            offset = base + match.start()
            if position <= offset < end and (offset == 0 or _ends_a_stream(window[: match.start()][-_END_BYTES:])):
                yield offset
                position = offset + 1
        kept = min(len(window), _END_BYTES + _START_BYTES)
        base += len(window) - kept
        window = window[-kept:]


def _ends_a_stream(tail: bytes) -> bool:
    """Whether the last bytes before a place are a stream's end: a mark of 48 bits, a checksum of 32, 0 to 7 zeros."""
    bits = int.from_bytes(tail, "big")
    return any((bits >> 32 + spare) % (1 << 48) == _END and bits % (1 << spare) == 0 for spare in range(8))


def _decompressed(decompressor: bz2.BZ2Decompressor, data: bytes, path: Path, offset: int) -> bytes:
    try:
        return decompressor.decompress(data, READ)
    except OSError as error:
        raise _damaged(path, offset) from error


def _cut(path: Path, offset: int) -> TextcriticError:
    return TextcriticError(
        f"{path}: the file ends within the bzip2 stream that begins at byte {offset}; fetch it again"
    )


def _damaged(path: Path, offset: int) -> TextcriticError:
    return TextcriticError(f"{path}: the bzip2 stream that begins at byte {offset} is damaged; fetch the file again")
