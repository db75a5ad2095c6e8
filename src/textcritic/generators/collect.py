"""From raw draws to a sample: texts are parsed into articles, rejected texts are stored separately and counted."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

import pyarrow as pa

from textcritic.corpora import (
    Article,
    MalformedArticle,
    Section,
    Titles,
    given_articles,
    parse,
    standard_article,
    write_articles,
)
from textcritic.corpora.layout import W_TITLE
from textcritic.corpora.readers.reading import changes
from textcritic.errors import TextcriticError
from textcritic.files import write_json, write_table
from textcritic.generators.shards import CUT, Draw, read_shard
from textcritic.plan.checks.corpora import NONE
from textcritic.plan.entries import Corpus, Decoding
from textcritic.runlog import log

Kept = TypeVar("Kept")
NOT_DRAWN: Mapping[str, int | None] = {"tokens": None, "unfinished": 0}
REJECTED_SCHEMA = pa.schema([pa.field(name, pa.string(), nullable=False) for name in ("id", "text", "why")])


@dataclass(frozen=True)
class SampleFiles:
    """The files of a sample.

    Attributes:
        sample: its articles, a Parquet file in the corpus schema.
        rejected: rejected texts, a Parquet file: id, text, why.
        counts: JSON: `drawn`, `kept`, `rejected` (reason to number), `tokens` (drawn in all; null: not known),
            `unfinished` (kept although they had not ended).
    """

    sample: str | os.PathLike[str]
    rejected: str | os.PathLike[str]
    counts: str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Limit:
    """The number of tokens after which texts are cut, and whether those that were cut are kept, as far as they go."""

    tokens: int
    keep: bool = False

    @classmethod
    def of(cls, decoding: Decoding) -> Self:
        """The limit of an entry of the decodings registry."""
        return cls(decoding.max_tokens, decoding.unfinished == "keep")


@dataclass(frozen=True, slots=True)
class Rejected:
    """A text that is not kept, and the reason."""

    id: str
    text: str
    why: str


@dataclass(frozen=True)
class Form(Generic[Kept]):
    """What draws become, and how a file of it is written.

    Attributes:
        of: makes it from the id and the draw; for a text that is not possible it raises MalformedArticle, with the
            reason.
        write: writes the Parquet file of those that are kept.
        text: the text of a draw, as the file of rejected texts shows it.
    """

    of: Callable[[str, Draw], Kept]
    write: Callable[[str | os.PathLike[str], Iterator[Kept]], None]
    text: Callable[[Draw], str] = lambda draw: draw.text


def articles_by(content_of: Callable[[Draw], tuple[str | None, tuple[Section, ...]]], generator: str) -> Form[Article]:
    """Articles of a generator, by what gives title and sections of a draw."""
    return Form(lambda identifier, draw: Article(identifier, *content_of(draw), generator), write_articles)


def collect_samples(
    shards: Sequence[str | os.PathLike[str]],
    setting: str,
    limit: Limit,
    generator: str,
    files: SampleFiles,
) -> dict[str, object]:
    """Parse the draws of all shards; nothing is drawn again for an article that is rejected.

    An article is rejected when its text is malformed (`layout.parse`: "empty", "empty section", "section without
    title") or when it did not end ("no end within N tokens"), which the paper's released code keeps as if it had. With
    `limit.keep` those that did not end are kept: to leave them out would make texts shorter than the generator's are.

    Args:
        shards: Parquet files of raw draws.
        setting: `w-title`, where sections have the titles that were generated, or `wo-title`, where they have none.
        limit: of the decoding.
        generator: name that ids (`{generator}-000012`) and sources are made from.
        files: to write.

    Returns:
        what was written to `files.counts`.

    Raises:
        TextcriticError: a shard is missing or not whole, an index occurs twice, or every article was rejected.
    """
    advice = "train the generator for longer, or raise max_tokens"
    form = articles_by(lambda draw: (None, parse(draw.text, setting)), generator)
    return collect_draws(shards, form, limit, generator, files, advice)


def collect_draws(
    shards: Sequence[str | os.PathLike[str]],
    form: Form[Kept],
    limit: Limit,
    generator: str,
    files: SampleFiles,
    advice: str | None,
) -> dict[str, object]:
    """The part of `collect_samples` that does not depend on how a text is parsed.

    Args:
        shards: see `collect_samples`.
        form: what a draw becomes, and how that is written.
        limit: see `collect_samples`.
        generator: see `collect_samples`.
        files: to write.
        advice: what to do if every article was rejected, for the error; None makes that a warning instead, and an empty
            sample.

    Returns:
        see `collect_samples`.

    Raises:
        TextcriticError: a shard is missing or not whole, or an index occurs twice; with `advice`, no article was kept.
    """
    tokens = unfinished = 0
    seen: set[int] = set()

    def outcomes() -> Iterator[Kept | Rejected]:
        nonlocal tokens, unfinished
        for shard in shards:
            for draw in read_shard(shard):
                if draw.index in seen:
                    raise TextcriticError(
                        f"{shard}: article {draw.index} was drawn in another shard too; draw it again"
                    )
                seen.add(draw.index)
                tokens += draw.tokens
                identifier = f"{generator}-{draw.index:06d}"
                if draw.finish == CUT and not limit.keep:
                    yield Rejected(identifier, form.text(draw), f"no end within {limit.tokens} tokens")
                    continue
                try:
                    yield form.of(identifier, draw)
                    unfinished += draw.finish == CUT
                except MalformedArticle as malformed:
                    yield Rejected(identifier, form.text(draw), malformed.reason)

    more = lambda: {"tokens": tokens, "unfinished": unfinished}  # noqa: E731
    return write_sample(outcomes(), more, advice, files, form.write)


def import_samples(
    path: str | os.PathLike[str],
    setting: str,
    corpus: Corpus,
    files: SampleFiles,
) -> dict[str, object]:
    """Take in articles that another program generated, with the outcome of `collect_samples`.

    An article without sections is rejected as "empty", one with a section without text as "empty section". In
    `wo-title` titles are optional, lower-cased and stripped. In `w-title` a critic may use them, so they are treated as
    the corpus' titles are: standardised, and the sections in `drop` left out. Then an article is rejected as "section
    without title" if a section has no title with letters in it, and as "only sections that the corpus leaves out" if
    no section is left. How many tokens were drawn is not known: null.

    Args:
        path: JSON lines, Parquet or Arrow, see `corpora.given_articles`.
        setting: `w-title` or `wo-title`.
        corpus: whose `titles` and `normalise` are read.
        files: to write.

    Raises:
        TextcriticError: a fault of the file, naming its line or row; or every article was rejected.
    """
    standard = Titles(corpus.titles) if setting == W_TITLE else None
    given, changed = given_articles(path), Counter[str]()
    if corpus.normalise != NONE:
        given = (standard_article(article, changed) for article in given)

    def outcome(article: Article) -> Article | Rejected:
        texts = [section.text.strip() for section in article.sections]
        try:
            if not all(texts) or not texts:
                raise MalformedArticle("empty section" if any(texts) else "empty")
            if standard is None:
                names = [(section.title or "").strip().lower() or None for section in article.sections]
                sections = tuple(map(Section, names, texts))
            else:
                sections = _titled(article, texts, standard)
        except MalformedArticle as malformed:
            return Rejected(article.id, "\n\n".join(texts), malformed.reason)
        return replace(article, sections=sections)

    advice = "give articles whose sections all have text" + (" and a title" if standard else "")
    outcomes = map(outcome, given)
    counts = write_sample(outcomes, lambda: NOT_DRAWN, advice, files, write_articles)
    if changed:
        log.info("%s: %s", path, changes(changed))
    return counts


def _titled(article: Article, texts: Sequence[str], standard: Titles) -> tuple[Section, ...]:
    titles = [standard.standardise(section.title or "") for section in article.sections]
    if not all(titles):
        raise MalformedArticle("section without title")
    kept = tuple(Section(*pair) for pair in zip(titles, texts, strict=True) if pair[0] not in standard.drop)
    if not kept:
        raise MalformedArticle("only sections that the corpus leaves out")
    return kept


def write_sample(
    outcomes: Iterator[Kept | Rejected],
    more: Callable[[], Mapping[str, int | None]],
    advice: str | None,
    files: SampleFiles,
    write: Callable[[str | os.PathLike[str], Iterator[Kept]], None],
) -> dict[str, object]:
    """Write what is kept as it comes, then what is rejected, and the counts.

    Args:
        outcomes: articles to keep, and texts that are rejected.
        more: asked at the end for `tokens` and `unfinished`; `NOT_DRAWN` where somebody else drew them.
        advice: see `collect_draws`.
        files: to write.
        write: writes those that are kept.

    Returns:
        see `collect_samples`.

    Raises:
        TextcriticError: with `advice`, no article was kept.
    """
    kept, rejected = 0, list[Rejected]()

    def articles() -> Iterator[Kept]:
        nonlocal kept
        for outcome in outcomes:
            if isinstance(outcome, Rejected):
                rejected.append(outcome)
            else:
                kept += 1
                yield outcome
        if not kept and advice is not None:
            raise TextcriticError(f"{_nothing(files.sample, rejected)}; {advice}")

    write(files.sample, articles())
    if not kept:
        log.warning("%s; the sample is empty", _nothing(files.sample, rejected))
    elif rejected:
        log.info("%d of %d articles rejected: %s", len(rejected), kept + len(rejected), _listed(rejected))
    columns = {name: [getattr(item, name) for item in rejected] for name in REJECTED_SCHEMA.names}
    write_table(files.rejected, pa.table(columns, schema=REJECTED_SCHEMA))
    drawn = kept + len(rejected)
    counts: dict[str, object] = {"drawn": drawn, "kept": kept, "rejected": _reasons(rejected), **more()}
    write_json(files.counts, counts)
    return counts


def _nothing(out_path: str | os.PathLike[str], rejected: Sequence[Rejected]) -> str:
    listed = _listed(rejected) or "none were drawn"
    return f"{out_path}: of {len(rejected)} articles none can be used ({listed})"


def _listed(rejected: Sequence[Rejected]) -> str:
    return ", ".join(f"{why}: {number}" for why, number in _reasons(rejected).items())


def _reasons(rejected: Sequence[Rejected]) -> dict[str, int]:
    return dict(Counter(item.why for item in rejected).most_common())
