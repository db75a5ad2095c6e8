"""Pages cut out of bytes, and read."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_dump import article

from textcritic.corpora.wikipedia import pages
from textcritic.corpora.wikipedia.pages import Page, Reason, Splitter, read_page
from textcritic.rehearsal.dump import dump, page


def cut(data, size):
    """Pages, counts and end state of a splitter fed `size` bytes at a time."""
    splitter = Splitter()
    found = [p for n in range(0, len(data), size) for p in splitter.feed(data[n : n + size])]
    return found, splitter.skipped(), splitter.within, splitter.closed


@pytest.mark.parametrize("size", [1, 2, 5, 6, 7, 11, 12, 13, 100, 10_000])
def test_pages_do_not_depend_on_the_size_of_the_pieces(size):
    texts = [article(1), page(2, "b", ""), page(3, "c", None), article(4)]
    found, skipped, within, closed = cut(dump(texts).encode(), size)
    assert found == [text.strip().encode() for text in texts]
    assert not skipped
    assert (within, closed) == (False, True)


@given(
    st.lists(
        st.sampled_from(["<page>", "</page>", "<", "page", ">", "x", "</mediawiki>", "<page/>", " ", "/"]), max_size=30
    ),
    st.integers(1, 9),
)
@settings(max_examples=300, deadline=None)
def test_any_order_of_tags_is_cut_alike_in_one_piece_and_in_many(tags, size):
    data = "".join(tags).encode()
    whole = cut(data, len(data) + 1)
    assert cut(data, size) == whole
    # Every page that begins either ends, or is counted, or is open at the end.
    found, skipped, within, _ = whole
    assert len(re.findall(rb"<page(?=[>\s/])", data)) == len(found) + skipped.total() + within
    assert all(re.match(rb"<page[>\s/]", p) and p.endswith(b"</page>") for p in found)


@pytest.mark.parametrize("size", [7, 64, 10_000])
def test_a_large_page_is_counted_and_never_held(size, monkeypatch):
    monkeypatch.setattr(pages, "LARGEST_PAGE", 1000)
    texts = [article(1, words=5), page(2, "large", "x" * 5000), article(3, words=5)]
    data = dump(texts).encode()
    splitter, found, most = Splitter(), [], 0
    for n in range(0, len(data), size):
        found += splitter.feed(data[n : n + size])
        most = max(most, len(splitter._rest))
    assert found == [texts[0].strip().encode(), texts[2].strip().encode()]
    assert splitter.skipped() == {Reason.TOO_LARGE: 1}
    assert not splitter.skipped()
    assert most <= 1000
    assert splitter.closed


def test_a_page_without_end_costs_that_page_only():
    first, second, third = article(1), article(2), article(3)
    data = dump([first, second.replace("</page>", ""), third]).encode()
    found, skipped, within, closed = cut(data, 50)
    assert found == [first.strip().encode(), third.strip().encode()]
    assert skipped == {Reason.NOT_XML: 1}
    assert (within, closed) == (False, True)


@pytest.mark.parametrize("size", [1, 6, 10_000])
@pytest.mark.parametrize("empty", ["<page/>", "<page />", '<page id="3"/>'])
def test_a_page_that_is_an_empty_tag_is_counted(empty, size):
    first, second = article(1), article(2)
    found, skipped, within, closed = cut(dump([first, f"  {empty}\n", second]).encode(), size)
    assert found == [first.strip().encode(), second.strip().encode()]
    assert skipped == {Reason.NO_ID: 1}
    assert (within, closed) == (False, True)


def test_pages_that_cdata_breaks_are_counted_and_others_with_cdata_are_read():
    whole = page(1, "A", "x").replace(">x<", "><![CDATA[a < b]]><")
    assert read_page(whole.encode()).text == "a < b"
    closing, opening = (page(2, "B", "x").replace(">x<", f"><![CDATA[{tag}]]><") for tag in ("</page>", "<page>"))
    for broken in (closing, opening):
        found, skipped, within, closed = cut(dump([broken, article(4)]).encode(), 50)
        read = [read_page(xml) for xml in found]
        assert read.pop().title == "Article 4"
        assert read == [Reason.NOT_XML]
        assert skipped.total() == (broken is opening)
        assert (within, closed) == (False, True)


def test_the_state_at_the_end_tells_a_dump_that_was_cut():
    data = dump([article(1), article(2)]).encode()
    states = {cut(data[:n], 17)[2:] for n in range(data.index(b"<page>") + 6, len(data))}
    assert states == {(True, False), (False, False), (False, True)}
    assert cut(data[: data.index(b"</mediawiki>") + 11], 17)[3] is False
    assert cut(data[: data.index(b"</mediawiki>") + 12], 17)[3] is True


def test_a_page_is_read():
    text = 'a < b & "c"\n\n== d ==\té語😀'
    assert read_page(page(12, "A & B", text).encode()) == Page("12", "A & B", 0, False, True, False, text)


def test_what_old_schemas_lack_is_not_missed():
    found = read_page(page(1, "A", "x", space=None, model="").encode())
    assert found == Page("1", "A", None, False, True, False, "x")


def test_the_last_of_several_revisions_counts():
    xml = page(1, "A", "old").replace("</page>", "<revision><id>3</id><text>new</text></revision></page>")
    assert read_page(xml.encode()).text == "new"


def test_the_main_slot_of_schema_0_11_is_the_text():
    xml = page(1, "A", "main").replace(
        "</revision>", "<content><role>other</role><model>json</model><text>{}</text></content></revision>"
    )
    found = read_page(xml.encode())
    assert (found.text, found.wikitext) == ("main", True)


@pytest.mark.parametrize(
    ("change", "attribute", "value"),
    [
        ({"more": '<redirect title="B" />'}, "redirect", True),
        ({"model": "<model>css</model><format>text/css</format>"}, "wikitext", False),
        ({"model": "<model>wikitext</model><format>text/plain</format>"}, "wikitext", False),
        ({"text": None}, "text", ""),
        ({"text": None, "text_attributes": ' deleted="deleted"'}, "deleted", True),
        ({"space": -1}, "namespace", -1),
        ({"space": 2600}, "namespace", 2600),
    ],
)
def test_what_a_page_says_of_itself(change, attribute, value):
    found = read_page(page(**{"number": 1, "title": "A", "text": "x", **change}).encode())
    assert getattr(found, attribute) == value


@pytest.mark.parametrize(
    "damage",
    [
        lambda xml: xml.replace(b"text here", b"text \x0b here"),
        lambda xml: xml.replace(b"text here", b"text \xff here"),
        lambda xml: xml.replace(b"text here", b"text \xed\xa0\x80 here"),
        lambda xml: xml.replace(b"text here", b"text &#xD800; here"),
        lambda xml: xml.replace(b"text here", b"text &nbsp; here"),
        lambda xml: xml.replace(b"</revision>", b""),
        lambda xml: xml.replace(b"<page>", b'<page><!DOCTYPE x [<!ENTITY e "eee">]>'),
        lambda xml: b"<page>" + b"<a>" * 100_000 + b"</page>",
    ],
)
def test_damage_is_not_well_formed(damage):
    assert read_page(damage(page(1, "A", "text here").encode())) is Reason.NOT_XML


@pytest.mark.parametrize("number", ["", "x", "-1", "1.5", "٣"])
def test_a_page_needs_a_number_and_a_title(number):
    assert read_page(page(number, "A", "x").encode()) is Reason.NO_ID
    assert read_page(page(1, " ", "x").encode()) is Reason.NO_ID
