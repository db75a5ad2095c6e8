"""Streams of bzip2 files."""

import bz2
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_dump import write

from textcritic.corpora.wikipedia import bzip2
from textcritic.corpora.wikipedia.dump import OPENING
from textcritic.errors import TextcriticError

CONTENTS = [b"<head>", b"<page>" + os.urandom(3000), b"", b"x" * 100_000, os.urandom(50), b"</mediawiki>"]
PACKED = [bz2.compress(content, level) for level, content in zip([9, 1, 5, 9, 2, 9], CONTENTS, strict=True)]
STARTS = [sum(map(len, PACKED[:n])) for n in range(len(PACKED) + 1)]


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "some.bz2", b"".join(PACKED))


def content(pieces):
    return b"".join(pieces)


@pytest.mark.parametrize("read", [1, 9, 10, 11, 20, 21, 22, 1000, 1 << 20])
def test_streams_are_found_wherever_the_reads_end(path, read):
    found = list(bzip2.streams(path, 0, STARTS[-1], read))
    assert [offset for offset, _ in found] == STARTS[:-1]
    assert [data for _, data in found] == PACKED
    assert [content(bzip2.unpacked(data, path, offset)) for offset, data in found] == CONTENTS
    assert content(piece for piece, _ in bzip2.decompressed(path, read)) == b"".join(CONTENTS)


@pytest.mark.parametrize("read", [21, 1 << 20])
def test_the_next_start(path, read):
    for position in range(STARTS[-1]):
        expected = min(start for start in STARTS if start >= position)
        assert bzip2.next_start(path, position, STARTS[-1], read) == expected


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_every_padding_of_a_streams_end_is_known(tmp_path_factory, contents):
    packed = [bz2.compress(piece) for piece in contents]
    path = write(tmp_path_factory.mktemp("bz2") / "a", b"".join(packed))
    assert [data for _, data in bzip2.streams(path, 0, path.stat().st_size)] == packed


def test_a_mark_within_a_stream_is_no_start(tmp_path):
    """Ten bytes that begin a stream, but do not follow the end of one: here in what stands for a block."""
    for mark in (b"BZh91AY&SY", b"BZh9\x17rE8P\x90"):
        path = write(tmp_path / "a", PACKED[0] + b"\x00" * 11 + mark + PACKED[1])
        assert [offset for offset, _ in bzip2.streams(path, 0, path.stat().st_size)] == [0]


def test_a_stream_is_unpacked_in_pieces(path, monkeypatch):
    monkeypatch.setattr(bzip2, "READ", 1000)
    pieces = list(bzip2.unpacked(PACKED[3], path, 0))
    assert content(pieces) == CONTENTS[3]
    assert max(map(len, pieces)) == 1000


def test_a_stream_too_long_for_memory_is_refused(path, monkeypatch):
    monkeypatch.setattr(bzip2, "LONGEST_STREAM", len(PACKED[1]) - 1)
    with pytest.raises(TextcriticError, match=rf"some\.bz2: the bzip2 stream at byte {STARTS[1]} has 3,"):
        list(bzip2.streams(path, 0, STARTS[-1]))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-1], "ends within the bzip2 stream that begins at byte 7;"),
        (lambda data: data[:20], "ends within the bzip2 stream that begins at byte 7;"),
        (lambda data: data[:9] + b"?" + data[10:], "begins at byte 7 is damaged"),
        (lambda data: data[:50] + bytes([data[50] ^ 1]) + data[51:], "begins at byte 7 is damaged"),
        (lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:], "begins at byte 7 is damaged"),
        (lambda data: data + b"more", "begins at byte 7 is damaged"),
        (lambda data: data + bytes(20), "begins at byte 7 is damaged"),
    ],
)
def test_damage_names_the_file_and_the_stream(path, damage, message):
    with pytest.raises(TextcriticError, match=rf"some\.bz2: .*{message}"):
        list(bzip2.unpacked(damage(PACKED[1]), path, 7))


@pytest.mark.parametrize("read", [10, 1 << 20])
@pytest.mark.parametrize(
    ("damage", "stream"),
    [
        (lambda data: data[:-1], 5),
        (lambda data: data[: STARTS[4] + 20], 4),
        (lambda data: data[: STARTS[1] + 50] + b"????" + data[STARTS[1] + 54 :], 1),
        (lambda data: data + b"more", 6),
    ],
)
def test_damage_in_the_middle_names_the_stream(path, damage, stream, read):
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(TextcriticError, match=rf"that begins at byte {STARTS[stream]}\b"):
        list(bzip2.decompressed(path, read))


def test_what_is_packed_as_wikimedia_packs_it(tmp_path):
    def multistream(*contents):
        return bzip2.is_multistream(write(tmp_path / "a", b"".join(map(bz2.compress, contents))), OPENING)

    assert multistream(b"<mediawiki>", b"  \n <page>x</page>", b"</mediawiki>")
    assert not multistream(b"<mediawiki>\n <page>x</page></mediawiki>")
    assert not multistream(b"<mediawiki>\n <page>x</pa", b"ge></mediawiki>")
    assert not multistream(b"<mediawiki>", b"</mediawiki>")
