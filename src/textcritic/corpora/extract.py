"""Raw text to one Parquet file of articles: which extractor reads what, and where every article came from."""

import hashlib
import json
import os
import platform
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from textcritic.batches import batched
from textcritic.corpora.articles import (
    ARTICLE_SCHEMA,
    ROWS_PER_GROUP,
    Article,
    Section,
    batches_of,
    iter_articles,
    write_batches,
)
from textcritic.corpora.readers.bible import extract_bible
from textcritic.corpora.readers.docstrings import extract_docstrings
from textcritic.corpora.readers.given import given_articles, standard_article
from textcritic.corpora.readers.jsonl import read_scientific
from textcritic.corpora.readers.stories import read_stories
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.plan.checks.corpora import DERIVED, NONE, SPLITS, given_paths
from textcritic.plan.entries.corpora import Corpus
from textcritic.plan.entries.extraction import CorpusOptions
from textcritic.runlog import log, versions

EXTRACTED_SCHEMA = ARTICLE_SCHEMA.append(pa.field("split", pa.string()))
"""The corpus schema, and the split that the source itself gives; null if it gives none."""

Extractor = Callable[[CorpusOptions, Counter[str]], Iterator[tuple[Article, str | None]]]
"""Takes the options of a corpus and a counter of skipped records; gives articles with their given split."""

MOST_SOURCES = 100
OPENING = "the opening does not match"


def extract_corpus(
    corpus: Corpus,
    inputs: Sequence[str | os.PathLike[str]],
    out_path: str | os.PathLike[str],
    report_path: str | os.PathLike[str],
) -> None:
    """Write the articles of a corpus as they come, and a report of what was skipped and where they came from.

    Args:
        corpus: with an extractor of `EXTRACTORS`; `normalise: unicode` puts titles and texts into Unicode's normal
            form, see `readers.characters`.
        inputs: the files that the calling rule declares; those of `options` must be among them.
        out_path: Parquet in `EXTRACTED_SCHEMA`.
        report_path: JSON with `articles`, `sections`, `skipped` {reason: n} and `provenance` {`harvest_sha256`, ...},
            and `changed` {words: n} where characters are changed.

    Raises:
        TextcriticError: the extractor is not known; a file of the options is not among the inputs; there is no article;
            two articles have the same id; or the extractor reports a fault.
    """
    kind, options = corpus.extractor, corpus.options
    if kind not in EXTRACTORS:
        raise TextcriticError(f"extractor '{kind}': is not one of {', '.join(sorted(EXTRACTORS))}")
    declared = {str(path) for _, path in given_paths(options)}
    if not declared <= {str(Path(path)) for path in inputs}:
        raise TextcriticError(
            f"extractor '{kind}': options.paths names {sorted(declared)}, but the rule was given {list(inputs)}"
        )
    skipped: Counter[str] = Counter()
    provenance = {"derived_from": options.corpus} if kind == DERIVED else {}
    changed: Counter[str] = Counter()
    stream = EXTRACTORS[kind](options, skipped)
    if corpus.normalise != NONE:
        stream = ((standard_article(article, changed), split) for article, split in stream)
    report = {} if corpus.normalise == NONE else {"changed": changed}
    extraction = Extraction(kind, stream, skipped, provenance, report=report)
    write_extracted(extraction, out_path, report_path)


@dataclass(frozen=True, slots=True, eq=False)
class Extraction:
    """Articles as an extractor gives them.

    Attributes:
        kind: name of the extractor.
        stream: articles, each with the split that its source gives.
        skipped: number of records that the stream leaves out, by reason; complete when the stream has ended.
        provenance: added to the provenance that is recorded for every extractor.
        repeated: the reason for skipping an article whose id was there before; None: such an id is an error.
        report: added to the keys that the report has for every extractor.
    """

    kind: str
    stream: Iterator[tuple[Article, str | None]]
    skipped: Counter[str]
    provenance: Mapping[str, object]
    repeated: str | None = None
    report: Mapping[str, object] = field(default_factory=dict)


def write_extracted(
    extraction: Extraction, out_path: str | os.PathLike[str], report_path: str | os.PathLike[str]
) -> None:
    """Write the articles of an extractor, and the report.

    Args:
        extraction: the articles.
        out_path: see `extract_corpus`.
        report_path: see `extract_corpus`.

    Raises:
        TextcriticError: no article, or an id used twice.
    """
    tally = _Tally()
    write_batches(out_path, _batches(tally.watch(extraction)), EXTRACTED_SCHEMA)
    left_out = {reason: count for reason, count in extraction.skipped.items() if count}
    provenance = tally.provenance() | dict(extraction.provenance)
    report = {"extractor": extraction.kind, **tally.counts(), "skipped": left_out, "provenance": provenance}
    write_json(report_path, {**report, **extraction.report})
    log.info("%s: %s articles, skipped: %s", extraction.kind, f"{tally.articles:,}", left_out or "nothing")


