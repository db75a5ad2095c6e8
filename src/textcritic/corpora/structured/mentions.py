"""Texts with mentions of entities, from files with coreference in CoNLL-2012 columns, for EntityNLM."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from textcritic.corpora.readers.conll import conll_documents
from textcritic.corpora.readers.conll_document import PART, ConllDocument
from textcritic.corpora.structured.texts import Mention, Structured
from textcritic.plan.entries.extraction import CorpusOptions

START, END = "@@START@@", "@@END@@"
EMBEDDED = "mention inside a longer one"
CROSSING = "mention that overlaps one before"
TOO_LONG = "mention longer than allowed"
CUT = "mention longer than a piece"


def read_mentions(
    path: str | os.PathLike[str], skipped: Counter[str], options: CorpusOptions | None = None
) -> Iterator[Structured]:
    """Stream the documents of a file or an archive in CoNLL columns, or their pieces.

    Of mentions inside one another only the outermost is kept, as the released reader does; of two that overlap the one
    that begins first; of two of the same tokens the one whose entity is first by name. Entities are numbered from 0 in
    the order of their first mention in the piece. An id is the document's, with `/n` for piece n; a group is the
    document, all its parts together.

    Args:
        path: file, plain or gzipped, or .tar.gz archive of files named .conll.
        skipped: counts the mentions that are left out, by reason.
        options: `longest`, `longest_mention`, `lower`, `markers` and `folder` are read; by default documents stay whole
            and as they are written. A piece ends where a sentence ends; a sentence that is longer is cut, if possible
            between mentions. Markers are easy to predict, and count as tokens unless a model leaves them out of T.

    Raises:
        TextcriticError: as `conll_documents`; a document without words is one of its errors.
    """
    options = options or CorpusOptions()
    for document in conll_documents([path], options.folder):
        mentions = _outermost(document, options, skipped)
        tokens, mentions, ends = _with_markers(document, mentions, options)
        group = document.id.partition(PART)[0]
        if options.longest is None:
            yield Structured(document.id, tokens, mentions=_numbered(mentions), group=group)
            continue
        cuts = _cuts(len(tokens), mentions, ends, options.longest)
        for number, (start, end) in enumerate(pairwise(cuts), 1):
            inside = [m for m in mentions if start <= m.start and m.end <= end]
            skipped[CUT] += sum(start <= m.start < end < m.end for m in mentions)
            inside = [replace(m, start=m.start - start, end=m.end - start) for m in inside]
            yield Structured(f"{document.id}/{number}", tokens[start:end], mentions=_numbered(inside), group=group)


def _outermost(document: ConllDocument, options: CorpusOptions, skipped: Counter[str]) -> list[Mention]:
    kept: list[Mention] = []
    # Those that begin at the same word come with the longest first.
    for first, last, _, entity in document.mentions:
        if kept and first < kept[-1].end:
            skipped[EMBEDDED if last < kept[-1].end else CROSSING] += 1
        else:
            kept.append(Mention(first, last + 1, entity))
    longest = options.longest_mention
    short = [mention for mention in kept if longest is None or mention.end - mention.start <= longest]
    skipped[TOO_LONG] += len(kept) - len(short)
    return short


def _with_markers(
    document: ConllDocument, mentions: list[Mention], options: CorpusOptions
) -> tuple[tuple[str, ...], list[Mention], list[int]]:
    """Tokens, mentions by these tokens, and the ends of sentences."""
    words = [word.lower() for word in document.words] if options.lower else list(document.words)
    tokens: list[str] = []
    ends, moved = [], []
    for first, last in document.sentences:
        tokens += [START] if options.markers else []
        moved += [len(tokens) + word - first for word in range(first, last + 1)]
        tokens += words[first : last + 1]
        tokens += [END] if options.markers else []
        ends.append(len(tokens))
    mentions = [replace(m, start=moved[m.start], end=moved[m.end - 1] + 1) for m in mentions]
    return tuple(tokens), mentions, ends


def _cuts(tokens: int, mentions: list[Mention], ends: list[int], piece: int) -> list[int]:
    """0, where pieces end, and the number of tokens."""
    inside = {token for mention in mentions for token in range(mention.start + 1, mention.end)}
    sentence_ends = set(ends)
    cuts = [0]
    while cuts[-1] < tokens:
        furthest = min(cuts[-1] + piece, tokens)
        places = range(furthest, cuts[-1], -1)
        end = next((place for place in places if place in sentence_ends and place not in inside), None)
        cuts.append(end or next((place for place in places if place not in inside), furthest))
    return cuts


def _numbered(mentions: list[Mention]) -> tuple[Mention, ...]:
    numbers: dict[str, int] = {}
    return tuple(replace(m, entity=str(numbers.setdefault(m.entity, len(numbers)))) for m in mentions)
