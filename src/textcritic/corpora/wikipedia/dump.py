"""Dump files: packing, encoding, the wiki they come from, their content as UTF-8, and how they are cut into shards."""

import codecs
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from textcritic.corpora.wikipedia import bzip2
from textcritic.corpora.wikipedia.namespaces import Namespaces, namespaces_of
from textcritic.errors import TextcriticError

PLAIN, SINGLE, MULTISTREAM = "plain", "bzip2", "multistream bzip2"
OPENING = re.compile(rb"<page(?=[>\s/])")
"""The beginning of a page, which may have attributes. Text cannot contain it: a dump writes `<` in text as `&lt;`."""
LONGEST_OPENING = len(b"<page>")
"""Bytes that `OPENING` looks at."""

_HEAD_BYTES = 1 << 20  # siteinfo ends within so many
_OTHERS = {
    b"\x1f\x8b": "gzip",
    b"7z\xbc\xaf": "7-Zip",
    b"\xfd7zXZ": "xz",
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "Zstandard",
}
# Encodings by the byte-order mark, or by `<` if there is none; UTF-32 first, because it begins like UTF-16.
_MARKS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"<\x00\x00\x00": "utf-32-le",
    b"\x00\x00\x00<": "utf-32-be",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"<\x00": "utf-16-le",
    b"\x00<": "utf-16-be",
    codecs.BOM_UTF8: "utf-8",
}
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]+)["']""")


def _illegal(error: UnicodeError) -> tuple[str, int]:
    """Replaces bytes that do not decode by a character that is not allowed in XML, so that only their page is lost."""
    assert isinstance(error, UnicodeDecodeError)
    return "\x00", error.end


codecs.register_error("textcritic-illegal", _illegal)


class Part(NamedTuple):
    """The bytes [start, end) of a file that belong to a shard: the pages, or the streams, that begin there."""

    dump: "Dump"
    start: int
    end: int


@dataclass(frozen=True)
class Site:
    """What the head of a dump says about its wiki; empty where it says nothing."""

    name: str
    dbname: str
    generator: str
    schema: str
    language: str
    namespaces: Namespaces


