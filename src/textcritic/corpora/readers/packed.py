"""Files as they are: plain, or packed by gzip, bzip2, xz or zstd, which their first bytes say and not their names."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from textcritic.errors import TextcriticError

SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zstd")
MAGIC = 512  # bytes that are looked at; those of a tar archive have its mark at 257
BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError)


def _zstd(handle: IO[bytes]) -> IO[bytes]:
    return io.BufferedReader(_Whole(pa.CompressedInputStream(pa.PythonFile(handle, "r"), "zstd")))


class _Whole(io.RawIOBase):
    """A stream of Arrow as one of Python, whose faults are `EOFError`."""

    def __init__(self, stream: pa.CompressedInputStream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            part: bytes = self._stream.read(len(buffer))
        except (pa.ArrowException, OSError) as error:
            raise EOFError(str(error)) from error
        buffer[: len(part)] = part
        return len(part)


PACKERS: dict[bytes, tuple[str, Callable[[Any], Any]]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ\x00": ("xz", lzma.open),
    b"\x28\xb5\x2f\xfd": ("zstd", _zstd),
}
# What a file begins with that is no text, and what should be done.
OTHERS = {
    b"PK\x03\x04": "a zip archive, or a workbook or document made of one; unpack it, or save it as CSV or text",
    b"PK\x05\x06": "an empty zip archive",
    b"%PDF": "a PDF; save its text",
    b"\xd0\xcf\x11\xe0": "a file of Office; save it as CSV or text",
    b"PAR1": "Parquet; call it .parquet",
    b"ARROW1": "Arrow; call it .arrow",
    b"SQLite format 3": "a database of SQLite; export a table as CSV",
    b"7z\xbc\xaf": "a 7z archive; unpack it",
    b"Rar!": "a rar archive; unpack it",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\x80\x04": "a pickle of Python, which may run code; write JSON lines",
    b"\x93NUMPY": "an array of numpy; write JSON lines",
    b"\xff\xfe": "UTF-16; save the file as UTF-8",
    b"\xfe\xff": "UTF-16; save the file as UTF-8",
}


def unpacked(path: Path) -> tuple[IO[bytes], str]:
    """Open a file for reading, and say how it is packed ("" if it is not). A pipe is read once only.

    Raises:
        TextcriticError: what is in it is no text, by its first bytes; the line says what it is.
        OSError: it cannot be opened.
    """
    handle = path.open("rb")
    packed = ""
    try:
        for magic, (name, opened) in PACKERS.items():
            if handle.peek(len(magic)).startswith(magic):
                handle, packed = opened(handle), name
                break
        first = handle.peek(MAGIC)[:MAGIC]
    except BROKEN:
        return handle, packed  # who reads it meets the fault again
    inside = f", packed by {packed}" * bool(packed)
    if packed and (again := next((name for magic, (name, _) in PACKERS.items() if first.startswith(magic)), "")):
        raise TextcriticError(f"{path}: packed twice, by {packed} and {again}; unpack it once")
    if first[257:262] == b"ustar":
        raise TextcriticError(f"{path}: a tar archive{inside}; unpack it and name the file that is meant")
    if what := next((words for magic, words in OTHERS.items() if first.startswith(magic)), ""):
        raise TextcriticError(f"{path}: {what}{inside}")
    return handle, packed


def plain_suffix(name: str) -> str:
    """A file's name in lower case without the suffix of how it is packed."""
    lowered = name.lower()
    return next((lowered[: -len(end)] for end in SUFFIXES if lowered.endswith(end)), lowered)
