"""The interface of everything that scores the sentences of documents, trained or not."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from textcritic.corpora.intruders.documents import Document


class Scorer(ABC):
    """Scores the sentences of documents; a higher score is more like an intruder."""

    probabilities = False
    """Whether scores are probabilities of an intruder."""

    @abstractmethod
    def scores(self, documents: Sequence[Document], what: str = "") -> list[np.ndarray]:
        """For each document float64 [sentences]; NaN for a sentence that has no score. `what` is for progress lines."""

    def save(self, folder: Path) -> None:
        """Write what is needed in addition to `detector.json`, if anything is."""
        return
