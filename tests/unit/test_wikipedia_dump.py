"""Dump files: packing, encoding, head, and the parts of shards."""

import bz2

import pytest
from tiny_dump import article, write

from textcritic.corpora.wikipedia import bzip2
from textcritic.corpora.wikipedia.dump import MULTISTREAM, PLAIN, SINGLE, Dump, open_dumps, parts_of
from textcritic.corpora.wikipedia.pages import Splitter
from textcritic.errors import TextcriticError
from textcritic.files import whole_file
from textcritic.rehearsal.dump import dump, head, multistream, page

PAGES = [article(number, words=8) for number in range(12)]


def content(file):
    return b"".join(piece for piece, _ in file.content(0, file.size))


@pytest.mark.parametrize(
    ("pack", "packing"),
    [
        (lambda xml: xml.encode(), PLAIN),
        (lambda xml: bz2.compress(xml.encode()), SINGLE),
        # Cut anywhere, as parallel compressors do.
        (lambda xml: bz2.compress(xml[:900].encode()) + bz2.compress(xml[900:].encode()), SINGLE),
        (lambda xml: multistream(PAGES), MULTISTREAM),
    ],
)
def test_the_packing_is_told_by_the_bytes_not_by_the_name(pack, packing, tmp_path):
    file = Dump(write(tmp_path / "dump.zip", pack(dump(PAGES))))
    assert file.packing == packing
    assert content(file) == dump(PAGES).encode()
    assert file.can_be_cut is (packing != SINGLE)


@pytest.mark.parametrize("pack", [bytes, bz2.compress])
@pytest.mark.parametrize("read", [1, 3, 1000, 1 << 20])
@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("utf-8", None),
        ("utf-8", "UTF-8"),
        ("utf-8-sig", None),
        ("utf-16", None),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("utf-32", None),
        ("utf-32-le", "UTF-32"),
        ("utf-32-be", "UTF-32"),
        ("cp1251", "windows-1251"),
        ("iso-8859-5", "ISO-8859-5"),
        ("gb18030", "GB18030"),
    ],
)
def test_every_encoding_becomes_utf_8(encoding, declared, read, pack, tmp_path):
    xml = dump([page(7, "Городъ", "Текст\n== Имя ==\nЕще")])
    if declared:
        xml = f'<?xml version="1.0" encoding="{declared}"?>\n{xml}'
    file = Dump(write(tmp_path / "dump", pack(xml.encode(encoding))))
    found = b"".join(piece for piece, _ in file.content(0, file.size, read)).decode()
    assert found.removeprefix("\ufeff") == xml
    assert file.site.dbname == "tinywiki"
    assert file.can_be_cut is (encoding.startswith("utf-8") and pack is bytes)


def test_what_is_no_character_spoils_its_page_alone(tmp_path):
    pages = [page(1, "A", "good"), page(2, "B", "bad-?"), page(3, "C", "good")]
    data = dump(pages).encode("utf-16").replace("bad-?".encode("utf-16-le"), "bad-".encode("utf-16-le") + b"\x00\xd8")
    file = Dump(write(tmp_path / "dump", data))
    found = list(Splitter().feed(content(file)))
    assert [b"\x00" in xml for xml in found] == [False, True, False]


def test_the_head_tells_the_wiki(tmp_path):
    site = Dump(write(tmp_path / "dump", dump(PAGES, schema="0.11", language="fr"))).site
    assert (site.name, site.dbname, site.generator) == ("Tiny", "tinywiki", "MediaWiki 1.0")
    assert (site.schema, site.language) == ("0.11", "fr")
    assert site.namespaces.media == {"file", "image", "fichier", "média"}
    assert site.namespaces.category == {"category", "catégorie"}
    assert {"portal", "talk", "user talk", "special"} <= site.namespaces.others
    assert "" not in site.namespaces.all


