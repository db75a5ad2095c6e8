"""Shards of a Wikipedia dump: extracted side by side, by several processes each, and then joined to one corpus."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

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
from textcritic.corpora.extract import Extraction, write_extracted
from textcritic.corpora.layout import clean_text
from textcritic.corpora.moses import ENGLISH, MosesOptions, moses
from textcritic.corpora.wikipedia import bzip2
from textcritic.corpora.wikipedia.dump import MULTISTREAM, Dump, Part, Site, open_dumps, parts_of
from textcritic.corpora.wikipedia.mwparser import NotParsed
from textcritic.corpora.wikipedia.pages import Choice, Reason, Splitter
from textcritic.corpora.wikipedia.wikitext import MWPARSERFROMHELL, OWN, paragraphs_of
from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_json
from textcritic.plan.checks.corpora import WIKIPEDIA
from textcritic.plan.entries.extraction import CorpusOptions
from textcritic.runlog import Progress, log, versions
from textcritic.values import JsonObject
from textcritic.workers import in_order

BATCH = 1 << 19  # bytes of pages that are handed to a worker at one time


@dataclass(frozen=True, slots=True)
class Shard:
    """One of the shards that a dump is extracted in.

    Attributes:
        paths: the files of a `pages-articles` dump in order: XML, bzip2 or multistream bzip2, recognised by their
            first bytes.
        number: of the shard, from 0.
        total: number of shards; see `dump.parts_of`.
        lines: whether each line of an article is a document of its own, see `Lines`.
    """

    paths: Sequence[str | os.PathLike[str]]
    number: int
    total: int
    lines: bool = False


def extract_shard(
    shard: Shard,
    options: CorpusOptions,
    out_path: str | os.PathLike[str],
    report_path: str | os.PathLike[str],
    workers: int = 1,
    read: int = bzip2.READ,
) -> None:
    """Write the articles of one shard of a dump, in the dump's order, and a report of the pages that gave none.

    An article is the introduction, as section "abstract", and the level-2 sections, as `wikitext.sections_of` cuts
    them; `id` is the page's number, `source` the wiki's database name, or the first file's name where the dump does not
    say. `pages.Reason` lists why a page is skipped. All shards in order give the same articles for any number of shards
    and of workers. Memory holds at most `IN_FLIGHT` tasks a worker and one row group of articles. With `shard.lines`
    it is lines that are written, see `Lines`.

    Args:
        shard: the files of the dump, and which shard of them.
        options: of the corpus, see `Choice`.
        out_path: Parquet file in the corpus schema; it may have no article.
        report_path: JSON with `articles`, `pages`, `skipped` {reason: n}, `mended` {kind of heading: n} (of lines
            `rejected` {reason: n}), `dump` (its files and what its head says) and `extracted_with` {package: version}.
        workers: processes that read pages; 1: only this process.
        read: bytes read at a time.

    Raises:
        TextcriticError: a file is missing, not a dump, cut, damaged, or of another wiki; an option is wrong; a worker
            was killed.
    """
    dumps = open_dumps(shard.paths)
    site = dumps[0].site
    if site.language != "en" and options.disambiguation_templates == CorpusOptions().disambiguation_templates:
        log.warning(
            "%s: its language is %r, but disambiguation_templates are the English defaults; see the schema",
            *(dumps[0].path, site.language),
        )
    reader = (Lines if shard.lines else Choice)(options, site, site.dbname or dumps[0].path.name)
    parts = parts_of(dumps, shard.number, shard.total)
    size = sum(part.end - part.start for part in parts)
    progress = Progress(f"shard {shard.number + 1} of {shard.total}", size, "bytes")
    skipped: Counter[str] = Counter()
    noted: Counter[str] = Counter()
    articles = pages = 0

    def all_articles() -> Iterator[Article]:
        nonlocal articles, pages
        for outcome in in_order(partial(_done, reader), _tasks(parts, read), workers):
            yield from outcome.articles
            articles += len(outcome.articles)
            pages += outcome.pages
            skipped.update(outcome.skipped)
            noted.update(outcome.noted)
            progress.advance(outcome.advance, f"{progress.rate / 1e6:.2f} MB/s, {articles:,} articles")

    groups = batched(all_articles(), reader.rows)
    write_batches(out_path, (batch for group in groups for batch in batches_of(group)), ARTICLE_SCHEMA)
    head = {key: getattr(site, key) for key in ("name", "dbname", "generator", "schema", "language")}
    dump = {"files": [file.path.name for file in dumps], **head}
    counts = {"pages": pages + skipped.total(), "articles": articles, "skipped": dict(skipped)}
    used = versions("textcritic", *["sacremoses"] * shard.lines, *[MWPARSERFROMHELL] * (options.parser != OWN))
    write_json(report_path, {**counts, reader.notes: dict(noted), "dump": dump, "extracted_with": used})
    log.info("%s articles of %s pages; skipped: %s", f"{articles:,}", f"{counts['pages']:,}", dict(skipped))


def join_shards(
    shards: Sequence[str | os.PathLike[str]],
    reports: Sequence[str | os.PathLike[str]],
    out_path: str | os.PathLike[str],
    report_path: str | os.PathLike[str],
) -> None:
    """Write the articles of all shards in order, each page number once, and one report, as `extract_corpus` does.

    Only `shards` in the report depends on the number of shards. Memory holds the ids and
    one row group of articles.

    Args:
        shards: what `extract_shard` wrote, in the order of the shards.
        reports: their reports, in the same order.
        out_path: Parquet in `EXTRACTED_SCHEMA`.
        report_path: JSON, see `extract_corpus`, with `shards` and `mended`; `provenance` has `dump` too, with the
            number of its `pages`.

    Raises:
        TextcriticError: a shard is not whole or of another dump than the first; there is no page or no article in any.
    """
    joined = join_reports(reports)
    skipped = Counter({reason.value: joined["skipped"].get(reason.value, 0) for reason in Reason})
    progress = Progress("joining", joined["articles"], "articles")

    def stream() -> Iterator[tuple[Article, None]]:
        for shard in shards:
            for article in iter_articles(shard):
                progress.advance()
                yield article, None

    report = {"shards": len(shards), "mended": dict(joined[Choice.notes])}
    provenance = joined["provenance"]
    extraction = Extraction(WIKIPEDIA, stream(), skipped, provenance, repeated=Reason.DUPLICATE.value, report=report)
    write_extracted(extraction, out_path, report_path)


def join_reports(reports: Sequence[str | os.PathLike[str]]) -> JsonObject:
    """The reports of all shards of a dump as one.

    Returns:
        `articles`, their number; counters `skipped` of pages, `mended` of headings and `rejected` of lines;
        `provenance`: `dump`, with the number of its `pages`, and `extracted_with`.

    Raises:
        TextcriticError: a shard is of another dump than the first; there is no page in any.
    """
    extracted = [read_json(path) for path in reports]
    for path, report in zip(reports, extracted, strict=True):
        if report["dump"] != extracted[0]["dump"]:
            raise TextcriticError(f"{path}: of another dump than {reports[0]}; delete both and rerun")
    pages = sum(report["pages"] for report in extracted)
    if not pages:
        names = ", ".join(extracted[0]["dump"]["files"])
        raise TextcriticError(f"{names}: there is no <page> in it; give a dump named ...-pages-articles.xml(.bz2)")
    counters = {
        key: sum((Counter(report.get(key)) for report in extracted), Counter[str]())
        for key in ("skipped", Choice.notes, Lines.notes)
    }
    provenance = {"dump": {**extracted[0]["dump"], "pages": pages}, "extracted_with": _versions(extracted)}
    return {"articles": sum(report["articles"] for report in extracted), **counters, "provenance": provenance}


def all_pages(dumps: Sequence[Dump]) -> Iterator[bytes]:
    """Every `<page>` element of a dump in order, UTF-8; pages that cannot be read are left out.

    Raises:
        TextcriticError: a file is cut or damaged.
    """
    for task in _tasks(parts_of(dumps, 0, 1), bzip2.READ):
        yield from task.pages if task.stream is None else _unpacked(task.stream, Counter())


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker does at a time: whole pages; or a stream of a file, still compressed.

    Attributes:
        pages: XML of pages; empty if there is a stream.
        skipped: pages that were left out before these, by reason.
        advance: bytes of the file that the task covers.
        stream: to be unpacked; None: there are pages.
    """

    pages: Sequence[bytes]
    skipped: Counter[str]
    advance: int
    stream: "Stream | None" = None


