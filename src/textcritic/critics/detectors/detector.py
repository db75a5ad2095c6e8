"""A detector: it scores the sentences of documents, and flags those above a threshold."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from textcritic.batches import batched
from textcritic.corpora.intruders.documents import Document
from textcritic.critics.detectors.learner import Learner, learner_of
from textcritic.critics.detectors.predictions import Prediction
from textcritic.critics.detectors.questions import CoherenceTest, test_of
from textcritic.critics.detectors.scorer import Scorer
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.plan.entries import Detector as Entry
from textcritic.plan.entries import restore
from textcritic.plan.entries.detectors import Surprise, Untrained
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
        entry = Entry.restore(described["entry"])
        if isinstance(entry.model.settings, Untrained):
            return cls(scorer_made_with(entry, described["made_with"], scorer), described["threshold"], entry.opening)
        learner = learner_of(entry.model.kind).load(Path(folder), entry)
        return cls(Asking(test_of(entry), learner), described["threshold"], entry.opening)

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


def scorer_made_with(entry: Entry, made_with: Mapping[str, str], path: str | os.PathLike[str] | None) -> Scorer:
    """The scorer of a detector without training.

    Args:
        entry: its entry.
        made_with: canonical strings of the entries of what it is made with, by registry: of its language model
            (`generators`), or of its critic (`critics`) and the critic's resolver (`resolvers`), if it has one.
        path: folder of that language model, or critic.npz.

    Raises:
        TextcriticError: the path is missing, or not what it should be.
    """
    settings = entry.model.settings
    if path is None:
        raise TextcriticError(f"a detector of kind {entry.model.kind} is made with another model; name its folder")
    if isinstance(settings, Surprise):
        from textcritic.critics.detectors.surprise import (
            surprise_of,  # this and the next load what most jobs don't need
        )

        return surprise_of(settings, restore(made_with["generators"], "generators"), path)
    from textcritic.critics.detectors.nll import without_of

    resolver = restore(made_with["resolvers"], "resolvers") if "resolvers" in made_with else None
    return without_of(restore(made_with["critics"], "critics"), resolver, path)
