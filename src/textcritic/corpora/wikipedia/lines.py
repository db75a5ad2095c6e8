"""Lines of a Wikipedia as documents, by the recipe of XLM, on which the paper on tendencies builds its corpus.

"Language Model Evaluation Beyond Perplexity", section 5: "preprocessing data following the steps used for XLM (Conneau
and Lample, 2019)". There each line that WikiExtractor writes is a document: the title of an article and its paragraphs.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from textcritic.corpora.articles import ROWS_PER_GROUP, Article, Section
from textcritic.corpora.layout import clean_text
from textcritic.corpora.moses import ENGLISH, MosesOptions, moses
from textcritic.corpora.wikipedia.dump import Site
from textcritic.corpora.wikipedia.mwparser import NotParsed
from textcritic.corpora.wikipedia.pages import Choice, Reason
from textcritic.corpora.wikipedia.wikitext import paragraphs_of

STEPS = MosesOptions(replace_unicode=True, normalise=True, printable=True, lowercase=True, unaccent=True)
"""What is done to a line, as XLM does it."""

NO_TOKEN = "a line without a token"


class Lines:
    """Makes a document of each line of an article: of its title and of each paragraph, as `paragraphs_of` gives them.

    Args:
        options: see `Choice`; nothing else decides which pages are articles. An article without sections is one too.
        site: the wiki, for its namespaces and its language, whose tokens are made.
        source: `source` of the documents.
    """

    notes = "rejected"
    rows = ROWS_PER_GROUP

    def __init__(self, options: Mapping[str, Any], site: Site, source: str) -> None:
        self._choice = Choice(options, site, source)
        self._language = site.language or ENGLISH

    def articles(self, xml: bytes, rejected: Counter[str]) -> list[Article] | Reason:
        """The lines of one `<page>` element, UTF-8, as articles of one section without title; or why there are none.

        The id is the number of the page and that of the line, 0 for the title. `rejected` counts lines without tokens.
        """
        page = self._choice.page(xml)
        if isinstance(page, Reason):
            return page
        articles, tokens = [], _moses(self._language)
        try:
            paragraphs = paragraphs_of(page.text, self._choice.namespaces, self._choice.reading)
        except NotParsed:
            return Reason.NOT_PARSED
        for number, line in enumerate([page.title, *paragraphs]):
            if text := clean_text(tokens(line)):
                articles.append(Article(f"{page.id}-{number}", None, (Section(None, text),), self._choice.source))
            else:
                rejected[NO_TOKEN] += 1
        return articles


@cache
def _moses(language: str) -> Callable[[str], str]:
    """Made in the process that needs it: a function cannot be sent to another one."""
    return moses(language, STEPS)
