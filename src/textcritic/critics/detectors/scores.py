"""How often a detector is right: accuracy of documents, F1 of sentences, areas under curves (Shen et al. 2021, 4.3).

Every number is the ratio of two sums over documents, whose columns the functions here give; the areas are means of one
value a document, to first order. So intervals and tests of `inference` resample whole documents, or groups of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.corpora.intruders.documents import Document
from textcritic.critics.detectors.predictions import Prediction
from textcritic.errors import TextcriticError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Counts:
    """Sentences of each document by what they are and what a detector calls them, int64 [documents] each.

    A flag in the wrong place is a false positive, and the intruder that was missed a false negative.

    Attributes:
        hits: intruders that are flagged.
        false_alarms: other sentences that are flagged.
        misses: intruders that are not flagged.
        incoherent: 1 for a document with an intruder, 0 for others.
        flagged: 1 for a document with a flagged sentence, 0 for others.
    """

    hits: Ints
    false_alarms: Ints
    misses: Ints
    incoherent: Ints
    flagged: Ints

    @classmethod
    def of(cls, documents: Sequence[Document], predictions: Sequence[Prediction]) -> "Counts":
        """Count; raises TextcriticError where documents and predictions are not of the same sentences."""
        require_same(documents, predictions)
        intruder = np.array([-1 if document.intruder is None else document.intruder - 1 for document in documents])
        flags = [prediction.flagged for prediction in predictions]
        opening = np.array([prediction.opening_flagged for prediction in predictions], np.int64)
        number = np.array([flag.sum() for flag in flags], np.int64) + opening
        hits = np.array([place >= 0 and flag[place] for flag, place in zip(flags, intruder, strict=True)], np.int64)
        incoherent = (intruder >= 0).astype(np.int64)
        return cls(hits, number - hits, incoherent - hits, incoherent, (number > 0).astype(np.int64))

    def accuracy(self) -> Ints:
        """Documents rightly called coherent or incoherent, and documents, [documents, 2]."""
        return np.column_stack([self.incoherent == self.flagged, np.ones_like(self.hits)]).astype(np.int64)

    def f1(self) -> Ints:
        """Twice the hits, and that plus false alarms plus misses, [documents, 2]: their ratio is F1."""
        return np.column_stack([2 * self.hits, 2 * self.hits + self.false_alarms + self.misses])

    def precision(self) -> Ints:
        """Hits, and flagged sentences, [documents, 2]."""
        return np.column_stack([self.hits, self.hits + self.false_alarms])

    def recall(self) -> Ints:
        """Hits, and intruders, [documents, 2]."""
        return np.column_stack([self.hits, self.hits + self.misses])

    def share_flagged(self) -> Ints:
        """Documents with a flagged sentence, and documents, [documents, 2]."""
        return np.column_stack([self.flagged, np.ones_like(self.flagged)])


MEASURES: Mapping[str, Callable[[Counts], Ints]] = {
    "accuracy": Counts.accuracy,
    "f1": Counts.f1,
    "precision": Counts.precision,
    "recall": Counts.recall,
    "share_flagged": Counts.share_flagged,
}
"""Columns of each number, whose ratio of sums it is; NaN where the second sum is 0."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Sentences of many documents by their scores, for areas under curves.

    It is sorted once; each area is then a few cumulative sums, for one set of weights of documents or for many.

    Attributes:
        document: of each sentence, from the highest score on, int64 [sentences].
        wrong: whether it is the intruder, bool [sentences].
        last: the last sentence of equal score, int64 [sentences].
        first: the first of them.
        documents: how many there are.
    """

    document: Ints
    wrong: npt.NDArray[np.bool_]
    first: Ints
    last: Ints
    documents: int

    @classmethod
    def of(cls, documents: Sequence[Document], predictions: Sequence[Prediction]) -> "Ranking":
        """Rank all sentences but the opening ones; raises TextcriticError as `Counts.of`."""
        require_same(documents, predictions)
        scores = np.concatenate([np.empty(0), *(prediction.scores for prediction in predictions)])
        sizes = [len(prediction.scores) for prediction in predictions]
        wrong = np.zeros(len(scores), bool)
        starts = np.cumsum([0, *sizes[:-1]])
        wrong[[start + d.intruder - 1 for start, d in zip(starts, documents, strict=True) if d.intruder]] = True
        order = np.argsort(-scores, kind="stable")
        _, first, sizes_of_ties = np.unique(-scores[order], return_index=True, return_counts=True)
        last = np.repeat(first + sizes_of_ties - 1, sizes_of_ties)
        document = np.repeat(np.arange(len(documents)), sizes)
        return cls(document[order], wrong[order], np.repeat(first, sizes_of_ties), last, len(documents))

    def auc(self, weights: npt.ArrayLike | None = None) -> Floats:
        """Area under the ROC curve: how often an intruder's score is above another sentence's; ties count half.

        Args:
            weights: of documents, e.g. how often each was drawn, [..., documents]; None: 1 each.

        Returns:
            [...]; NaN where there are no intruders, or nothing else.
        """
        wrong, other = self._weights(weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            area: Floats = (wrong * self._share_below(other)).sum(-1) / wrong.sum(-1)
        return area

    def average_precision(self, weights: npt.ArrayLike | None = None) -> Floats:
        """Area under the curve of precision by recall, as a sum of steps; sentences of equal score are one step.

        Args:
            weights: as of `auc`.
        """
        wrong, other = self._weights(weights)
        hits = np.cumsum(wrong, axis=-1)[..., self.last]
        flagged = hits + np.cumsum(other, axis=-1)[..., self.last]
        with np.errstate(invalid="ignore", divide="ignore"):
            area: Floats = np.where(wrong > 0, wrong * hits / flagged, 0).sum(-1) / wrong.sum(-1)
        return area

    def _weights(self, weights: npt.ArrayLike | None) -> tuple[Floats, Floats]:
        """Weights of the sentences that are intruders, and of those that are not, [..., sentences]."""
        of_documents = np.ones(self.documents) if weights is None else np.asarray(weights, float)
        of_sentences = of_documents[..., self.document]
        return of_sentences * self.wrong, of_sentences * ~self.wrong

    def _share_below(self, other: Floats) -> Floats:
        """How much of the other sentences' weight is below each sentence, ties by half, [..., sentences]."""
        after = np.cumsum(other[..., ::-1], axis=-1)[..., ::-1]  # of each sentence and all after it
        behind = after[..., self.first] + after[..., self.last] - other[..., self.last]
        shares: Floats = behind / 2 / other.sum(-1)[..., None]
        return shares