@dataclass(frozen=True, slots=True)
class Stream:
    """A compressed stream and where in its file it begins; `last` if no other follows."""

    path: Path
    offset: int
    data: bytes
    last: bool


class Outcome(NamedTuple):
    """The result of a task: articles, how many pages gave some, pages left out by reason, notes, bytes of the file."""

    articles: list[Article]
    pages: int
    skipped: Counter[str]
    noted: Counter[str]
    advance: int


def _tasks(parts: Iterable[Part], read: int) -> Iterator[Task]:
    for part in parts:
        if part.dump.packing == MULTISTREAM:
            for offset, data in bzip2.streams(part.dump.path, part.start, part.end, read):
                last = offset + len(data) == part.dump.size
                yield Task((), Counter(), len(data), Stream(part.dump.path, offset, data, last))
        else:
            yield from _batches(part, read)


def _batches(part: Part, read: int) -> Iterator[Task]:
    """Pages of a part, `BATCH` bytes or a little more at a time."""
    splitter, pages, size, begin = Splitter(), list[bytes](), 0, part.start
    for data, end in part.dump.content(part.start, part.end, read):
        for page in splitter.feed(data):
            pages.append(page)
            size += len(page)
            if size >= BATCH:
                yield Task(pages, splitter.skipped(), end - begin)
                pages, size, begin = [], 0, end
    # Up to the end of the part, not of the last read: the end mark of a stream may come in a read of its own.
    if part.end == part.dump.size:
        _require_end(splitter, part.dump.path, f"byte {part.end}")
    yield Task(pages, splitter.skipped(unclosed=splitter.within), part.end - begin)


