"""Corpora: schema and files, extractors, titles, filters, splits, statistics."""

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
from textcritic.corpora.extract import EXTRACTORS, extract_corpus
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
from textcritic.corpora.readers.given import articles_of_records, given_articles
from textcritic.corpora.synthetic.process import DELIMITER, Process
from textcritic.corpora.synthetic.process_corpus import write_process_corpus
from textcritic.corpora.titles import Titles
from textcritic.plan.checks.corpora import SPLITS

__all__ = [
    "ARTICLE_SCHEMA",
    "BODY",
    "BOUNDARY",
    "DELIMITER",
    "END",
    "EXTRACTORS",
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
    "articles_of_records",
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
    "words_of",
    "write_articles",
    "write_process_corpus",
]
