"""Mentions from files, of any tool or of people: CoNLL-2012 or CoNLL-U columns, or JSON lines."""

import os
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from pathlib import Path

from textcritic.corpora.readers.archives import is_archive
from textcritic.corpora.readers.conll import conll_documents, plain
from textcritic.corpora.readers.conll_document import SUFFIXES, ConllDocument
from textcritic.corpora.readers.records import Record, records
from textcritic.corpora.readers.values import kind_of
from textcritic.errors import TextcriticError
from textcritic.latents.resolvers.conll import with_spans
from textcritic.latents.resolvers.heads import head_word
from textcritic.latents.resolvers.language import load_language
from textcritic.latents.resolvers.mention import Mention, Resolved, Unresolved
from textcritic.latents.resolvers.text import split_words
from textcritic.values import JsonObject

NOTHING = "no mentions given"
"""The reason for an article that none of the files has; an article with an empty list is resolved, without mentions."""

DOCUMENT_KEYS = ("id", "mentions", "sentences")
MENTION_KEYS = ("start", "end", "entity", "head", "sentence", "person")
# Characters that count as the same when columns are aligned with a text; and words in which one sign replaces several.
_FOLDED = str.maketrans("’‘‚‛“”„«»–—", '\'\'\'\'"""""--')
_VARIANTS: Mapping[str, tuple[str, ...]] = {
    '"': ("''", "``"), "--": ("-",), "-": ("--",), "...": ("…",), "…": ("...",), "`": ("'",)
}  # fmt: skip
_JOINER = "\N{ZERO WIDTH JOINER}"
_SKIN = range(0x1F3FB, 0x1F400)


class GivenResolver:
    """Gives each article the mentions that files have for its id; it needs memory for all of the files.

    Args:
        files: .tar.gz archives and files named .conll or .conllu (CoNLL columns), otherwise JSON lines; also gzipped.
        language: of the sentences and heads that a file does not give.

    Raises:
        TextcriticError: a file that cannot be read, or is not right; an id that two of them have.
    """

    def __init__(self, files: Iterable[str | os.PathLike[str]], language: str = "en") -> None:
        self.language = language
        paths = [os.fspath(path) for path in files]
        lines = [path for path in paths if not _is_conll(path)]
        columns = [path for path in paths if _is_conll(path)]
        self._documents: dict[str, ConllDocument | _Line] = {}
        given: Iterator[ConllDocument | _Line] = chain(conll_documents(columns), *(_lines(path) for path in lines))
        for document in given:
            if document.id in self._documents:
                raise TextcriticError(
                    f"{document.where}: id '{document.id}' is in {self._documents[document.id].where} too; "
                    "give the mentions of an article once"
                )
            self._documents[document.id] = document

    def resolve(self, documents: Iterable[tuple[str, str]]) -> Iterator[Resolved | Unresolved]:
        """The mentions of (id, text) pairs, in order, as they come.

        Raises:
            TextcriticError: the words of a CoNLL document are not those of the text; a span outside of it.
        """
        for identifier, text in documents:
            given = self._documents.get(identifier)
            if given is None:
                yield Unresolved(identifier, NOTHING)
            elif isinstance(given, _Line):
                yield given.resolved(text, self.language)
            else:
                yield with_spans(given, text, aligned(given, text), self.language)


