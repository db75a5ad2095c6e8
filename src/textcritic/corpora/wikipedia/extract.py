"""One shard of a Wikipedia dump: from its bytes to a Parquet file of articles and a report of what was skipped."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from textcritic.corpora.articles import ARTICLE_SCHEMA, Article, batches_of, write_batches
from textcritic.corpora.wikipedia import bzip2
from textcritic.corpora.wikipedia.choice import Choice
from textcritic.corpora.wikipedia.dump import MULTISTREAM, Part, open_dumps, parts_of
from textcritic.corpora.wikipedia.pages import Reason, Splitter
from textcritic.corpora.wikipedia.workers import in_order
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.options.corpora import WIKIPEDIA
from textcritic.plan.spec import complete
from textcritic.runlog import Progress, log, versions

BATCH = 1 << 19  # bytes of pages that are handed to a worker at one time
ROWS = 64  # articles of a row group: memory holds so many


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker does at one time: whole pages; or a stream of a file, still compressed.

    `skipped` is what was counted before the pages, `advance` how many bytes of the file they come from.
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
    """What became of a task."""

    articles: list[Article]
    skipped: Counter[str]
    advance: int


def extract_shard(
    paths: Sequence[str | os.PathLike[str]],
    options: Mapping[str, Any],
    shard: int,
    shards: int,
    out_path: str | os.PathLike[str],
    report_path: str | os.PathLike[str],
    workers: int = 1,
    read: int = bzip2.READ,
) -> None:
    """Write the articles of one shard of a dump, in the dump's order, and a report of the pages that gave none.

    An article is the introduction, as section "abstract", and the level-2 sections, as `wikitext.sections_of` cuts
    them; `id` is the page's number, `source` the wiki's database name, or the first file's name where the dump does not
    say. What is skipped, and why, is in `pages.Reason`. The shards in order are the same articles, however many there
    are; so it is with workers. Memory holds at most `workers.IN_FLIGHT` tasks a worker and one row group of articles.

    Args:
        paths: the files of a `pages-articles` dump in order: XML, bzip2 or multistream bzip2, told by their bytes.
        options: the registry entry's: `disambiguation_templates` and `skip_titles`.
        shard: which, from 0.
        shards: of how many; see `dump.parts_of`.
        out_path: Parquet file in the corpus schema; it may have no article.
        report_path: JSON with `articles`, `pages`, `skipped` {reason: n}, `dump`, what its head says, and
            `extracted_with` {package: version}.
        workers: processes that read pages; 1 for this one alone.
        read: bytes read at one time.

    Raises:
        TextcriticError: a file is missing, no dump, cut, damaged, or of another wiki; an option is wrong; a worker was
            killed.
    """
    dumps = open_dumps(paths)
    site = dumps[0].site
    if site.language != "en" and options["disambiguation_templates"] == _english():
        log.warning(
            "%s: its language is %r, but disambiguation_templates are the English defaults; see the schema",
            *(dumps[0].path, site.language),
        )
    choice = Choice(options, site, site.dbname or dumps[0].path.name)
    parts = parts_of(dumps, shard, shards)
    progress = Progress(f"shard {shard + 1} of {shards}", sum(part.end - part.start for part in parts), "bytes")
    skipped: Counter[str] = Counter()
    articles = 0

    def found() -> Iterator[Article]:
        nonlocal articles
        for outcome in in_order(partial(_done, choice), _tasks(parts, read), workers):
            yield from outcome.articles
            articles += len(outcome.articles)
            skipped.update(outcome.skipped)
            progress.advance(outcome.advance, f"{progress.rate / 1e6:.2f} MB/s, {articles:,} articles")

    stream = found()
    groups = iter(lambda: list(islice(stream, ROWS)), [])
    write_batches(out_path, (batch for group in groups for batch in batches_of(group)), ARTICLE_SCHEMA)
    head = {key: getattr(site, key) for key in ("name", "dbname", "generator", "schema", "language")}
    dump = {"files": [file.path.name for file in dumps], **head}
    counts = {"pages": articles + skipped.total(), "articles": articles, "skipped": dict(skipped)}
    report = {**counts, "dump": dump, "extracted_with": versions("mwparserfromhell")}
    write_json(report_path, report)
    log.info("%s of %s pages are articles; skipped: %s", f"{articles:,}", f"{report['pages']:,}", dict(skipped))


def _english() -> list[str]:
    options = complete({"extractor": WIKIPEDIA}, "corpora", WIKIPEDIA)["options"]
    templates: list[str] = options["disambiguation_templates"]
    return templates


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
    # Not where the reader was when it had the last of the text: a stream's end may follow in a read of its own.
    if part.end == part.dump.size:
        _require_end(splitter, part.dump.path, f"byte {part.end}")
    yield Task(pages, splitter.skipped(unclosed=splitter.within), part.end - begin)


def _done(choice: Choice, task: Task) -> Outcome:
    articles, skipped = [], Counter(task.skipped)
    for page in task.pages if task.stream is None else _unpacked(task.stream, skipped):
        article = choice.article(page)
        if isinstance(article, Reason):
            skipped[article.value] += 1
        else:
            articles.append(article)
    return Outcome(articles, skipped, task.advance)


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
        found = "within a page" if splitter.within else "without </mediawiki>"
        raise TextcriticError(f"{path}: the dump ends {found}, in {where}; it was cut, fetch it again")
