"""Corpora: schema and files, extractors, titles, filters, splits, statistics.

A name is loaded when it is first used: every start of Snakemake reads options that are defined in this room, and loads
neither numpy nor pyarrow for them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from textcritic.plan.checks.corpora import SPLITS

if TYPE_CHECKING:
    from textcritic.corpora.articles import (
        ARTICLE_SCHEMA,
        Article,
        Section,
        article_groups,
        gold_chains,
        iter_articles,
        read_articles,
        some_articles,
        write_articles,
    )
    from textcritic.corpora.build import build_corpus, words_of
    from textcritic.corpora.extract import extract_corpus
    from textcritic.corpora.layout import (
        BODY,
        BOUNDARY,
        END,
        SEPARATOR,
        SETTINGS,
        TITLE,
        MalformedArticle,
        clean_text,
        parse,
        render,
        spans,
    )
    from textcritic.corpora.readers.given import given_articles, standard_article
    from textcritic.corpora.synthetic.process import Process
    from textcritic.corpora.synthetic.process_corpus import write_process_corpus
    from textcritic.corpora.titles import Titles

__all__ = [
    "ARTICLE_SCHEMA",
    "BODY",
    "BOUNDARY",
    "END",
    "SEPARATOR",
    "SETTINGS",
    "SPLITS",
    "TITLE",
    "Article",
    "MalformedArticle",
    "Process",
    "Section",
    "Titles",
    "article_groups",
    "build_corpus",
    "clean_text",
    "extract_corpus",
    "given_articles",
    "gold_chains",
    "iter_articles",
    "parse",
    "read_articles",
    "render",
    "some_articles",
    "spans",
    "standard_article",
    "words_of",
    "write_articles",
    "write_process_corpus",
]

# The names of each module.
LATER = {
    "articles": (
        "ARTICLE_SCHEMA Article Section article_groups gold_chains iter_articles read_articles some_articles "
        "write_articles"
    ),
    "build": "build_corpus words_of",
    "extract": "extract_corpus",
    "layout": "BODY BOUNDARY END SEPARATOR SETTINGS TITLE MalformedArticle clean_text parse render spans",
    "readers.given": "given_articles standard_article",
    "synthetic.process": "Process",
    "synthetic.process_corpus": "write_process_corpus",
    "titles": "Titles",
}


def __getattr__(name: str) -> Any:
    for module, names in LATER.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
