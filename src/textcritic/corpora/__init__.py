"""Corpora: schema and files, extractors, titles, filters, splits, statistics."""

from textcritic.corpora.articles import ARTICLE_SCHEMA, Article, Section, iter_articles, read_articles, write_articles
from textcritic.corpora.layout import BODY, BOUNDARY, END, SEPARATOR, TITLE, MalformedArticle, parse, render, spans

__all__ = [
    "ARTICLE_SCHEMA",
    "BODY",
    "BOUNDARY",
    "END",
    "SEPARATOR",
    "TITLE",
    "Article",
    "MalformedArticle",
    "Section",
    "iter_articles",
    "parse",
    "read_articles",
    "render",
    "spans",
    "write_articles",
]