class Dump:
    """One file of a dump.

    Raises:
        TextcriticError: it is missing, empty, packed in another way, in an unknown encoding, or not a dump.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.size = path.stat().st_size
            with path.open("rb") as handle:
                start = handle.read(bzip2.READ)
        except FileNotFoundError as error:
            raise TextcriticError(f"{path}: no such file") from error
        except OSError as error:
            raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error
        if not start:
            raise TextcriticError(f"{path}: the file is empty; fetch the dump again")
        if packing := next((name for mark, name in _OTHERS.items() if start.startswith(mark)), None):
            raise TextcriticError(f"{path}: packed with {packing}; unpack it, or pack it with bzip2")
        self.packing = PLAIN
        if start.startswith(b"BZh"):
            multistream = bzip2.is_multistream(path, OPENING)
            self.packing = MULTISTREAM if multistream else SINGLE
            start = next(bzip2.decompressed(path), (b"", 0))[0]
            if not start:
                raise TextcriticError(f"{path}: the file is empty once unpacked; fetch the dump again")
        self.encoding = _encoding(start, path)
        if self.encoding != "utf-8" and self.packing == MULTISTREAM:
            self.packing = SINGLE
        self._head = start if self.encoding == "utf-8" and _has_head(start) else self._read_head()
        if not re.match(
            rb"(?:\xef\xbb\xbf)?\s*(<\?xml[^>]*>)?\s*(<!--.*?-->\s*)*<mediawiki[\s>]", self._head, re.DOTALL
        ):
            raise TextcriticError(f"{path}: not a MediaWiki dump, which begins with <mediawiki ...>")

    @property
    def can_be_cut(self) -> bool:
        """Whether a shard can start within the file."""
        return self.packing == MULTISTREAM or (self.packing == PLAIN and self.encoding == "utf-8")

    @cached_property
    def site(self) -> Site:
        """The wiki, from the head of the file; raises TextcriticError if that is not XML."""
        root = re.search(rb"<mediawiki[^>]*>", self._head)
        attributes = dict(re.findall(r'([\w:]+)="([^"]*)"', root.group().decode("utf-8", "replace") if root else ""))
        siteinfo = re.search(rb"<siteinfo>.*?</siteinfo>", self._head, re.DOTALL)
        try:
            info = ET.fromstring(siteinfo.group() if siteinfo else b"<siteinfo/>")
        except ET.ParseError as error:
            raise TextcriticError(
                f"{self.path}: <siteinfo> is not well-formed XML ({error}); fetch the dump again"
            ) from error
        names = [(space.get("key", ""), space.text or "") for space in info.iter("namespace")]
        name, dbname, generator = (info.findtext(key, "") for key in ("sitename", "dbname", "generator"))
        language = attributes.get("xml:lang", "")
        spaces = namespaces_of(language, names)
        return Site(name, dbname, generator, attributes.get("version", ""), language, spaces)

    def part(self, first: int, last: int) -> Part:
        """The part of the file within bytes [first, last), counted from its beginning; they may lie outside it."""
        if not self.can_be_cut:
            return Part(self, 0, self.size if first <= 0 < last else 0)
        return Part(self, self._next_cut(max(first, 0)), self._next_cut(max(last, 0)))

    def content(self, start: int, end: int, read: int = bzip2.READ) -> Iterator[tuple[bytes, int]]:
        """The content of bytes [start, end) as UTF-8, in pieces, each with the position of the reader in the file."""
        raw = bzip2.decompressed(self.path, read) if self.packing != PLAIN else self._plain(start, end, read)
        if self.encoding == "utf-8":
            yield from raw
            return
        decoder = codecs.getincrementaldecoder(self.encoding)("textcritic-illegal")
        for data, position in raw:
            yield decoder.decode(data).encode(), position
        yield decoder.decode(b"", final=True).encode(), end

    def _read_head(self) -> bytes:
        head = b""
        for piece, _ in self.content(0, self.size):
            head += piece
            if _has_head(head) or len(head) > _HEAD_BYTES:
                break
        return head

    def _plain(self, start: int, end: int, read: int) -> Iterator[tuple[bytes, int]]:
        with bzip2.readable(self.path) as handle:
            handle.seek(start)
            while start < end and (data := handle.read(min(read, end - start))):
                start += len(data)
                yield data, start

    def _next_cut(self, position: int) -> int:
        """The first place at or after `position` where the file can be cut; the end of the file if there is none."""
        if position == 0 or position >= self.size:
            return min(position, self.size)
        if self.packing == MULTISTREAM:
            return bzip2.next_start(self.path, position, self.size)
        before = b""
        for data, end in self._plain(position, self.size, bzip2.READ):
            window = before + data
            if place := OPENING.search(window):
                return end - len(window) + place.start()
            before = window[1 - LONGEST_OPENING :]
        return self.size


def open_dumps(paths: Sequence[str | os.PathLike[str]]) -> list[Dump]:
    """The files of one dump, in the order given.

    Raises:
        TextcriticError: one is not a dump (see `Dump`), or of another wiki than the first: ids are unique in one wiki.
    """
    dumps = [Dump(Path(path)) for path in paths]
    for dump in dumps[1:]:
        if (dump.site.dbname, dump.site.name) != (dumps[0].site.dbname, dumps[0].site.name):
            raise TextcriticError(
                f"{dump.path}: comes from the wiki {dump.site.dbname or dump.site.name!r}, but {dumps[0].path} from"
                f" {dumps[0].site.dbname or dumps[0].site.name!r}; make a corpus of each"
            )
    return dumps


def parts_of(dumps: Sequence[Dump], shard: int, shards: int) -> list[Part]:
    """The parts of shard `shard` of `shards`: an equal range of the bytes of all files, moved on to the next cut.

    Files that cannot be cut (bzip2 in one stream, or in streams that cut pages; encodings other than UTF-8) belong to
    the shard in whose range they begin. The parts of all shards, in order, are the whole dump.
    """
    total = sum(dump.size for dump in dumps)
    first, last = (total * number // shards for number in (shard, shard + 1))
    parts = []
    for dump in dumps:
        parts.append(dump.part(first, last))
        first, last = first - dump.size, last - dump.size
    return [part for part in parts if part.start < part.end]


def _has_head(start: bytes) -> bool:
    return b"</siteinfo>" in start or OPENING.search(start) is not None


def _encoding(start: bytes, path: Path) -> str:
    """Python's name of the encoding: from the byte-order mark, the XML declaration, or the default of XML."""
    if marked := next((name for mark, name in _MARKS.items() if start.startswith(mark)), None):
        return marked
    declared = _DECLARED.match(start)
    name = declared[1].decode() if declared else "utf-8"
    try:
        name = codecs.lookup(name).name
        "<".encode(name)
    except (LookupError, UnicodeError) as error:
        raise TextcriticError(f"{path}: the encoding {name!r} is unknown; save the dump as UTF-8") from error
    return "utf-8" if name == "ascii" else name
