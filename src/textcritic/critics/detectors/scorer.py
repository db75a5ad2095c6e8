"""What scores the sentences of documents, whether it has learnt to or not."""

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
        """Of each document, float64 [sentences]; NaN for a sentence that has none. `what` is for progress lines."""

    def save(self, folder: Path) -> None:
        """Write what is needed beside `detector.json`, if anything is."""
        return