def _done(reader: "Choice | Lines", task: Task) -> Outcome:
    articles, pages, skipped = list[Article](), 0, Counter(task.skipped)
    noted: Counter[str] = Counter()
    for page in task.pages if task.stream is None else _unpacked(task.stream, skipped):
        result = reader.articles(page, noted)
        if isinstance(result, Reason):
            skipped[result.value] += 1
        else:
            articles += result
            pages += 1
    return Outcome(articles, pages, skipped, +noted, task.advance)


def _unpacked(stream: Stream, skipped: Counter[str]) -> Iterator[bytes]:
    splitter = Splitter()
    for piece in bzip2.unpacked(stream.data, stream.path, stream.offset):
        yield from splitter.feed(piece)
    skipped.update(splitter.skipped())
    if stream.last:
        _require_end(splitter, stream.path, f"the stream at byte {stream.offset}")
    elif splitter.within:
        raise TextcriticError(
            f"{stream.path}: the bzip2 stream that begins at byte {stream.offset} ends within a page, unlike the"
            " first; fetch the file again, or unpack it"
        )


def _require_end(splitter: Splitter, path: Path, where: str) -> None:
    if splitter.within or not splitter.closed:
        end = "within a page" if splitter.within else "without </mediawiki>"
        raise TextcriticError(f"{path}: the dump ends {end}, in {where}; it was cut, fetch it again")


def _versions(reports: Sequence[JsonObject]) -> dict[str, str]:
    """The version of each package; several, if shards were extracted with different ones."""
    packages = reports[0]["extracted_with"]
    versions = {name: sorted({report["extracted_with"][name] for report in reports}) for name in packages}
    for name, used in versions.items():
        if len(used) > 1:
            log.warning("the shards were extracted with different versions of %s: %s", name, ", ".join(used))
    return {name: ", ".join(used) for name, used in versions.items()}


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

    def __init__(self, options: CorpusOptions, site: Site, source: str) -> None:
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
