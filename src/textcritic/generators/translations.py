"""Samples of parallel corpora: which sentences are translated, and translations as articles."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from textcritic.corpora import Article, MalformedArticle, Section, iter_articles, write_articles
from textcritic.corpora.readers.records import Record, records
from textcritic.corpora.readers.values import kind_of, text_or
from textcritic.errors import TextcriticError
from textcritic.generators.collect import (
    NOT_DRAWN,
    Limit,
    Rejected,
    SampleFiles,
    articles_by,
    collect_draws,
    write_sample,
)
from textcritic.generators.shards import Draw

KEYS = ("id", "source", "text")


def sources_of(articles_path: str | os.PathLike[str]) -> list[str]:
    """The distinct English sentences of a split of a parallel corpus, in the order in which each comes first.

    Raises:
        TextcriticError: an article has no title, which is the English sentence; or a fault of the file.
    """
    found: dict[str, None] = {}
    for article in iter_articles(articles_path):
        if article.title is None:
            raise TextcriticError(f"{articles_path}: article '{article.id}' has no title, the sentence it translates")
        found.setdefault(article.title)
    if not found:
        raise TextcriticError(f"{articles_path}: holds no articles")
    return list(found)


def collect_translations(
    shards: Sequence[str | os.PathLike[str]],
    sources: Sequence[str],
    limit: Limit,
    generator: str,
    files: SampleFiles,
) -> dict[str, object]:
    """Make articles of the draws of all shards: title the English sentence, one section with the translation.

    A draw is rejected as "empty" or, unless `limit.keep`, as "no end within N tokens"; nothing is drawn again for it.

    Args:
        shards: Parquet files of raw draws; draw i translates sentence i, and after the last comes the first again.
        sources: see `sources_of`.
        limit: of the decoding.
        generator: name that ids (`{generator}-000012`) and sources of articles are made from.
        files: to write.

    Returns:
        see `collect.collect_samples`.

    Raises:
        TextcriticError: a shard is missing or not whole, an index occurs twice, or every draw was rejected.
    """

    def content_of(draw: Draw) -> tuple[str, tuple[Section, ...]]:
        return sources[draw.index % len(sources)], _translation(draw.text)

    advice = "train the generator for longer, or raise max_tokens"
    return collect_draws(shards, articles_by(content_of, generator), limit, generator, files, advice)


def import_translations(path: str | os.PathLike[str], sources: Sequence[str], files: SampleFiles) -> dict[str, object]:
    """Take in translations of the test sentences that another program made; an empty one is rejected.

    Three formats:

    - plain text, see `records.is_text`, a translation a line, in the order of the sentences: line n translates sentence
      n, and after the last comes the first again, so there are as many lines as sentences, or a multiple;
    - JSON lines: `{"text": ...}`, in the same order, or with `source`, the exact English sentence of the test split, in
      any order and number; `id` is optional;
    - a table (`.parquet`, `.arrow` or a folder) with these columns.

    Args:
        path: the file or folder.
        sources: see `sources_of`.
        files: to write.

    Returns:
        see `collect.collect_samples`; how many tokens were drawn is not known: null.

    Raises:
        TextcriticError: a fault of the file, naming its line or row; lines that do not go with the sentences; or every
            translation was rejected.
    """
    advice = "give translations that are not empty"
    return write_sample(_outcomes(path, sources), lambda: NOT_DRAWN, advice, files, write_articles)


class _Given(NamedTuple):
    """A translation from a file; `source` is None where it is in the order of the sentences."""

    id: str
    source: str | None
    text: str
    where: str


def _outcomes(path: str | os.PathLike[str], sources: Sequence[str]) -> Iterator[Article | Rejected]:
    known, ids, count = set(sources), dict[str, str](), 0
    in_order: bool | None = None
    for count, given in enumerate(map(_given, records(path, KEYS, ["text"])), start=1):
        if in_order not in (None, given.source is None):
            raise TextcriticError(f"{given.where}: give `source` everywhere or nowhere; before this it was otherwise")
        in_order = given.source is None
        source = given.source if given.source is not None else sources[(count - 1) % len(sources)]
        if source not in known:
            raise TextcriticError(
                f"{given.where}: `source` is no sentence of the test split: {source[:60]!r}; copy it unchanged"
            )
        if given.id in ids:
            raise TextcriticError(f"{given.where}: id '{given.id}' was used at {ids[given.id]}; give each its own")
        ids[given.id] = given.where
        try:
            yield Article(given.id, source, _translation(given.text), Path(path).name)
        except MalformedArticle as malformed:
            yield Rejected(given.id, given.text, malformed.reason)
    if in_order is None or (in_order and count % len(sources)):
        raise TextcriticError(
            f"{path}: has {count:,} translations of the {len(sources):,} distinct sentences of the test split; give one"
            " a line for each, in their order, or several times as many"
        )


def _given(record: Record) -> _Given:
    value, where = record.value, record.where
    if not isinstance(value, dict) or "text" not in value:
        raise TextcriticError(f'{where}: should be an object with `text`: {{"text": "...", "source": "..."}}')
    if not isinstance(value["text"], str):
        raise TextcriticError(f"{where}: `text` is {kind_of(value['text'])}; it should be a string")
    default_id = f"{record.unit}-{record.number}"
    return _Given(
        text_or(value.get("id"), default_id, "id", where) or default_id,
        text_or(value.get("source"), None, "source", where),
        value["text"],
        where,
    )


def _translation(text: str) -> tuple[Section, ...]:
    """A translation as the only section; words are separated by single spaces.

    Raises:
        MalformedArticle: there are none.
    """
    words = text.split()
    if not words:
        raise MalformedArticle("empty")
    return (Section(None, " ".join(words)),)
