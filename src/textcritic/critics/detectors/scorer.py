"""What scores the sentences of documents, whether it has learnt to or not."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from textcritic.corpora.intruders.documents import Document
from textcritic.errors import TextcriticError


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
        return np.array([scores[intruder_of(document)] for scores, document in zip(scored, documents, strict=True)])

    def save(self, folder: Path) -> None:
        """Write what is needed beside `detector.json`, if anything is."""
        return


def intruder_of(document: Document) -> int:
    """The place of a document's intruder, counted from 0; raises TextcriticError where it has none."""
    if document.intruder is None:
        raise TextcriticError(f"{document.id}: has no intruder; candidates have one each")
    return document.intruder
