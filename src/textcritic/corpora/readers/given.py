"""Articles that a user gives, in JSON lines, Parquet or Arrow: one schema, one check, one kind of message."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from textcritic.corpora.articles import Article, Section
from textcritic.corpora.layout import clean_text
from textcritic.corpora.readers.characters import standard
from textcritic.corpora.readers.reading import AS_IT_IS, Tally, listed_counts
from textcritic.corpora.readers.records import Record, records
from textcritic.corpora.readers.values import group_of, kind_of, lacks, name_or, text_or
from textcritic.errors import TextcriticError

ARTICLE_KEYS = ("id", "title", "sections", "source", "group", "pair")
SECTION_KEYS = frozenset({"title", "text"})


def given_articles(
    path: str | os.PathLike[str], prefix: str = "", skipped: Counter[str] | None = None
) -> Iterator[Article]:
    """Stream the articles of a file or folder, each an object with the keys `ARTICLE_KEYS`.

    Only `sections`, a list of `{"title", "text"}`, and in each section `text` are required. An article without id
    becomes `line-N` after its line, or `row-N` after its row; one without source gets the file's name; one without
    `group`, `pair`, or `prompt` with `doc_id` is alone. Blank lines inside a section's text become single line breaks.
    Other keys and columns are ignored, and named on stderr when the file has been read.

    Args:
        path: any form that `records` takes.
        prefix: put before ids made from numbers, where several files make one corpus.
        skipped: counts what is left out, by reason: answers of a log, and documents with half a character.

    Raises:
        TextcriticError: the first fault, naming file and line or row: not JSON, a missing key, a value of the wrong
            type, an id that occurs twice, a truncated or undecodable file, a file without articles.
    """
    any_article, tally = False, Tally()
    given = records(path, ARTICLE_KEYS, ["sections"], AS_IT_IS, tally)
    for article in articles_of_records(given, Path(path).name, prefix):
        any_article = True
        yield article
    left_out = tally.left_out + tally.damaged
    if skipped is not None:
        skipped.update(left_out)
    if not any_article and left_out:
        raise TextcriticError(f"{path}: all that is in it is left out: {listed_counts(left_out)}")
    if not any_article:
        raise TextcriticError(f"{path}: there is no article in it; write one object with `sections` a line or row")


def standard_article(article: Article, changed: Counter[str]) -> Article:
    """The article with its titles and texts in Unicode's normal form, see `characters.standard`, which counts."""
    sections = tuple(
        Section(standard(section.title, changed), standard(section.text, changed)) for section in article.sections
    )
    return replace(article, title=standard(article.title, changed), sections=sections)


def articles_of_records(given: Iterable[Record], source: str, prefix: str = "") -> Iterator[Article]:
    """The articles that records hold; see `given_articles`.

    Args:
        given: the records.
        source: of an article that names none.
        prefix: see `given_articles`.
    """
    first: dict[str, int] = {}
    for record in given:
        number, unit, where = record.number, record.unit, record.where
        article = _article(record, default_id=f"{prefix}{unit}-{number}", default_source=source)
        if article.id in first:
            raise TextcriticError(
                f"{where}: id '{article.id}' was used on {unit} {first[article.id]}; give each article its own id"
            )
        first[article.id] = number
        yield article


def _article(record: Record, default_id: str, default_source: str) -> Article:
    value, where = record.value, record.where
    if not isinstance(value, dict):
        raise TextcriticError(f"{where}: a line holds {kind_of(value)}; it should be an object with `sections`")
    if "sections" not in value:
        raise TextcriticError(f"{where}: {lacks(value, 'sections')}; it should be a list of objects with `text`")
    if not isinstance(value["sections"], list):
        raise TextcriticError(
            f"{where}: `sections` is {kind_of(value['sections'])}; it should be a list of objects with `text`"
        )
    return Article(
        name_or(value.get("id"), default_id, "id", where) or default_id,
        text_or(value.get("title"), None, "title", where),
        tuple(_section(section, record, n) for n, section in enumerate(value["sections"], start=1)),
        text_or(value.get("source"), default_source, "source", where) or default_source,
        group_of(value, where),
    )


def _section(value: object, record: Record, number: int) -> Section:
    where = f"{record.where}, section {number}"
    if not isinstance(value, dict):
        raise TextcriticError(f'{where}: it is {kind_of(value)}; it should be an object: {{"title": ..., "text": ...}}')
    if not value.keys() <= SECTION_KEYS:
        record.ignored.update((f"sections.{key}", None) for key in value if key not in SECTION_KEYS)
    if "text" not in value:
        raise TextcriticError(f"{where}: {lacks(value, 'text')}; it should be a string")
    if not isinstance(value["text"], str):
        raise TextcriticError(f"{where}: `text` is {kind_of(value['text'])}; it should be a string")
    return Section(text_or(value.get("title"), None, "title", where), clean_text(value["text"]))
