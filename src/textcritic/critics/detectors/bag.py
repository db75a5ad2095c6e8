"""Detectors that do not see the order of words: logistic regression on TF-IDF, and the majority class."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from textcritic.critics.detectors.learner import Files, Learner, Lessons, require_both_answers
from textcritic.critics.detectors.questions import Question
from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, read_json, write_arrays, write_json
from textcritic.plan.entries import Detector
from textcritic.training.loop import Loop

if TYPE_CHECKING:  # scipy and scikit-learn take long to load
    from scipy.sparse import csr_matrix

MODEL = "model.npz"
DAMAGED = "not a whole detector; delete its folder and train it again"
AT_ONCE = 20_000  # questions


class Majority(Learner):
    """Gives every question the answer of most lessons; the paper's Majority-class, which flags no sentence."""

    def __init__(self, share: float) -> None:
        self.share = share

    @classmethod
    def learn(cls, lessons: Lessons, entry: Detector, files: Files, seed: int, loop: Loop) -> Self:
        """The share of lessons in which something is wrong."""
        if not lessons.train:
            raise TextcriticError("there is no sentence to learn from")
        return cls(float(np.mean([question.wrong for question in lessons.train])))

    def answer(self, questions: Sequence[Question], what: str = "") -> np.ndarray:
        """The same for all."""
        return np.full(len(questions), self.share)

    def save(self, folder: Path) -> None:
        """One number."""
        write_json(folder / "share.json", {"share": self.share})

    @classmethod
    def load(cls, folder: Path, entry: Detector) -> Self:
        """From the folder of a detector."""
        return cls(read_json(folder / "share.json")["share"])


class Bag(Learner):
    """Logistic regression on TF-IDF, by scikit-learn (Shen et al. 2021, section 4.4).

    A text is a vector of weights of its words, of length 1. The features of two texts are those of the first, those of
    the second, and their cosine, without which no linear model could compare the two.

    Args:
        words: the vocabulary, in the order of the columns.
        idf: float64 [words].
        weights: float64 [features].
        bias: log odds of something wrong where all features are 0.
    """

    def __init__(self, words: Sequence[str], idf: np.ndarray, weights: np.ndarray, bias: float) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.words, self.idf, self.weights, self.bias = list(words), idf, weights, bias
        self.vectoriser = TfidfVectorizer(vocabulary={word: n for n, word in enumerate(self.words)}, lowercase=True)
        self.vectoriser.idf_ = idf

    @classmethod
    def learn(cls, lessons: Lessons, entry: Detector, files: Files, seed: int, loop: Loop) -> Self:
        """Count the words of the lessons, and fit; nothing is random."""
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression

        require_both_answers(lessons.train)
        settings = entry.model.bag
        assert settings is not None
        vectoriser = TfidfVectorizer(min_df=settings.minimum_count, lowercase=True)
        try:
            vectoriser.fit([question.first for question in lessons.train])
        except ValueError as error:  # from scikit-learn, if no word is left
            raise TextcriticError(
                f"no word occurs in {settings.minimum_count} sentences; lower model.bag.minimum_count"
            ) from error
        words = vectoriser.get_feature_names_out().tolist()
        bag = cls(words, vectoriser.idf_, np.empty(0), 0.0)
        regression = LogisticRegression(C=settings.inverse_penalty, max_iter=1000)
        regression.fit(bag.features(lessons.train), [question.wrong for question in lessons.train])
        bag.weights, bag.bias = regression.coef_[0], float(regression.intercept_[0])
        return bag

    def features(self, questions: Sequence[Question]) -> "csr_matrix":
        """TF-IDF of the texts, [questions, words], or of pairs of texts [questions, 2 words + 1]."""
        from scipy.sparse import csr_matrix, hstack

        first = self.vectoriser.transform([question.first for question in questions])
        if questions[0].second is None:
            return first
        # The questions of a document share one text, which is read once.
        texts = list(dict.fromkeys(str(question.second) for question in questions))
        number = {text: n for n, text in enumerate(texts)}
        second = self.vectoriser.transform(texts)[[number[str(question.second)] for question in questions]]
        return hstack([first, second, csr_matrix(first.multiply(second).sum(axis=1))]).tocsr()

    def answer(self, questions: Sequence[Question], what: str = "") -> np.ndarray:
        """By the logistic function."""
        parts = [np.empty(0)]
        for first in range(0, len(questions), AT_ONCE):
            odds = self.features(questions[first : first + AT_ONCE]) @ self.weights + self.bias
            parts.append(1 / (1 + np.exp(-odds)))
        return np.concatenate(parts)

    def save(self, folder: Path) -> None:
        """Words, and the numbers."""
        write_json(folder / "words.json", self.words)
        arrays = {"idf": self.idf, "weights": self.weights, "bias": np.array(self.bias)}
        write_arrays(folder / MODEL, arrays)

    @classmethod
    def load(cls, folder: Path, entry: Detector) -> Self:
        """From the folder of a detector."""
        with arrays_of(folder / MODEL, DAMAGED) as arrays:
            idf, weights, bias = (arrays[name] for name in ("idf", "weights", "bias"))
        return cls(read_json(folder / "words.json"), idf, weights, float(bias))