def read_derived(path: Path, opening: str | None, skipped: Counter[str]) -> Iterator[Article]:
    """Stream the articles of one split of the base of a derived corpus: the same articles, but for those filtered out.

    Two of the model criticism paper's corpora are derived: Wiki-Short, the articles of Wiki whose sections have at most
    500 tokens (section 4, Table 3), and the articles about films (section 5, appendix G), whose first section matches
    `.*is a.*film.*`. The released code selects films in another way: it takes the first sentence of the first section,
    as spaCy finds it, which must have the token `film` and must not have the token `born`. That switch belongs to the
    study of coreference, where the sentences are.

    Args:
        path: Parquet of articles with at least one section each, as `build_corpus` writes it.
        opening: regular expression that the text of the first section must match from its beginning; a dot matches
            line breaks too, so that `.*is a.*film.*` searches the whole section. If None, every article passes.
        skipped: counts the articles that do not match.

    Raises:
        TextcriticError: the file is missing or not whole.
    """
    pattern = re.compile(opening or "", re.DOTALL)
    for article in iter_articles(path):
        if pattern.match(article.sections[0].text):
            yield article
        else:
            skipped[OPENING] += 1


def _docstrings(options: CorpusOptions, skipped: Counter[str]) -> Iterator[tuple[Article, str | None]]:
    for article in extract_docstrings(options.packages, skipped):
        yield article, None


def _bible(options: CorpusOptions, skipped: Counter[str]) -> Iterator[tuple[Article, str | None]]:
    for article in extract_bible(options.version, options.books, skipped):
        yield article, None


def _jsonl(options: CorpusOptions, skipped: Counter[str]) -> Iterator[tuple[Article, str | None]]:
    files, title = _some_paths("jsonl", options), options.only_title
    for split, path in files:
        for article in given_articles(path, f"{path.name}:" if len(files) > 1 else "", skipped):
            sections = tuple(Section(title or section.title, section.text) for section in article.sections)
            yield replace(article, sections=sections), split


def _conll(options: CorpusOptions, skipped: Counter[str]) -> Iterator[tuple[Article, str | None]]:
    # What reads mentions reads articles too, so that this module cannot import it when it is loaded.
    from textcritic.corpora.readers.conll import conll_articles

    for split, path in _some_paths("conll", options):
        for article in conll_articles(path, options.folder):
            yield article, split


def _scientific(options: CorpusOptions, skipped: Counter[str]) -> Iterator[tuple[Article, str | None]]:
    seen: set[str] = set()
    for split, path in _some_paths("scientific", options):
        for article in read_scientific(path, options.keep_abstract, skipped):
            if article.id in seen:
                skipped["article_id seen before"] += 1
            else:
                seen.add(article.id)
                yield article, split


def _derived(options: CorpusOptions, skipped: Counter[str]) -> Iterator[tuple[Article, str | None]]:
    for split, path in given_paths(options):
        for article in read_derived(path, options.opening, skipped):
            yield article, split


def _stories(options: CorpusOptions, skipped: Counter[str]) -> Iterator[tuple[Article, str | None]]:
    for split, path in _some_paths("stories", options):
        for article in read_stories(path, skipped):
            yield article, split


EXTRACTORS: dict[str, Extractor] = {
    DERIVED: _derived,
    "bible": _bible,
    "conll": _conll,
    "docstrings": _docstrings,
    "jsonl": _jsonl,
    "scientific": _scientific,
    "stories": _stories,
}


def _some_paths(kind: str, options: CorpusOptions) -> list[tuple[str | None, Path]]:
    files = given_paths(options)
    if not files:
        raise TextcriticError(
            f"extractor '{kind}': options.paths is missing; name a file, or one each for {', '.join(SPLITS)}"
        )
    return files


def _batches(stream: Iterator[tuple[Article, str | None]]) -> Iterator[pa.RecordBatch]:
    for rows in batched(stream, ROWS_PER_GROUP):
        for batch in batches_of(article for article, _ in rows):
            splits = pa.array([split for _, split in rows], pa.string())
            yield pa.record_batch([*batch.columns, splits], schema=EXTRACTED_SCHEMA)


class _Tally:
    """Counts and fingerprints the articles that pass through `watch`."""

    def __init__(self) -> None:
        self.articles = self.sections = 0
        self._hash = hashlib.sha256()
        self._sources: Counter[str] = Counter()

    def watch(self, extraction: Extraction) -> Iterator[tuple[Article, str | None]]:
        """Pass the articles on, each id once at most; a stream without articles is an error."""
        seen: set[str] = set()
        for article, split in extraction.stream:
            if article.id in seen and extraction.repeated is not None:
                extraction.skipped[extraction.repeated] += 1
                continue
            if article.id in seen:
                raise TextcriticError(
                    f"{article.source}: id '{article.id}' occurs twice in the corpus; make ids unique"
                )
            seen.add(article.id)
            self.articles += 1
            self.sections += len(article.sections)
            self._sources[article.source] += 1
            sections = [[section.title, section.text] for section in article.sections]
            self._hash.update(
                json.dumps([article.id, article.title, sections, article.source, article.group, split]).encode()
            )
            yield article, split
        if not self.articles:
            raise TextcriticError(
                f"extractor '{extraction.kind}': found no article (skipped: {dict(+extraction.skipped) or 'nothing'});"
                " check its options"
            )

    def counts(self) -> dict[str, int]:
        return {"articles": self.articles, "sections": self.sections}

    def provenance(self) -> dict[str, object]:
        """SHA-256 of all articles in order, articles by source (if these are few), and versions."""
        few = len(self._sources) <= MOST_SOURCES
        return {
            "harvest_sha256": self._hash.hexdigest(),
            "sources": dict(sorted(self._sources.items())) if few else len(self._sources),
            "versions": {"python": platform.python_version(), **versions("textcritic")},
        }
