"""The job that resolves the coreference of a file of articles, in parts that survive a kill.

Every part of `PART` articles is a file next to the result. A killed job continues with the first part that is missing.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from textcritic.batches import batched
from textcritic.corpora.articles import Article, iter_articles, iter_batches, write_batches
from textcritic.files import read_table, write_text
from textcritic.latents.resolvers.given import GivenResolver
from textcritic.latents.resolvers.language import load_language
from textcritic.latents.resolvers.linking import Linker
from textcritic.latents.resolvers.mention import (
    MENTIONS_SCHEMA,
    Resolved,
    Unresolved,
    batches_of,
    iter_mentions,
    text_of,
    write_mentions,
)
from textcritic.latents.resolvers.persons import NearestLinker, PersonsResolver
from textcritic.latents.resolvers.text import split_words
from textcritic.plan.entries import GivenMentions, Nearest, Neural, Persons
from textcritic.plan.entries import Resolver as ResolverEntry
from textcritic.plan.entries.resolvers import Opening
from textcritic.runlog import Progress
from textcritic.workers import in_order

PART = 2_000
CHUNK = 32
OTHER_OPENING = "the opening does not match"

Documents = Iterable[tuple[str, str]]


class Resolver(Protocol):
    """What finds the mentions of articles; `resolver_of` makes one."""

    def resolve(self, documents: Documents) -> Iterator[Resolved | Unresolved]:
        """The mentions of (id, text) pairs, in order, as they come."""
        ...


@dataclass(frozen=True, slots=True)
class ResolvedFiles:
    """Files of the job.

    Attributes:
        articles: a corpus split or a sample, Parquet.
        mentions: to write, Parquet of schema `MENTIONS_SCHEMA`.
        rejected: articles of a sample that were rejected before (id, why), carried along; None for real text.
        folder: of a pretrained model, for kinds that have one.
    """

    articles: str | os.PathLike[str]
    mentions: str | os.PathLike[str]
    rejected: str | os.PathLike[str] | None = None
    folder: str | os.PathLike[str] | None = None


def resolver_of(entry: ResolverEntry, folder: str | os.PathLike[str] | None = None) -> Resolver:
    """The resolver of an entry of the resolvers registry.

    Args:
        entry: of any kind.
        folder: of the pretrained model; kind `neural` needs it.

    Raises:
        TextcriticError: a file of a language, of mentions, or of the model is not there, or wrong.
    """
    if isinstance(entry, Neural):
        from textcritic.latents.resolvers.neural import NeuralResolver  # loads torch

        assert folder is not None
        return NeuralResolver(folder, entry.architecture, entry.batch_tokens, entry.precision)
    if isinstance(entry, GivenMentions):
        return GivenResolver(entry.files, entry.language)
    return PersonsResolver(load_language(entry.language), NearestLinker if isinstance(entry, Nearest) else Linker)


def resolve_articles(files: ResolvedFiles, entry: ResolverEntry, processes: int = 1) -> None:
    """Write the mentions of a file of articles.

    Args:
        files: of the job.
        entry: of the resolver.
        processes: that share the work, for the kinds that are made of rules.

    Raises:
        TextcriticError: the articles cannot be read, or the resolver reports a fault.
    """
    parts = _Parts(Path(files.mentions).with_suffix(".parts"), _fingerprint(files, entry))
    resolver = resolver_of(entry, files.folder)
    workers = processes if isinstance(entry, Persons | Nearest) else 1
    progress = Progress(f"coreference ({entry.kind})", _count(files.articles), "articles")
    for number, articles in enumerate(batched(iter_articles(files.articles), PART)):
        if not parts.is_there(number):
            resolved = _resolved(articles, resolver, opening_of(entry.opening, entry.language), workers)
            write_mentions(parts.path(number), _counted(resolved, progress))
        else:
            progress.advance(len(articles), "of an earlier run")
    before = _rejected_before(files.rejected)
    write_batches(files.mentions, chain(parts.batches(), batches_of(before)), MENTIONS_SCHEMA)
    parts.remove()


def opening_of(opening: Opening | None, language: str = "en") -> Callable[[Article], bool]:
    """Whether an article opens as the key `opening` of a resolver asks for.

    Films of the model-criticism paper: its appendix G matches the whole first section; its released code the first
    sentence, which must have the token `film` and must not have `born` (there spaCy's sentences and tokens; here ours).
    """
    if opening is None:
        return lambda article: True
    pattern, asked = re.compile(opening.matches, re.DOTALL), opening

    def opens(article: Article) -> bool:
        text = article.sections[0].text if article.sections else ""
        if asked.of == "sentence":
            start, end = next(iter(split_words(text, load_language(language)).sentence_spans()), (0, 0))
            text = text[start:end]
        words = set(re.findall(r"\w+", text))
        has = asked.word is None or asked.word in words
        return has and asked.without not in words and pattern.match(text) is not None

    return opens


def _resolved(
    articles: Iterable[Article], resolver: Resolver, opens: Callable[[Article], bool], workers: int
) -> Iterator[Resolved | Unresolved]:
    """The mentions of articles, in order; articles whose opening does not match are not resolved."""

    def work(some: list[Article]) -> list[Resolved | Unresolved]:
        chosen = [article for article in some if opens(article)]
        resolved = resolver.resolve((article.id, text_of(article)) for article in chosen)
        by_id = {item.id: item for item in resolved}
        return [by_id.get(article.id, Unresolved(article.id, OTHER_OPENING)) for article in some]

    # A resolver with one process makes its own batches: it gets a whole part.
    size = CHUNK if workers > 1 else PART
    for results in in_order(work, batched(articles, size), workers):
        yield from results


def _counted(resolved: Iterator[Resolved | Unresolved], progress: Progress) -> Iterator[Resolved | Unresolved]:
    for item in resolved:
        yield item
        progress.advance()


def _rejected_before(path: str | os.PathLike[str] | None) -> list[Unresolved]:
    if path is None:
        return []
    return [Unresolved(row["id"], row["why"]) for row in read_table(path).select(["id", "why"]).to_pylist()]


def _count(path: str | os.PathLike[str]) -> int:
    ids = pa.schema([pa.field("id", pa.string(), nullable=False)])
    return sum(batch.num_rows for batch in iter_batches(path, ids))


def _fingerprint(files: ResolvedFiles, entry: ResolverEntry) -> str:
    """A digest of what the parts are made from; parts of an earlier run are used only if theirs is the same."""
    given = entry.files if isinstance(entry, GivenMentions) else []
    read = [files.articles, *given, entry.language]
    states = [(file.st_size, file.st_mtime_ns) for path in map(Path, read) if path.is_file() for file in [path.stat()]]
    return hashlib.sha256(json.dumps([entry.plain(), states, PART], sort_keys=True).encode()).hexdigest()


class _Parts:
    """The files of parts, in a folder of their own; those of other articles or another resolver are removed."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder, mark = folder, folder / "made_from"
        if folder.is_dir() and (not mark.is_file() or mark.read_text() != fingerprint):
            shutil.rmtree(folder)
        write_text(mark, fingerprint)

    def path(self, number: int) -> Path:
        return self.folder / f"{number}.parquet"

    def is_there(self, number: int) -> bool:
        return self.path(number).is_file()

    def batches(self) -> Iterator[pa.RecordBatch]:
        number = 0
        while self.is_there(number):
            yield from iter_mentions(self.path(number))
            number += 1

    def remove(self) -> None:
        shutil.rmtree(self.folder)
