"""What the critic reads in each sentence of a set of documents: its words, names, years, and how it begins and ends.

Documents are cut into sentences inside their sections, and these into passages of at most `MOST` consecutive sentences.
Order is only judged inside passages, so a document of 5,000 sentences costs no more than 500 of ten.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from textcritic.corpora.intruders.sentences import split_sentences
from textcritic.corpora.intruders.terms import STOP_WORDS

MOST = 10
"""Sentences of a passage."""
WORD = re.compile(r"\w+(?:['’]\w+)*")
YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_PRONOUNS = "he she they it his her their its him them this these those that such"
PRONOUNS = frozenset(_PRONOUNS.split())
OF_PERSONS, OF_THINGS = frozenset(("he", "she", "his", "her")), frozenset(("it", "its", "this", "these", "they"))
DEFINITE = frozenset(("the", "this", "these", "that", "those"))
MARKS = ("content", "names", "later_names", "indefinite", "definite")
"""Sets of words of a sentence: those that are no function words; capitalised ones; of these, those behind another one
("Smith" of "Ann Smith"); those one or two behind "a"; and those behind "the" or a demonstrative."""
NUMBERS = ("words", "names", "later names", "has a year", "pronouns", "has a bracket", "has a quote", "starts: he, she")
"""Numbers of a sentence, each in its own unit, so that most values are between 0 and 1."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Sentences:
    """The sentences of the passages of a set of documents, one document after the other, in order.

    Attributes:
        document: [passages], from 0.
        length: [passages], sentences of each, 2 to `MOST`.
        number: [sentences], which sentence of its document it is, from 0, single ones of other sections counted in.
        terms: the meaning of the columns of `marks`.
        marks: by the names of `MARKS`: 0 or 1 [sentences, terms].
        keys: the columns of `words`: `w=` a word, `1=` the first word, `12=` the first two, `last=` the last.
        words: 0 or 1 [sentences, keys].
        numbers: [sentences, `NUMBERS`].
        year: [sentences], the mean of its years; NaN without one.
        first: [sentences], a number for the first word; -1 without a word.
        pronoun, of_person, of_thing: [sentences], whether the first word is such a pronoun.
        total: [documents], all sentences of each.
    """

    document: Ints
    length: Ints
    number: Ints
    terms: Sequence[str]
    marks: Mapping[str, sp.csr_matrix]
    keys: Sequence[str]
    words: sp.csr_matrix
    numbers: Floats
    year: Floats
    first: Ints
    pronoun: Bools
    of_person: Bools
    of_thing: Bools
    total: Ints

    @property
    def starts(self) -> Ints:
        """The first sentence of each passage: [passages]."""
        starts: Ints = np.cumsum(self.length) - self.length
        return starts

    @property
    def passage(self) -> Ints:
        """The passage of each sentence: [sentences]."""
        passages: Ints = np.repeat(np.arange(len(self.length)), self.length)
        return passages

    @property
    def counted(self) -> Ints:
        """The sentences of each document in passages; 0 where there is nothing to order: [documents]."""
        sentences: Ints = np.bincount(self.document, self.length, len(self.total)).astype(np.int64)
        return sentences

    def take(self, documents: Ints) -> "Sentences":
        """The sentences of some documents, whose numbers ascend; the documents get new numbers from 0 on."""
        place = np.full(len(self.total), -1)
        place[documents] = np.arange(len(documents))
        kept = place[self.document] >= 0
        of = np.repeat(kept, self.length)
        rows = {
            one.name: getattr(self, one.name)[of]
            for one in fields(self)
            if one.name in ("number", "words", "numbers", "year", "first", "pronoun", "of_person", "of_thing")
        }
        return replace(
            self,
            document=place[self.document[kept]],
            length=self.length[kept],
            marks={name: mark[of] for name, mark in self.marks.items()},
            total=self.total[documents],
            **rows,
        )