def test_a_dump_without_siteinfo_has_the_english_names(tmp_path):
    site = Dump(write(tmp_path / "dump", f"<mediawiki>{PAGES[0]}</mediawiki>")).site
    assert (site.name, site.dbname, site.schema, site.language) == ("", "", "", "")
    assert {"file", "category", "template"} <= site.namespaces.all


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty; fetch the dump again"),
        (b"\x1f\x8b\x08abc", "packed with gzip; unpack it, or pack it with bzip2"),
        (b"7z\xbc\xaf'\x1c", "packed with 7-Zip"),
        (b"PK\x03\x04abc", "packed with zip"),
        (b"<html><body>404</body></html>", "not a MediaWiki dump, which begins with <mediawiki"),
        (b"\x00\x01\x02\x03", "not a MediaWiki dump"),
        (b"BZh9 nothing", "the bzip2 stream that begins at byte 0 is damaged"),
        (bz2.compress(b"<mediawiki>")[:20], "ends within the bzip2 stream that begins at byte 0"),
        (bz2.compress(b"text"), "not a MediaWiki dump"),
        (b'<?xml version="1.0" encoding="klingon"?><mediawiki>', "the encoding 'klingon' is unknown"),
        (b'<?xml version="1.0" encoding="base64"?><mediawiki>', "the encoding 'base64' is unknown"),
        (head().replace("</sitename>", "").encode(), "<siteinfo> is not well-formed XML"),
    ],
)
def test_what_is_no_dump_is_refused(data, message, tmp_path):
    with pytest.raises(TextcriticError, match=f"dump: .*{message}"):
        assert Dump(write(tmp_path / "dump", data)).site


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(TextcriticError, match=r"nowhere\.bz2: no such file"):
        Dump(tmp_path / "nowhere.bz2")
    with pytest.raises(TextcriticError, match="cannot be read: Is a directory"):
        Dump(tmp_path)


def test_files_of_two_wikis_are_refused(tmp_path):
    one, two = (write(tmp_path / name, dump(PAGES, dbname=name)) for name in ("onewiki", "twowiki"))
    with pytest.raises(TextcriticError, match=r"twowiki: comes from the wiki 'twowiki', but .*onewiki from 'onewiki'"):
        open_dumps([one, two])


@pytest.mark.parametrize("shards", [1, 2, 3, 4, 5, 50, 5000])
@pytest.mark.parametrize("packed", [False, True])
def test_the_parts_of_all_shards_are_the_dump(shards, packed, tmp_path):
    """Three files, of which the second cannot be cut."""
    inner = multistream(PAGES) if packed else dump(PAGES).encode()
    contents = [inner, bz2.compress(dump(PAGES).encode()), inner]
    dumps = open_dumps([write(tmp_path / str(n), data) for n, data in enumerate(contents)])
    parts = [part for shard in range(shards) for part in parts_of(dumps, shard, shards)]
    for file, data in zip(dumps, contents, strict=True):
        edges = [(part.start, part.end) for part in parts if part.dump is file]
        assert [0, *(end for _, end in edges)] == [*(start for start, _ in edges), len(data)]
        assert all(data.startswith(b"BZh" if file.packing == MULTISTREAM else b"<page>", at) for at, _ in edges[1:])
    assert [dumps.index(part.dump) for part in parts] == sorted(dumps.index(part.dump) for part in parts)
    if shards == 3:
        assert len(parts) >= 4


def test_a_cut_is_found_wherever_the_reads_end(tmp_path, monkeypatch):
    data = dump(PAGES[:3]).encode()
    file = Dump(write(tmp_path / "dump", data))
    monkeypatch.setattr(bzip2, "READ", 7)
    for position in range(len(data)):
        start = 0 if position == 0 else data.find(b"<page>", position)
        assert file.part(position, len(data)).start == (start if start >= 0 else len(data))


def test_a_dump_that_is_packed_but_empty(tmp_path):
    with pytest.raises(TextcriticError, match=r"dump.bz2: the file is empty once unpacked; fetch the dump again"):
        Dump(write(tmp_path / "dump.bz2", bz2.compress(b"")))


def test_a_dump_that_cannot_be_read_is_not_taken_for_output_that_cannot_be_written(tmp_path):
    file = Dump(write(tmp_path / "dump", dump(PAGES)))
    file.path.unlink()
    file.path.mkdir()  # as good a fault as a broken disk
    readers = (
        lambda: file.content(0, 9),
        lambda: bzip2.decompressed(file.path),
        lambda: bzip2.streams(file.path, 0, 9),
    )
    for pieces in readers:
        with pytest.raises(TextcriticError, match=r"/dump: cannot be read: Is a directory"), whole_file(tmp_path / "x"):
            list(pieces())
