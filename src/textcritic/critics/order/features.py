"""Features of sentences and of ordered pairs of sentences, as numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from textcritic.critics.order.sentences import NUMBERS, Bools, Floats, Ints, Sentences

MOST_WORDS = 92
"""Words, first and last words that are features: those of the most sentences. 300 worked less well than 100."""
RELATIONS = (
    "shared words, as a share",
    "shared words by rarity",
    "shared names",
    "a name, then a pronoun first",
    "a word, then the same behind the",
    "a word, then the same behind a",
    "a full name, then a part of it",
    "a part of a name, then all of it",
    "a later year",
    "an earlier year",
    "the same first word",
    "a word behind a, then behind the",
    "a word behind the, then behind a",
    "a full name, then he or she",
    "he or she, then again",
    "he or she, then a full name",
    "it or this, then again",
    "a name, then it or this",
)
"""Features of a sentence and a later one."""


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """What is counted in sentences. It is learnt from documents in any order: no label and no order decides it.

    Attributes:
        keys: words that are features, of `Sentences.keys`.
        rarity: of each word that two documents have, log(documents / documents with it) / log(documents); 1 of others.
    """

    keys: tuple[str, ...]
    rarity: Mapping[str, float]

    @classmethod
    def of(cls, sentences: Sentences) -> "Vocabulary":
        """That of the documents with sentences to order."""
        frequency = np.asarray(sentences.words.sum(axis=0)).ravel()
        chosen = np.argsort(-frequency, kind="stable")[:MOST_WORDS]  # ties: the first that was read
        documents = int((sentences.counted > 0).sum())
        owner = sentences.document[sentences.passage]
        of_documents = sums_by(owner, len(sentences.total)) @ sentences.marks["content"]
        with_it = np.bincount(of_documents.indices, minlength=len(sentences.terms))
        known = np.flatnonzero(with_it > 1)
        rarity = 1 - np.log(with_it[known]) / np.log(max(documents, 2))
        terms = [sentences.terms[place] for place in known.tolist()]
        keys = sorted(sentences.keys[place] for place in chosen.tolist())
        return cls(tuple(keys), dict(zip(terms, rarity.tolist(), strict=True)))

    @property
    def size(self) -> int:
        """Features of a sentence."""
        return len(self.keys) + len(NUMBERS)

    def unary(self, sentences: Sentences) -> Floats:
        """The features of each sentence: [sentences, size]."""
        place = {key: column for column, key in enumerate(sentences.keys)}
        columns = np.array([place.get(key, -1) for key in self.keys], np.int64)
        features = np.zeros((len(sentences.number), self.size))
        known = np.flatnonzero(columns >= 0)
        features[:, known] = sentences.words[:, columns[known]].toarray()
        features[:, len(self.keys) :] = sentences.numbers
        return features


def pairs_of(length: Ints) -> tuple[Ints, Ints]:
    """All ordered pairs of two sentences of a passage: (one, other), each [pairs], passages one after the other."""
    starts = np.cumsum(length) - length
    of = np.repeat(np.arange(len(length)), length**2)
    inside = np.arange(len(of)) - np.repeat(np.cumsum(length**2) - length**2, length**2)
    one, other = starts[of] + inside // length[of], starts[of] + inside % length[of]
    return one[one != other], other[one != other]


def relations(sentences: Sentences, vocabulary: Vocabulary, one: Ints, other: Ints) -> Floats:
    """Features of each pair of sentences, if `one` comes before `other`: [pairs, `RELATIONS`]."""
    marks = sentences.marks
    content, names, later = (marks[name] for name in ("content", "names", "later_names"))
    short = names - names.multiply(later)  # names that are not behind another one
    rarity = np.array([vocabulary.rarity.get(term, 1.0) for term in sentences.terms])
    by_rarity = content.multiply(rarity).tocsr() if len(rarity) else content
    named, full = (np.diff(of.indptr) > 0 for of in (names, later))
    size = np.sqrt(np.maximum(np.diff(content.indptr), 1))

    def shared(first: sp.csr_matrix, second: sp.csr_matrix) -> Floats:
        numbers: Floats = np.asarray(first[one].multiply(second[other]).sum(axis=1)).ravel()
        return numbers

    he, it, year = sentences.of_person, sentences.of_thing, sentences.year
    columns: Sequence[Floats | Bools] = [
        shared(content, content) / (size[one] * size[other]),
        shared(by_rarity, content),
        shared(names, names),
        named[one] & sentences.pronoun[other],
        shared(content, marks["definite"]),
        shared(content, marks["indefinite"]),
        shared(later, short),
        shared(short, later),
        year[other] > year[one],
        year[other] < year[one],
        (sentences.first[one] == sentences.first[other]) & (sentences.first[one] >= 0),
        shared(marks["indefinite"], marks["definite"]),
        shared(marks["definite"], marks["indefinite"]),
        full[one] & he[other],
        he[one] & he[other],
        he[one] & full[other],
        it[one] & it[other],
        named[one] & it[other],
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def sums_by(rows: Ints, number: int) -> sp.csr_matrix:
    """Sums by row: a matrix [number, len(rows)] of ones."""
    return sp.csr_matrix((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(number, len(rows)))
