"""A detector: what it scores of the sentences of documents, and where it draws the line."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from textcritic.corpora.intruders.documents import Document
from textcritic.critics.detectors.learner import KINDS, Learner, learner_of, model_of
from textcritic.critics.detectors.predictions import Prediction
from textcritic.critics.detectors.questions import CoherenceTest, Intruder, test_of
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.plan.spec import restore
from textcritic.runlog import Progress

DESCRIPTION = "detector.json"
AT_ONCE = 500  # documents that are predicted together


class Scorer(ABC):
    """Scores the sentences of documents; a higher score is more like an intruder."""

    probabilities = False
    """Whether scores are probabilities of an intruder."""

    @abstractmethod
    def scores(self, documents: Sequence[Document], what: str = "") -> list[np.ndarray]:
        """Of each document, float64 [sentences]; NaN for a sentence that has none. `what` is for progress lines."""

    def intruders(self, documents: Sequence[Document], what: str = "") -> np.ndarray:
        """Scores of the intruders alone, float64 [documents]; each document has one."""
        scored = self.scores(documents, what)
        return np.array([scores[_intruder(document)] for scores, document in zip(scored, documents, strict=True)])

    def save(self, folder: Path) -> None:
        """Write what is needed beside `detector.json`, if anything is."""
        return


class Asking(Scorer):
    """Scores by a test of coherence, whose questions a learner answers."""

    def __init__(self, test: CoherenceTest, learner: Learner) -> None:
        self.test, self.learner = test, learner
        self.probabilities = test.of_intruders

    def scores(self, documents: Sequence[Document], what: str = "") -> list[np.ndarray]:
        """See `Scorer.scores`; all questions about all documents are answered together."""
        asked = [self.test.questions(document) for document in documents]
        answers = self.learner.answer([question for questions in asked for question in questions], what)
        by_document = np.split(answers, np.cumsum([len(questions) for questions in asked])[:-1])
        return [self.test.scores(document, part) for document, part in zip(documents, by_document, strict=True)]

    def save(self, folder: Path) -> None:
        """What the learner has learnt."""
        self.learner.save(folder)

    def intruders(self, documents: Sequence[Document], what: str = "") -> np.ndarray:
        """See `Scorer.intruders`; nothing is asked about the other sentences where that is not needed."""
        if not isinstance(self.test, Intruder):
            return super().intruders(documents, what)
        return self.learner.answer([self.test.about(document, _intruder(document)) for document in documents], what)


class Detector:
    """Scores, and a threshold above which a sentence is called an intruder.

    Args:
        scorer: see `Scorer`.
        threshold: a sentence is flagged if its score is above.
        opening: whether the opening sentence may be flagged too (footnote 8).
    """

    def __init__(self, scorer: Scorer, threshold: float, opening: bool = False) -> None:
        self.scorer, self.threshold, self.opening = scorer, threshold, opening

    @classmethod
    def load(cls, folder: str | os.PathLike[str], scorer: str | os.PathLike[str] | None = None) -> "Detector":
        """From the folder that `train.train_detector` has written.

        Args:
            folder: `model` of the detector.
            scorer: the language model or critic that it was made with, if it is one that learns nothing.

        Raises:
            TextcriticError: the folder or a file of it is missing, or damaged.
        """
        described = read_json(Path(folder) / DESCRIPTION)
        entry = restore(described["entry"], "critics")
        return cls(_scorer(Path(folder), entry, scorer), described["threshold"], entry["opening"])

    def predict(self, documents: Iterable[Document], what: str = "", total: int = 0) -> Iterator[Prediction]:
        """What it says of each document, in their order; they are read `AT_ONCE` at a time.

        Args:
            documents: whether their intruders are known makes no difference.
            what: a few words for progress lines; nothing: none are written.
            total: how many documents there are, for progress lines.
        """
        stream = iter(documents)
        progress = Progress(what, total, "documents") if what else None
        while chunk := list(islice(stream, AT_ONCE)):
            yield from self.judged(chunk, self.scorer.scores(chunk))
            if progress:
                progress.advance(len(chunk))

    def judged(self, documents: Sequence[Document], scored: Sequence[np.ndarray]) -> list[Prediction]:
        """Predictions from the scores of all sentences of documents, as `Scorer.scores` gives them."""
        return [self._prediction(document, scores) for document, scores in zip(documents, scored, strict=True)]

    def detects(self, documents: Sequence[Document], what: str = "") -> np.ndarray:
        """Whether it flags the intruder of each document, bool [documents]; each has one.

        This is what filters candidates (section 3.3): it is up to as many times as fast as `predict` as a document has
        sentences.
        """
        detected: np.ndarray = self.scorer.intruders(documents, what) > self.threshold
        return detected

    def _prediction(self, document: Document, scores: np.ndarray) -> Prediction:
        flagged = scores > self.threshold
        said = document.id, scores[1:], flagged[1:], self.scorer.probabilities
        return Prediction(*said, float(scores[0]), bool(flagged[0])) if self.opening else Prediction(*said)


def _scorer(folder: Path, entry: Mapping[str, Any], made_with: str | os.PathLike[str] | None) -> Scorer:
    kind, _ = model_of(entry)
    if kind not in KINDS:
        raise TextcriticError(f"{folder}: a detector of kind {kind}, which is not one of {', '.join(KINDS)}")
    return Asking(test_of(entry), learner_of(kind).load(folder, entry))


def _intruder(document: Document) -> int:
    if document.intruder is None:
        raise TextcriticError(f"{document.id}: has no intruder; candidates have one each")
    return document.intruder
