"""Raw text to one Parquet file of articles: which extractor reads what, and where every article came from."""

import hashlib
import json
import os
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from textcritic.corpora.articles import ARTICLE_SCHEMA, ROWS_PER_GROUP, Article, batches_of, write_batches
from textcritic.corpora.derived import read_derived
from textcritic.corpora.docstrings import extract_docstrings
from textcritic.corpora.jsonl import read_jsonl
from textcritic.corpora.scientific import read_scientific
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.options.corpora import DERIVED, SPLITS, given_paths
from textcritic.runlog import log, versions

EXTRACTED_SCHEMA = ARTICLE_SCHEMA.append(pa.field("split", pa.string()))
"""The corpus schema and the split that the source itself gives, null where it gives none."""

Extractor = Callable[[Mapping[str, Any], Counter[str]], Iterator[tuple[Article, str | None]]]
"""From the options of a registry entry and a counter of what is left out to articles with their given split."""

MOST_SOURCES = 100


def extract_corpus(
    kind: str,
    options: Mapping[str, Any],
    inputs: Sequence[str | os.PathLike[str]],
    out_path: str | os.PathLike[str],
    report_path: str | os.PathLike[str],
) -> None:
    """Write the articles of a corpus as they come, and a report of what was skipped and where they came from.

    Args:
        kind: name of an extractor, a key of `EXTRACTORS`.
        options: the entry's `options`: `packages` (docstrings), `paths` and `keep_abstract` (jsonl, scientific),
            `corpus` and `opening` (derived).
        inputs: the files that the calling rule declares; they must be those of `options`.
        out_path: Parquet in `EXTRACTED_SCHEMA`.
        report_path: JSON with `articles`, `sections`, `skipped` {reason: n} and `provenance` {`harvest_sha256`, ...}.

    Raises:
        TextcriticError: unknown kind, inputs that are not the options' files, no article found, an id used twice, or
            what the extractor itself finds wrong.
    """
    if kind not in EXTRACTORS:
        raise TextcriticError(f"extractor '{kind}': unknown; use one of {', '.join(sorted(EXTRACTORS))}")
    declared = sorted(str(path) for _, path in given_paths(options))
    if declared != sorted(str(Path(path)) for path in inputs):
        raise TextcriticError(
            f"extractor '{kind}': options.paths names {declared}, but the rule was given {list(inputs)}"
        )
    skipped: Counter[str] = Counter()
    provenance = {"derived_from": options["corpus"]} if kind == DERIVED else {}
    write_extracted(kind, EXTRACTORS[kind](options, skipped), skipped, out_path, report_path, provenance)


def write_extracted(
    kind: str,
    stream: Iterator[tuple[Article, str | None]],
    skipped: Counter[str],
    out_path: str | os.PathLike[str],
    report_path: str | os.PathLike[str],
    provenance: Mapping[str, Any],
    repeated: str | None = None,
    **more: Any,
) -> None:
    """Write a stream of articles with their given splits, and its report: `extract_corpus` with its extractor chosen.

    Args:
        kind: the extractor's name.
        stream: articles.
        skipped: what the stream leaves out, by reason; read when the stream has ended.
        out_path: see `extract_corpus`.
        report_path: see `extract_corpus`.
        provenance: what comes on top of the provenance that is noted for every kind.
        repeated: the reason under which articles are skipped whose id was there before; None: that is an error.
        more: keys of the report on top of those of every kind.

    Raises:
        TextcriticError: no article, or an id used twice.
    """
    tally = _Tally()
    write_batches(out_path, _batches(tally.watch(stream, kind, skipped, repeated)), EXTRACTED_SCHEMA)
    left_out = {reason: count for reason, count in skipped.items() if count}
    found = {**tally.counts(), "skipped": left_out, "provenance": tally.provenance() | dict(provenance)}
    write_json(report_path, {"extractor": kind, **found, **more})
    log.info("%s: %s articles, skipped: %s", kind, f"{tally.articles:,}", left_out or "nothing")


def _docstrings(options: Mapping[str, Any], skipped: Counter[str]) -> Iterator[tuple[Article, str | None]]:
    for article in extract_docstrings(options["packages"], skipped):
        yield article, None


def _jsonl(options: Mapping[str, Any], skipped: Counter[str]) -> Iterator[tuple[Article, str | None]]:
    files = _some_paths("jsonl", options)
    for split, path in files:
        for article in read_jsonl(path, prefix=f"{path.name}:" if len(files) > 1 else ""):
            yield article, split


def _scientific(options: Mapping[str, Any], skipped: Counter[str]) -> Iterator[tuple[Article, str | None]]:
    seen: set[str] = set()
    for split, path in _some_paths("scientific", options):
        for article in read_scientific(path, options.get("keep_abstract", False), skipped):
            if article.id in seen:
                skipped["article_id seen before"] += 1
            else:
                seen.add(article.id)
                yield article, split


def _derived(options: Mapping[str, Any], skipped: Counter[str]) -> Iterator[tuple[Article, str | None]]:
    for split, path in given_paths(options):
        for article in read_derived(path, options["opening"], skipped):
            yield article, split


EXTRACTORS: dict[str, Extractor] = {
    DERIVED: _derived,
    "docstrings": _docstrings,
    "jsonl": _jsonl,
    "scientific": _scientific,
}


def _some_paths(kind: str, options: Mapping[str, Any]) -> list[tuple[str | None, Path]]:
    files = given_paths(options)
    if not files:
        raise TextcriticError(
            f"extractor '{kind}': options.paths is missing; name a file, or one each for {', '.join(SPLITS)}"
        )
    return files


def _batches(stream: Iterator[tuple[Article, str | None]]) -> Iterator[pa.RecordBatch]:
    while rows := list(islice(stream, ROWS_PER_GROUP)):
        for batch in batches_of(article for article, _ in rows):
            splits = pa.array([split for _, split in rows], pa.string())
            yield pa.record_batch([*batch.columns, splits], schema=EXTRACTED_SCHEMA)


class _Tally:
    """Counts and fingerprints the articles that pass through `watch`."""

    def __init__(self) -> None:
        self.articles = self.sections = 0
        self._hash = hashlib.sha256()
        self._sources: Counter[str] = Counter()

    def watch(
        self,
        stream: Iterator[tuple[Article, str | None]],
        kind: str,
        skipped: Counter[str],
        repeated: str | None,
    ) -> Iterator[tuple[Article, str | None]]:
        """Pass the stream on, an id used twice once at most; an empty stream is an error."""
        seen: set[str] = set()
        for article, split in stream:
            if article.id in seen and repeated is not None:
                skipped[repeated] += 1
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
            self._hash.update(json.dumps([article.id, article.title, sections, article.source, split]).encode())
            yield article, split
        if not self.articles:
            raise TextcriticError(f"extractor '{kind}': found no article (skipped: {dict(skipped)}); check its options")

    def counts(self) -> dict[str, int]:
        return {"articles": self.articles, "sections": self.sections}

    def provenance(self) -> dict[str, Any]:
        """SHA-256 of all articles in order, articles by source (if these are few), and versions."""
        few = len(self._sources) <= MOST_SOURCES
        return {
            "harvest_sha256": self._hash.hexdigest(),
            "sources": dict(sorted(self._sources.items())) if few else len(self._sources),
            "versions": {"python": platform.python_version(), **versions("textcritic")},
        }
