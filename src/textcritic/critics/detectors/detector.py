"""A detector: it scores the sentences of documents, and flags those above a threshold."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from textcritic.batches import batched
from textcritic.corpora.intruders.documents import Document
from textcritic.critics.detectors.learner import KINDS, Learner, learner_of, model_of
from textcritic.critics.detectors.predictions import Prediction
from textcritic.critics.detectors.questions import CoherenceTest, test_of
from textcritic.critics.detectors.scorer import Scorer
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.plan.entries import restore
from textcritic.runlog import Progress

DESCRIPTION = "detector.json"
AT_ONCE = 500  # documents that are predicted together


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
            scorer: the folder of the language model that it was made with, or the critic's critic.npz, if it is one
                that learns nothing.

        Raises:
            TextcriticError: the folder or a file of it is missing, or damaged.
        """
        described = read_json(Path(folder) / DESCRIPTION)
        opening = restore(described["entry"], "critics")["opening"]
        return cls(_scorer(Path(folder), described, scorer), described["threshold"], opening)

    def predict(self, documents: Iterable[Document], what: str = "", total: int = 0) -> Iterator[Prediction]:
        """The prediction for each document, in their order; they are read `AT_ONCE` at a time.

        Args:
            documents: whether their intruders are known makes no difference.
            what: a few words for progress lines; nothing: none are written.
            total: how many documents there are, for progress lines.
        """
        progress = Progress(what, total, "documents") if what else None
        for chunk in batched(documents, AT_ONCE):
            yield from self.judged(chunk, self.scorer.scores(chunk))
            if progress:
                progress.advance(len(chunk))

    def judged(self, documents: Sequence[Document], scored: Sequence[np.ndarray]) -> list[Prediction]:
        """Predictions from the scores of all sentences of documents, as `Scorer.scores` gives them."""
        return [self._prediction(document, scores) for document, scores in zip(documents, scored, strict=True)]

    def _prediction(self, document: Document, scores: np.ndarray) -> Prediction:
        flagged = scores > self.threshold
        fields = document.id, scores[1:], flagged[1:], self.scorer.probabilities
        return Prediction(*fields, float(scores[0]), bool(flagged[0])) if self.opening else Prediction(*fields)


def scorer_made_with(
    entry: Mapping[str, Any], made_with: Mapping[str, str], path: str | os.PathLike[str] | None
) -> Scorer:
    """The scorer of a detector without training.

    Args:
        entry: of the critics registry, of kind detector, with all its defaults.
        made_with: canonical strings of the entries of what it is made with, by registry: of its language model
            (`generators`), or of its critic (`critics`) and the critic's resolver (`resolvers`), if it has one.
        path: folder of that language model, or critic.npz.

    Raises:
        TextcriticError: the path is missing, or not what it should be.
    """
    kind, settings = model_of(entry)
    if path is None:
        raise TextcriticError(f"a detector of kind {kind} is made with another model; name its folder")
    entries = {registry: restore(text, registry) for registry, text in made_with.items()}
    if kind == "surprise":
        from textcritic.critics.detectors.surprise import (
            surprise_of,
        )  # this and the next import load modules that most jobs do not need

        return surprise_of(settings, entries["generators"], path)
    from textcritic.critics.detectors.nll import without_of

    return without_of(entries["critics"], entries.get("resolvers"), path)


def _scorer(folder: Path, described: Mapping[str, Any], path: str | os.PathLike[str] | None) -> Scorer:
    entry = restore(described["entry"], "critics")
    kind, _ = model_of(entry)
    if kind not in KINDS:
        return scorer_made_with(entry, described["made_with"], path)
    return Asking(test_of(entry), learner_of(kind).load(folder, entry))
