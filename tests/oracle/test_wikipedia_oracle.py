"""Headings and text of real dumps against an independent line scanner, mwparserfromhell's tree, and gensim."""

import bz2
import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from xml.etree import ElementTree

import mwparserfromhell
import pytest
from gensim.corpora.wikicorpus import filter_wiki
from gensim.scripts.segment_wiki import extract_page_xmls, segment
from mwparserfromhell.nodes import ExternalLink, Heading, Wikilink
from samples import LARGE, SMALL, of_large

from textcritic.corpora.wikipedia.gaps import GAP
from textcritic.corpora.wikipedia.links import linked_text, without_files
from textcritic.corpora.wikipedia.markup import visible
from textcritic.corpora.wikipedia.wikitext import MWPARSERFROMHELL, Namespaces, Reading, sections_of

BULGARIAN, ITALIAN, AFAR = "edge-utf16-bgwiki", "edge-schema-0.5", "edge-schema-0.11-aawiki"

RESIDUE = ("[[", "]]", "{{", "}}", "<ref", "{|", "|-", "\n\n", "\x01", "\x02", "\x03", "\x04")
HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<(ref|nowiki|pre|math|gallery|source|syntaxhighlight|timeline)\b[^>]*?(?:/>|>.*?</\1\s*>)", re.S
)
TEMPLATE = re.compile(r"\{\{(?:(?!\{\{|\}\}).)*\}\}", re.S)
HEADING = re.compile(r"^(={1,6})[ \t]*(.+?)[ \t]*\1[ \t]*$", re.M)


def pages_of(path):
    """(title, is article, wikitext) of each page, and the namespaces as the dump names them."""
    root = ElementTree.fromstring(bz2.decompress(path.read_bytes()))
    names = {int(e.get("key")): (e.text or "").lower() for e in root.iter() if e.tag.endswith("}namespace")}
    media = {"file", "image", "media", names.pop(6), names.pop(-2)}
    namespaces = Namespaces(
        frozenset(media), frozenset({"category", names.pop(14)}), frozenset(name for name in names.values() if name)
    )
    pages = []
    for page in root.iterfind("{*}page"):
        article = page.findtext("{*}ns", "0") == "0" and page.find("{*}redirect") is None
        pages.append((page.findtext("{*}title"), article, page.findtext("{*}revision/{*}text") or ""))
    return pages, namespaces


@dataclass(frozen=True)
class Expected:
    """Of a sample: how many articles, headings (those of one letter, and with a space after them, apart), and text."""

    articles: int
    headings: int
    plain: int
    one_letter: int
    space_after: int
    agreed: int  # with gensim
    characters: int
    words: int


SMALL_SAMPLE = Expected(66, 472, 451, 20, 1, 450, 100_000, 10_000)
LARGE_SAMPLE = Expected(128, 1252, 1231, 20, 1, 1229, 3_300_000, 300_000)


@dataclass(frozen=True)
class English:
    """A sample's dump, title to (wikitext, sections) of its articles, and what is to be found in them."""

    dump: Path
    articles: dict
    expected: Expected


@pytest.fixture(
    scope="module", params=[pytest.param((SMALL, SMALL_SAMPLE), id="small"), of_large((LARGE, LARGE_SAMPLE))]
)
def english(request):
    folder, expected = request.param
    dump = folder / "wikipedia/enwiki-sample.xml.bz2"
    pages, namespaces = pages_of(dump)
    articles = {title: (text, sections_of(text, namespaces)) for title, article, text in pages if article}
    return English(dump, articles, expected)


def shown_headings(wikitext):
    """Level-2 headings, markup and all: what the line scanner finds once all that hides a line is blanked."""
    text, count = HIDDEN.sub(lambda hidden: "" if hidden[0].startswith("<!--") else "\0", wikitext), 1
    while count:
        text, count = TEMPLATE.subn("\0", text)
    return [title for marks, title in HEADING.findall(text) if marks == "=="]


def test_every_heading_of_the_english_sample_and_no_other(english):
    expected = english.expected
    assert len(english.articles) == expected.articles
    counts = Counter()
    for text, sections in english.articles.values():
        scanned = shown_headings(text)
        nodes = mwparserfromhell.parse(text, skip_style_tags=True).nodes
        parsed = [node for node in nodes if isinstance(node, Heading) and node.level == 2]
        assert len(sections) - 1 == len(scanned) == len(parsed)
        plain = [title for title in scanned if not re.search(r"[\0&'\[<]", title)]
        assert [section.title for section in sections[1:] if section.title in plain] == plain
        counts["headings"] += len(scanned)
        # The large sample's figure of 1,231 is by the expression "\n==[^=].*[^=]==\n" on text without comments: it
        # misses twenty headings of one letter, "==A==" (List of anthropologists), and a heading with a space after it.
        commentless = re.sub(r"<!--.*?-->", "", text, flags=re.S)
        counts["1,231"] += len(re.findall(r"^==[^=].*[^=]==$", commentless, re.M))
        counts["one letter"] += len(re.findall(r"^==[^=]==$", commentless, re.M))
        counts["space after"] += len(re.findall(r"^==[^=].*[^=]==[ \t]+$", commentless, re.M))
    assert counts == {
        "headings": expected.headings,
        "1,231": expected.plain,
        "one letter": expected.one_letter,
        "space after": expected.space_after,
    }


