"""Which pages of a dump are articles of the corpus, and the article of a page."""

import re
from collections.abc import Mapping
from typing import Any

from textcritic.corpora.articles import Article
from textcritic.corpora.wikipedia.dump import Site
from textcritic.corpora.wikipedia.pages import LARGEST_TEXT, Page, Reason, read_page
from textcritic.corpora.wikipedia.wikitext import is_disambiguation, sections_of
from textcritic.options.corpora import titles_to_skip

# `#REDIRECT [[...]]`, in whatever language, and no sentence: templates and categories at most are behind it. Dumps mark
# redirects by an element of their own; this is for those that lack it.
_REDIRECT = re.compile(
    r"\s*#[^\s\[\]#*:;{}|<>]+\s*:?\s*\[\[[^\[\]\n]*\]\]"
    r"(?:[^\S\n]|\{\{[^{}\n]*\}\}|\[\[[^\[\]\n:]+:[^\[\]\n]*\]\])*+(?:\n|\Z)"
)
_DISAMBIGUATION = re.compile(r".*\(disambiguation\)", re.IGNORECASE)


class Choice:
    """Makes articles of pages, after the options of a registry entry.

    Args:
        options: `disambiguation_templates`, names; `skip_titles`, regular expressions that a whole title must match.
        site: the wiki, for its namespaces.
        source: what the articles' `source` says.

    Raises:
        TextcriticError: an expression is none.
    """

    def __init__(self, options: Mapping[str, Any], site: Site, source: str) -> None:
        self._templates = frozenset(name.lower().replace("_", " ") for name in options["disambiguation_templates"])
        self._titles = titles_to_skip(options["skip_titles"])
        self._site, self._source = site, source

    def article(self, xml: bytes) -> Article | Reason:
        """The article of one `<page>` element, UTF-8, the introduction as its first section; or why there is none."""
        page = read_page(xml)
        if isinstance(page, Reason):
            return page
        if reason := self._unfit(page):
            return reason
        # Without `==` there is no heading; the greater part of the articles of a large wiki are such stubs.
        sections = sections_of(page.text, self._site.namespaces) if "==" in page.text else []
        if len(sections) < 2:
            return Reason.NO_SECTIONS
        return Article(page.id, page.title, tuple(sections), self._source)

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
        if len(page.text.encode()) > LARGEST_TEXT:
            return Reason.TOO_LARGE
        if any(title.fullmatch(page.title) for title in self._titles):
            return Reason.TITLE
        if _DISAMBIGUATION.fullmatch(page.title) or is_disambiguation(page.text, self._templates):
            return Reason.DISAMBIGUATION
        return None

    def _namespace(self, page: Page) -> int:
        if page.namespace is not None:
            return page.namespace
        prefix, colon, _ = page.title.partition(":")
        return 1 if colon and prefix.strip().lower().replace("_", " ") in self._site.prefixes else 0
