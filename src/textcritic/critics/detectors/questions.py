"""Tests of coherence: the questions about the sentences of a document, and the score of each sentence by the answers.

A new test is one class here. Whatever answers questions (`learner.Learner`) then takes it, trained and untrained alike.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from textcritic.corpora.intruders.documents import Document
from textcritic.errors import TextcriticError
from textcritic.plan.entries import Detector


@dataclass(frozen=True, slots=True)
class Question:
    """A question: is something wrong with this text, or with these two together.

    Attributes:
        first: what is asked about.
        second: the other text that the question is about; None: there is none.
        wrong: the right answer; without meaning where it is unknown.
    """

    first: str
    second: str | None = None
    wrong: bool = False


class CoherenceTest(ABC):
    """What is asked about a document.

    Attributes:
        name: in the registry.
        of_intruders: whether answers are probabilities of an intruder; then a sentence is flagged above 0.5, else above
            a threshold that is chosen on documents with intruders.
    """

    name: str
    of_intruders = False

    @abstractmethod
    def lessons(self, documents: Sequence[Document], seed: int) -> list[Question]:
        """Questions to learn from, with their right answers; `seed` is of what is drawn at random."""

    @abstractmethod
    def questions(self, document: Document) -> list[Question]:
        """What is asked about a document to judge its sentences."""

    @abstractmethod
    def scores(self, document: Document, answers: np.ndarray) -> np.ndarray:
        """How much each sentence is like an intruder, float64 [sentences]; NaN where nothing was asked about it.

        Args:
            document: as given to `questions`.
            answers: the probability that something is wrong, float64 [questions].
        """


class Intruder(CoherenceTest):
    """Is this sentence an intruder in this document? See Shen et al. 2021, section 5.

    Args:
        alone: whether the sentence is asked about without its document, which tests for artefacts (section 4.4).
        opening: whether the opening sentence is asked about too, though it is never an intruder (footnote 8).
    """

    name = "intruder"
    of_intruders = True

    def __init__(self, alone: bool = False, opening: bool = False) -> None:
        self.alone, self.first = alone, 0 if opening else 1

    def lessons(self, documents: Sequence[Document], seed: int) -> list[Question]:
        """All that is asked about all documents; nothing is random."""
        return [question for document in documents for question in self.questions(document)]

    def questions(self, document: Document) -> list[Question]:
        """One a sentence."""
        return [self.about(document, number) for number in range(self.first, len(document.sentences))]

    def about(self, document: Document, number: int) -> Question:
        """About one sentence, counted from 0: the sentence first, then the whole document with it."""
        whole = None if self.alone else " ".join(document.sentences)
        return Question(document.sentences[number], whole, number == document.intruder)

    def scores(self, document: Document, answers: np.ndarray) -> np.ndarray:
        """The answers themselves."""
        return np.concatenate([np.full(self.first, np.nan), answers])


class _Neighbours(CoherenceTest):
    """One question about each two neighbours; a sentence's score is the mean of those that it occurs in."""

    def questions(self, document: Document) -> list[Question]:
        """One less than there are sentences."""
        pairs = zip(document.sentences, document.sentences[1:], strict=False)
        return [Question(one, next_one) for one, next_one in pairs]

    def scores(self, document: Document, answers: np.ndarray) -> np.ndarray:
        """The mean answer about a sentence and the one before it, and about it and the one after it."""
        sums, counts = np.zeros(len(document.sentences)), np.zeros(len(document.sentences))
        for side in (0, 1):
            sums[side : side + len(answers)] += answers
            counts[side : side + len(answers)] += 1
        scores: np.ndarray = sums / counts
        return scores


class NextSentence(_Neighbours):
    """Does the second sentence follow the first in some text, or is it from elsewhere? A baseline of our own.

    It learns from coherent documents alone: neighbours against a sentence and one drawn from another document.
    """

    name = "next"

    def lessons(self, documents: Sequence[Document], seed: int) -> list[Question]:
        """Two for each two neighbours of a coherent document: they, and the first with a sentence from elsewhere.

        Raises:
            TextcriticError: fewer than two coherent documents.
        """
        coherent = _coherent(documents, 2)
        random = np.random.default_rng(seed)
        lessons = []
        for number, document in enumerate(coherent):
            for question in self.questions(document):
                other = coherent[(number + random.integers(1, len(coherent))) % len(coherent)]
                stranger = other.sentences[random.integers(1, len(other.sentences))]
                lessons += [question, Question(question.first, stranger, wrong=True)]
        return lessons


class SentenceOrder(_Neighbours):
    """Are two neighbours in the order of their text, or have they changed places? A baseline of our own.

    It learns from coherent documents alone, as the pretraining of ALBERT does (Lan et al. 2020, section 3.1).
    """

    name = "order"

    def lessons(self, documents: Sequence[Document], seed: int) -> list[Question]:
        """Two for each two neighbours of a coherent document: in order, and exchanged.

        Raises:
            TextcriticError: no coherent document.
        """
        right = [question for document in _coherent(documents, 1) for question in self.questions(document)]
        return [
            lesson
            for question in right
            for lesson in (question, Question(str(question.second), question.first, wrong=True))
        ]


BASELINES: Mapping[str, type[CoherenceTest]] = {test.name: test for test in (NextSentence, SentenceOrder)}


def test_of(entry: Detector) -> CoherenceTest:
    """The test of a detector's entry."""
    if entry.test in BASELINES:
        return BASELINES[entry.test]()
    return Intruder(alone=entry.reads == "sentence", opening=entry.opening)


def _coherent(documents: Sequence[Document], least: int) -> list[Document]:
    coherent = [document for document in documents if document.intruder is None]
    if len(coherent) < least:
        raise TextcriticError(f"{len(coherent)} coherent document(s) to learn from; {least} or more are needed")
    return coherent