def test_no_markup_is_left_in_the_english_sample(english):
    left = Counter(
        mark
        for _, sections in english.articles.values()
        for section in sections
        for mark in RESIDUE
        if mark in f"{section.title}\f{section.text}".lower()
    )
    assert left == {}
    characters = sum(len(section.text) for _, sections in english.articles.values() for section in sections)
    assert characters > english.expected.characters


def test_headings_agree_with_gensim(english):
    agreed, theirs, ours = 0, 0, 0
    with bz2.open(english.dump) as dump:
        segmented = dict(segment(page) for page in extract_page_xmls(dump))
    for title, (_, sections) in english.articles.items():
        found = [" ".join(filter_wiki(heading).replace("\xa0", " ").split()) for heading, _ in segmented[title][1:]]
        titles = [section.title for section in sections[1:]]
        blocks = SequenceMatcher(None, found, [title.replace("''", "") for title in titles], autojunk=False)
        agreed += sum(block.size for block in blocks.get_matching_blocks())
        theirs, ours = theirs + len(found), ours + len(titles)
    # gensim's (1,229 of the large sample) are all there, in order; of that it misses 20 of one letter, 2 before a
    # comment, 1 before a space
    assert (agreed, theirs, ours) == (english.expected.agreed, english.expected.agreed, english.expected.headings)
    assert agreed / (ours - english.expected.one_letter) >= 0.98


def test_the_text_that_gensim_keeps_is_kept(english):
    """Of the prose lines of gensim, outside tables and captions, at least 99% of the words are in the section too."""
    kept, words = 0, 0
    for text, sections in english.articles.values():
        ours = Counter(re.findall(r"\w+", " ".join(f"{section.title} {section.text}" for section in sections)))
        prose = re.sub(r"^(?![A-Z]).*$|\[\[(?:File|Image):.*$|<gallery.*?</gallery>", "", text, flags=re.M)
        theirs = Counter(re.findall(r"\w+", filter_wiki(re.sub(r"<ref[^>]*/>|<ref.*?</ref>", "", prose))))
        kept, words = kept + (ours & theirs).total(), words + theirs.total()
    assert words > english.expected.words
    assert kept / words >= 0.99


def seen_by_mwparserfromhell(nodes):
    """The text of links in a line as its parser reads them: files and categories left out."""
    shown = ""
    for node in nodes:
        if isinstance(node, Wikilink):
            prefix, colon, _ = str(node.title).partition(":")
            if not (colon and prefix.strip().lower() in ("file", "image", "category")):
                shown += str(node.title) if node.text is None else seen_by_mwparserfromhell(node.text.nodes)
        elif isinstance(node, ExternalLink) and node.brackets:
            shown += seen_by_mwparserfromhell(node.title.nodes) if node.title else ""
        else:
            shown += str(node)
    return shown


def test_links_show_what_mwparserfromhell_reads(english):
    """In each line of each article, templates and references aside."""
    spaces = Namespaces(frozenset({"file", "image"}), frozenset({"category"}), frozenset())
    compared = 0
    for text, _ in english.articles.values():
        for line in visible(text).split("\n"):
            prefixes = re.findall(r"\[\[ *([^\[\]|:]*):", line)
            common = all(prefix.lower() in ("file", "image", "category") for prefix in prefixes)
            if "[" not in line or line.startswith("|") or not common or re.search(r"\|\]\]|[{}<]|''", line):
                continue
            if line.count("[[") != line.count("]]"):
                continue
            nodes = mwparserfromhell.parse(line, skip_style_tags=True).nodes
            shown = linked_text(without_files(line, spaces), spaces)
            expected = seen_by_mwparserfromhell(nodes)
            # without spaces: of two after an address the parser keeps one
            assert "".join(shown.replace(GAP, "").split()) == "".join(expected.replace(GAP, "").split())
            compared += 1
    assert compared > english.expected.articles * 10


@pytest.mark.parametrize(
    ("folder", "name", "pages", "headings"),
    [
        pytest.param(SMALL, BULGARIAN, 3, {"Григориански календар": 5}, id="bg"),
        pytest.param(SMALL, ITALIAN, 3, {"Armonium": 6, "Antropologia": 9, "Agricoltura": 5}, id="it"),
        pytest.param(SMALL, AFAR, 66, {"Main Page": 0}, id="aa"),
        of_large(LARGE, AFAR, 507, {"Main Page": 0}, id="large-aa"),
    ],
)
def test_other_languages_and_kinds_of_pages(folder, name, pages, headings):
    found, namespaces = pages_of(folder / f"wikipedia/{name}.xml.bz2")
    assert len(found) == pages
    for title, article, text in found:
        sections = sections_of(text, namespaces)
        assert len(sections) - 1 == len(shown_headings(text)), title
        assert not [mark for section in sections for mark in RESIDUE if mark in section.text], title
        if article:
            assert len(sections) - 1 == headings[title]


def test_the_library_as_parser_gives_the_same_articles(english):
    """But for quotes beside links, whose brackets are gone when quotes are read, and a space after an address."""
    library = Reading(parser=MWPARSERFROMHELL)
    pages, namespaces = pages_of(english.dump)
    differing = []
    for title, article, text in pages:
        if article:
            ours, theirs = english.articles[title][1], sections_of(text, namespaces, reading=library)
            assert [section.title for section in ours] == [section.title for section in theirs], title
            if ours != theirs:
                differing.append(title)
                words = [Counter(re.findall(r"\w+", " ".join(s.text for s in found))) for found in (ours, theirs)]
                assert words[0] == words[1], title
    assert set(differing) <= {"Angola", "Art"}