def sentences_of(documents: Iterable[Iterable[str | Sequence[str]]]) -> Sentences:
    """Read documents, each the texts of its sections in order, or the sentences of each section.

    A passage of one sentence, or a document without two in one section, has no order and is left out.

    Args:
        documents: the sections of each; a text is cut into sentences.
    """
    reader, document, length, number, total = _Reader(), [], [], [], []
    for owner, sections in enumerate(documents):
        before = 0
        for text in sections:
            sentences = split_sentences(text) if isinstance(text, str) else text
            for piece in np.array_split(np.arange(len(sentences)), -(-len(sentences) // MOST) or 1):
                if len(piece) > 1:
                    document.append(owner)
                    length.append(len(piece))
                    number += (before + piece).tolist()
                    for one in piece:
                        reader.read(sentences[one])
            before += len(sentences)
        total.append(before)
    return reader.finished(*(np.array(of, np.int64) for of in (document, length, number, total)))


class _Reader:
    """Takes sentences one by one. Terms and keys are numbered in the order of the text: every run is the same."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        self.keys: dict[str, int] = {}
        self.marks: dict[str, list[list[int]]] = {name: [] for name in MARKS}
        self.words: list[list[int]] = []
        self.numbers: list[list[float]] = []
        self.rest: list[tuple[float, int, bool, bool, bool]] = []

    def read(self, sentence: str) -> None:
        """One sentence, in time linear in its length."""
        written = WORD.findall(sentence)
        words = [word.lower() for word in written]
        first = words[0] if words else ""
        capital = [word[0].isupper() for word in written]
        names = dict.fromkeys(w for n, w in enumerate(words) if capital[n] and (n or w not in STOP_WORDS))
        after = list(zip(words, words[1:], [*words[2:], ""], strict=False))
        in_row = (n for n in range(1, len(words)) if capital[n - 1] and capital[n])
        later = dict.fromkeys(words[n] for n in in_row if words[n - 1] not in STOP_WORDS)
        distinct = dict.fromkeys(words)
        marks: dict[str, Iterable[str]] = {
            "content": [word for word in distinct if len(word) > 2 and word not in STOP_WORDS],
            "names": names,
            "later_names": later,
            "indefinite": [near for word, *behind in after if word in ("a", "an") for near in behind if near],
            "definite": [
                *(one for word, one, _ in after if word in DEFINITE),
                *(two for word, _, two in after if word == "the" and two),
            ],
        }
        for name, members in marks.items():
            places = (self.terms.setdefault(term, len(self.terms)) for term in members)
            self.marks[name].append(list(dict.fromkeys(places)))
        keys = [f"w={word}" for word in distinct]
        keys += [f"1={first}", f"12={' '.join(words[:2])}", f"last={words[-1]}"] if words else []
        self.words.append([self.keys.setdefault(key, len(self.keys)) for key in keys])
        years = [int(word) for word in words if YEAR.fullmatch(word)]
        brackets, quotes = "(" in sentence, '"' in sentence or "“" in sentence
        pronouns = sum(word in PRONOUNS for word in words)
        counts = [min(len(words), 60) / 20, len(names) / 5, len(later) / 2, bool(years), pronouns / 3]
        self.numbers.append([*counts, brackets, quotes, first in ("he", "she")])
        place = self.terms.setdefault(first, len(self.terms)) if words else -1
        year = sum(years) / len(years) if years else np.nan
        self.rest.append((year, place, first in PRONOUNS, first in OF_PERSONS, first in OF_THINGS))

    def finished(self, document: Ints, length: Ints, number: Ints, total: Ints) -> Sentences:
        """All that were read."""
        year, first, *kinds = zip(*self.rest, strict=True) if self.rest else ((), (), (), (), ())
        pronoun, of_person, of_thing = (np.array(kind, np.bool_) for kind in kinds)
        return Sentences(
            document=document,
            length=length,
            number=number,
            terms=list(self.terms),
            marks={name: _matrix(rows, len(self.terms)) for name, rows in self.marks.items()},
            keys=list(self.keys),
            words=_matrix(self.words, len(self.keys)),
            numbers=np.array(self.numbers, np.float64).reshape(-1, len(NUMBERS)),
            year=np.array(year, np.float64),
            first=np.array(first, np.int64),
            pronoun=pronoun,
            of_person=of_person,
            of_thing=of_thing,
            total=total,
        )


def _matrix(rows: Sequence[Sequence[int]], columns: int) -> sp.csr_matrix:
    """Ones at the columns of each row."""
    places = np.array([column for row in rows for column in row], np.int64)
    ends = np.cumsum([0, *map(len, rows)])
    return sp.csr_matrix((np.ones(len(places)), places, ends), shape=(len(rows), columns))