def aligned(document: ConllDocument, text: str) -> list[tuple[int, int]]:
    """The characters of the words of a document in a text that has the same words with other spaces.

    Escapes of the Penn Treebank and other forms of quotation marks and dashes fit.

    Returns:
        (start, end) of each word.

    Raises:
        TextcriticError: a word is not where it should be, or the text goes on; file, document and word are named.
    """
    folded = text.translate(_FOLDED)
    spans, at = list[tuple[int, int]](), 0
    given = document.spans or [None] * len(document.words)
    for number, (word, line) in enumerate(zip(document.words, document.lines, strict=True)):
        if place := given[number]:
            if number and place == given[number - 1]:  # written as one with the word before
                spans.append(spans[-1])
                continue
            word = document.text[slice(*place)]
        at = _after_spaces(text, at)
        shown = next((form for form in _forms(word) if folded.startswith(form, at)), None)
        if shown is None:
            raise TextcriticError(
                f"{_line(document, line)}: word {word!r} of document '{document.id}' is not in the article at "
                f"character {at}, which has {text[at : at + 20]!r}; give the columns of this text"
            )
        spans.append((at, at + len(shown)))
        at += len(shown)
    if (rest := _after_spaces(text, at)) < len(text):
        raise TextcriticError(
            f"{_line(document, document.lines[-1])}: {document.words[-1]!r} is the last word of document "
            f"'{document.id}', but the article goes on with {text[rest : rest + 20]!r}; give the columns of this text"
        )
    return spans


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of JSON with the mentions of an article; its types are right, its characters are not looked at yet."""

    id: str
    where: str
    mentions: Sequence[JsonObject]
    sentences: Sequence[tuple[int, int]] | None

    def resolved(self, text: str, language: str) -> Resolved:
        sentences = self._sentences(text, language)
        order = sorted(enumerate(self.mentions, 1), key=lambda item: (item[1]["start"], -item[1]["end"]))
        entities: dict[int | str, int] = {}
        mentions = []
        for number, given in order:
            where = f"{self.where}, mention {number}"
            span = _checked(given["start"], given["end"], text, where)
            head = self._head(given, span, text, language, where)
            entity = entities.setdefault(given["entity"], len(entities))
            sentence = given.get("sentence")
            if sentence is None:
                sentence = _sentence_at(head[0], sentences)
            elif sentence >= len(sentences):
                raise TextcriticError(f"{where}: sentence {sentence}; the article has {len(sentences)}, from 0")
            mentions.append(Mention(*span, *head, entity, sentence, given.get("person")))
        return Resolved(self.id, text, tuple(sentences), tuple(mentions))

    def _sentences(self, text: str, language: str) -> Sequence[tuple[int, int]]:
        if self.sentences is None:
            return split_words(text, load_language(language)).sentence_spans()
        end = 0
        for number, span in enumerate(self.sentences, 1):
            start, stop = _checked(*span, text, f"{self.where}, sentence {number}")
            if start < end:
                raise TextcriticError(
                    f"{self.where}, sentence {number}: begins at {start}, before the last one ends at {end}; "
                    "give sentences in order"
                )
            end = stop
        return self.sentences

    @staticmethod
    def _head(given: JsonObject, span: tuple[int, int], text: str, language: str, where: str) -> tuple[int, int]:
        pair = given.get("head")
        if pair is None:
            words = split_words(text[span[0] : span[1]], load_language(language))
            start, end = words.spans[head_word(words.words, 0, len(words.words) - 1, language)]
            head = span[0] + start, span[0] + end
            # An emoji that several characters make stays whole.
            return span if any(_inside_character(text, place) for place in head) else head
        start, end = _checked(pair[0], pair[1], text, f"{where}, head")
        if not span[0] <= start < end <= span[1]:
            raise TextcriticError(f"{where}: head {start} to {end} is not within the mention, {span[0]} to {span[1]}")
        return start, end


def _lines(path: str) -> Iterator[_Line]:
    empty = True
    for record in records(path, DOCUMENT_KEYS, ["mentions"]):
        empty = False
        yield _checked_line(record)
    if empty:
        raise TextcriticError(f"{path}: there is no line in it; write one object with `id` and `mentions` a line")


def _checked_line(record: Record) -> _Line:
    value, where = record.value, record.where
    should = 'it should be an object: {"id": ..., "mentions": [...]}'
    if not isinstance(value, dict):
        raise TextcriticError(f"{where}: {kind_of(value)}; {should}")
    identifier, mentions, sentences = (value.get(key) for key in DOCUMENT_KEYS)
    if not _is_name(identifier):
        raise TextcriticError(f"{where}: `id` is {kind_of(identifier)}; it should be that of an article")
    if not isinstance(mentions, list):
        raise TextcriticError(f"{where}: `mentions` is {kind_of(mentions)}; it should be a list of objects")
    for number, mention in enumerate(mentions, 1):
        _check_mention(mention, f"{where}, mention {number}")
        record.ignored.update((f"mentions.{key}", None) for key in mention if key not in MENTION_KEYS)
    if sentences is not None and not (isinstance(sentences, list) and all(map(_is_pair, sentences))):
        raise TextcriticError(f"{where}: `sentences` should be a list of pairs of characters, [start, end]")
    return _Line(str(identifier), where, mentions, None if sentences is None else [(a, b) for a, b in sentences])


def _check_mention(mention: object, where: str) -> None:
    if not isinstance(mention, dict):
        raise TextcriticError(f'{where}: {kind_of(mention)}; it should be {{"start": 0, "end": 4, "entity": 1}}')
    for key in ("start", "end"):
        if not _is_int(mention.get(key)):
            raise TextcriticError(f"{where}: `{key}` is {_shown(mention.get(key))}; it should be a whole number")
    if not _is_name(mention.get("entity")):
        raise TextcriticError(
            f"{where}: `entity` is {_shown(mention.get('entity'))}; it should be a number or a string"
        )
    checks = {
        "head": (_is_pair, "a pair of characters, [start, end]"),
        "sentence": (lambda value: _is_int(value) and value >= 0, "the index of a sentence, from 0"),
        "person": (lambda value: isinstance(value, bool), "true or false"),
    }
    for key, (right, words) in checks.items():
        if mention.get(key) is not None and not right(mention[key]):
            raise TextcriticError(f"{where}: `{key}` is {_shown(mention[key])}; it should be {words}")


def _checked(start: int, end: int, text: str, where: str) -> tuple[int, int]:
    """A span, if it is one of the text."""
    if not 0 <= start < end <= len(text):
        raise TextcriticError(
            f"{where}: characters {start} to {end}; a span has 0 <= start < end <= {len(text)}, the length of "
            "the article"
        )
    for place in (start, end):
        if _inside_character(text, place):
            raise TextcriticError(
                f"{where}: character {place} is inside {text[max(place - 1, 0) : place + 1]!r}, which is shown as one; "
                "count characters as Python does (code points), and keep marks with their letters"
            )
    if not text[start:end].strip():
        raise TextcriticError(f"{where}: characters {start} to {end} are white space; a mention has a word")
    return start, end


def _inside_character(text: str, place: int) -> bool:
    """Whether this place is inside what is shown as one character: a letter with its marks, or a joined emoji."""
    if not 0 < place < len(text):
        return False
    after = text[place]
    joined = after == _JOINER or (text[place - 1] == _JOINER and unicodedata.category(after) == "So")
    return joined or unicodedata.category(after).startswith("M") or ord(after) in _SKIN


def _sentence_at(place: int, sentences: Sequence[tuple[int, int]]) -> int:
    """Index of the last sentence that begins at or before a character; 0 before the first."""
    return max(bisect_right(sentences, place, key=itemgetter(0)) - 1, 0)


def _forms(word: str) -> Iterator[str]:
    """What a word of the columns may be in a text, both folded."""
    for form in (word, plain(word)):
        yield form.translate(_FOLDED)
        yield from _VARIANTS.get(form.translate(_FOLDED), ())


def _after_spaces(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _line(document: ConllDocument, line: int) -> str:
    return f"{document.where.rpartition(':')[0]}:{line}"


def _is_conll(path: str) -> bool:
    return path.removesuffix(".gz").endswith((*SUFFIXES, ".tar", ".tgz")) or (Path(path).is_file() and is_archive(path))


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_name(value: object) -> bool:
    return _is_int(value) or (isinstance(value, str) and value != "")


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_int, value))


def _shown(value: object) -> str:
    return kind_of(value) if isinstance(value, list | dict) or value is None else repr(value)