def best_threshold(scores: npt.ArrayLike, wrong: npt.ArrayLike) -> tuple[float, float]:
    """The threshold of the highest F1, and that F1: what is above it is flagged.

    Args:
        scores: of sentences [sentences], finite.
        wrong: which of them are intruders [sentences].

    Returns:
        a threshold in the middle between two scores, or below the lowest; of equally good ones the highest.

    Raises:
        TextcriticError: no intruder among them.
    """
    values, are_wrong = np.asarray(scores, float), np.asarray(wrong, bool)
    if not are_wrong.any():
        raise TextcriticError("no intruder among the documents that the threshold is to be chosen on")
    order = np.argsort(-values, kind="stable")
    ranked, hits = values[order], np.cumsum(are_wrong[order])
    f1 = 2 * hits / (np.arange(1, len(ranked) + 1) + are_wrong.sum())
    f1[:-1][ranked[:-1] == ranked[1:]] = -1  # no threshold is between equal scores
    best = int(np.argmax(f1))
    lower = ranked[best + 1] if best + 1 < len(ranked) else ranked[best] - 1
    middle = float((ranked[best] + lower) / 2)
    # Between two neighbouring numbers the middle may be the upper one, which would not be above itself.
    return middle if middle < ranked[best] else float(lower), float(f1[best])


def require_same(documents: Sequence[Document], predictions: Sequence[Prediction]) -> None:
    """See that predictions are of these documents, in this order; raises TextcriticError."""
    if len(documents) != len(predictions):
        raise TextcriticError(f"{len(documents)} documents, and predictions of {len(predictions)}; make them again")
    for document, prediction in zip(documents, predictions, strict=True):
        if document.id != prediction.id or len(document.sentences) != len(prediction.scores) + 1:
            raise TextcriticError(
                f"{document.id} of {len(document.sentences)} sentences, and a prediction of {prediction.id} of"
                f" {len(prediction.scores) + 1}; make the predictions again"
            )
