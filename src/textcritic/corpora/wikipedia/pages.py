"""Pages of a dump: cut out of its bytes, read one at a time, and made into articles or left out."""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from xml.parsers import expat

from textcritic.corpora.articles import Article
from textcritic.corpora.wikipedia.dump import OPENING, Site
from textcritic.corpora.wikipedia.mwparser import NotParsed
from textcritic.corpora.wikipedia.namespaces import normal
from textcritic.corpora.wikipedia.variants import converted_language
from textcritic.corpora.wikipedia.wikitext import Reading, is_disambiguation, sections_of
from textcritic.errors import TextcriticError
from textcritic.plan.checks.corpora import titles_to_skip
from textcritic.plan.entries.extraction import CorpusOptions

NUMBERED = "numbered"
"""Value of the option `formulas` that shows them."""
SHOWN = "shown"
"""Likewise of the option `templates`."""
LARGEST_TEXT = 2 << 20
"""Bytes of UTF-8; MediaWiki's own limit on an article."""
LARGEST_PAGE = 8 << 20
"""Bytes of XML, in which `<` takes four bytes and a quotation mark six."""
_CLOSING, _END = b"</page>", b"</mediawiki>"
_EMPTY = re.compile(rb"<page(?:\s[^<>]*)?/>")
_ATTRIBUTES = re.compile(rb"<page\s[^<>]*>")
_KEPT = len(_END) - 1  # bytes that may begin a tag

# `#REDIRECT [[...]]` in any language, followed by nothing but templates and categories. Dumps mark redirects by an
# element of their own; this is for dumps that do not have it.
_REDIRECT = re.compile(
    r"\s*#[^\s\[\]#*:;{}|<>]+\s*:?\s*\[\[[^\[\]\n]*\]\]"
    r"(?>(?:[^\S\n]|\{\{[^{}\n]*\}\}|\[\[[^\[\]\n:]+:[^\[\]\n]*\]\])*)(?:\n|\Z)"
)
_DISAMBIGUATION = re.compile(r".*\(disambiguation\)", re.IGNORECASE)


class Reason(StrEnum):
    """Why a page gives no article."""

    TOO_LARGE = "too large"
    NOT_XML = "not well-formed XML"
    NO_ID = "without title or number"
    NAMESPACE = "in another namespace"
    REDIRECT = "a redirect"
    NOT_WIKITEXT = "not wikitext"
    DELETED = "text deleted"
    NO_TEXT = "without text"
    TITLE = "a title of skip_titles"
    DISAMBIGUATION = "a disambiguation page"
    NO_SECTIONS = "without sections"
    NOT_PARSED = "not parsed by mwparserfromhell"
    DUPLICATE = "an id seen before"


@dataclass(frozen=True, slots=True)
class Page:
    """A page's last revision; `namespace` is None where the dump has none (schema 0.5), `text` empty where missing."""

    id: str
    title: str
    namespace: int | None
    redirect: bool
    wikitext: bool
    deleted: bool
    text: str


class Choice:
    """Decides which pages are articles, by the options of a registry entry, and makes the articles.

    Args:
        options: `disambiguation_templates`, `skip_titles` and `namespace_aliases` say which pages are articles;
            `parser`, `variant`, `formulas` and `templates` how these are read.
        site: the wiki, for its namespaces.
        source: `source` of the articles.

    Raises:
        TextcriticError: a title to skip is not a regular expression; the wiki has no such variant.
    """

    notes = "mended"
    """What the counter that `articles` takes is called in the report."""
    rows = 64
    """Articles of a row group: memory holds so many."""

    def __init__(self, options: CorpusOptions, site: Site, source: str) -> None:
        self._templates = frozenset(name.lower().replace("_", " ") for name in options.disambiguation_templates)
        self._titles = titles_to_skip(options.skip_titles)
        self.namespaces = site.namespaces.more(options.namespace_aliases.plain())
        self.reading = _reading(options, site)
        self.source = source

    def articles(self, xml: bytes, mended: Counter[str]) -> list[Article] | Reason:
        """The article of one `<page>` element, UTF-8, the introduction as its first section; or why there is none.

        `mended` counts headings, see `wikitext.sections_of`.
        """
        page = self.page(xml)
        if isinstance(page, Reason):
            return page
        # Without `==` there is no heading; most articles of a large wiki are such stubs.
        try:
            sections = sections_of(page.text, self.namespaces, mended, self.reading) if "==" in page.text else []
        except NotParsed:
            return Reason.NOT_PARSED
        if len(sections) < 2:
            return Reason.NO_SECTIONS
        return [Article(page.id, page.title, tuple(sections), self.source)]

    def page(self, xml: bytes) -> Page | Reason:
        """The page of one `<page>` element, UTF-8, if it is an article of the wiki with text; or why not."""
        page = read_page(xml)
        return page if isinstance(page, Reason) else self._unfit(page) or page

    def _unfit(self, page: Page) -> Reason | None:
        if self._namespace(page) != 0:
            return Reason.NAMESPACE
        if page.redirect:
            return Reason.REDIRECT
        if not page.wikitext:
            return Reason.NOT_WIKITEXT
        if not page.text.strip():
            return Reason.DELETED if page.deleted else Reason.NO_TEXT
        if _REDIRECT.match(page.text):
            return Reason.REDIRECT
        # A character has at most 4 bytes, so that nearly no text is encoded for this.
        if len(page.text) > LARGEST_TEXT // 4 and len(page.text.encode()) > LARGEST_TEXT:
            return Reason.TOO_LARGE
        if any(title.fullmatch(page.title) for title in self._titles):
            return Reason.TITLE
        if self._templates and (_DISAMBIGUATION.fullmatch(page.title) or is_disambiguation(page.text, self._templates)):
            return Reason.DISAMBIGUATION
        return None

    def _namespace(self, page: Page) -> int:
        if page.namespace is not None:
            return page.namespace
        prefix, colon, _ = page.title.partition(":")
        return 1 if colon and normal(prefix) in self.namespaces.all else 0


