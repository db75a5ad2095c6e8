"""How alike two sentences are: the cosine of their words, weighted by TF-IDF."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


class Similarity:
    """TF-IDF cosine of pairs of texts.

    The paper says "TF-IDF-weighted cosine similarity" and no more. Ours is scikit-learn's: words of two letters or
    digits and more in lower case, counts times 1 + log((1 + N) / (1 + n)). N and n are numbers of documents, not of
    sentences: those of the split that is built, before any of them is attacked.
    """

    def __init__(self, documents: Sequence[str]) -> None:
        """Count in how many of these texts each word is."""
        from sklearn.feature_extraction.text import TfidfVectorizer  # here: its import takes a second

        self._vectorizer = TfidfVectorizer()
        try:
            self._vectorizer.fit(documents)
        except ValueError:  # no document has a word
            self._vectorizer = None

    def of(self, left: Sequence[str], right: Sequence[str]) -> npt.NDArray[np.float64]:
        """Cosines [pairs] of `left[n]` and `right[n]`, from 0 to 1; 0 where one has no word that is known."""
        if self._vectorizer is None or not left:
            return np.zeros(len(left))
        product = self._vectorizer.transform(left).multiply(self._vectorizer.transform(right))
        return np.asarray(product.sum(axis=1), float).ravel()