def _reading(options: CorpusOptions, site: Site) -> Reading:
    language, variant = converted_language(site.language), options.variant
    if variant and not variant.startswith(language or "?"):
        having = f"none in {site.language or 'its language'}" if not language else f"those of {language}"
        raise TextcriticError(f"options.variant: {variant!r}: the wiki has {having}; leave it out")
    return Reading(options.parser, language, variant, options.formulas == NUMBERED, options.templates == SHOWN)


class Splitter:
    """Cuts UTF-8 bytes that come in pieces into pages; holds at most one page of `LARGEST_PAGE`, and one piece.

    If another page begins inside a page, the first has lost its end: it is counted as not well-formed, and the other
    one is cut out. A page that is an empty tag, `<page/>`, is counted as one without title and number.
    """

    def __init__(self) -> None:
        self.within = False
        """Whether the last piece ended within a page."""
        self.closed = False
        """Whether the dump was closed by its last tag, after the last page."""
        self._rest = b""
        self._dropping = False
        self._skipped: Counter[str] = Counter()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The pages that end in this piece, each from `<page ...>` to `</page>`; too large ones are only counted."""
        window = self._rest + data
        position, search = 0, max(len(self._rest) - _KEPT, 0)
        while True:
            if self.within and not self._dropping and (empty := _EMPTY.match(window, position)):
                self._skipped[Reason.NO_ID.value] += 1
                self.within, position = False, empty.end()
                search = position
            opening = OPENING.search(window, max(search, position + self.within))
            start = opening.start() if opening else -1
            if not self.within and start < 0:
                self.closed = self.closed or window.find(_END, position) >= 0
                self._rest = window[position:][-_KEPT:]
                return
            stop = window.find(_CLOSING, search) if self.within else -1
            if start >= 0 and (stop < 0 or start < stop):
                self._skipped[Reason.NOT_XML.value] += self.within
                self.within, self.closed, self._dropping = True, False, False
                position = search = start
                continue
            if stop < 0:
                self._dropping = self._dropping or len(window) - position > LARGEST_PAGE
                self._rest = window[position:][-_KEPT:] if self._dropping else window[position:]
                return
            stop += len(_CLOSING)
            if self._dropping or stop - position > LARGEST_PAGE:
                self._skipped[Reason.TOO_LARGE.value] += 1
            else:
                yield window[position:stop]
            self.within = self._dropping = False
            position = search = stop

    def skipped(self, unclosed: int = 0) -> Counter[str]:
        """Pages skipped since the last call, and `unclosed` more that have no end, by reason."""
        counts, self._skipped = self._skipped, Counter()
        counts[Reason.NOT_XML.value] += unclosed
        return +counts


def read_page(xml: bytes) -> Page | Reason:
    """The page of one `<page>` element, UTF-8; or why it cannot be read: not well-formed, or without title or number.

    Elements are read by their names, whatever the schema: `<ns>` and `<redirect>` are absent in old ones, `<model>` and
    `<format>` are taken for wikitext where they are. Of several revisions the last counts.
    """
    if not xml.startswith(b"<page>"):  # attributes, which may say that all names belong to MediaWiki's schema
        xml = _ATTRIBUTES.sub(b"<page>", xml, count=1)
    try:
        page = _tree(xml)
    except expat.ExpatError:
        return Reason.NOT_XML
    identifier, title = ((page.findtext(key) or "").strip() for key in ("id", "title"))
    if not title or not (identifier.isascii() and identifier.isdigit()):
        return Reason.NO_ID
    number = (page.findtext("ns") or "").strip()
    namespace = int(number) if re.fullmatch(r"-?[0-9]{1,9}", number) else None
    revisions = page.findall("revision")
    last = revisions[-1] if revisions else ET.Element("revision")
    form = (last.findtext("model", "wikitext"), last.findtext("format", "text/x-wiki"))
    text = last.find("text")
    return Page(
        identifier,
        title,
        namespace,
        redirect=page.find("redirect") is not None,
        wikitext=form == ("wikitext", "text/x-wiki"),
        deleted=text is not None and text.get("deleted") is not None,
        text="" if text is None else text.text or "",
    )


def _tree(xml: bytes) -> ET.Element:
    """The root element, as of `ET.fromstring`, which takes twice as long: it gets each line and entity by itself."""
    parser, builder = expat.ParserCreate(namespace_separator="}"), ET.TreeBuilder()
    parser.buffer_text, parser.buffer_size = True, 1 << 18
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler = builder.data
    parser.Parse(xml, True)
    return builder.close()
