"""Scores of detectors against scikit-learn, plain loops, and documents that were drawn again and again."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score, roc_auc_score

from textcritic.corpora.intruders.documents import Document
from textcritic.critics.detectors.predictions import Prediction
from textcritic.critics.detectors.scores import MEASURES, Counts, Ranking, best_threshold
from textcritic.errors import TextcriticError


def drawn(count, seed, ties=False, shift=1.0):
    """Documents of 3 to 8 sentences, and scores that are higher for intruders by `shift` standard deviations."""
    random = np.random.default_rng(seed)
    documents, predictions = [], []
    for number in range(count):
        size = int(random.integers(3, 9))
        place = int(random.integers(1, size)) if random.random() < 0.5 else None
        scores = random.normal(size=size - 1) + random.normal()  # documents differ as a whole
        if place:
            scores[place - 1] += shift
        scores = np.round(scores) if ties else scores
        documents.append(Document(str(number), ("s",) * size, place))
        predictions.append(Prediction(str(number), scores, scores > 1, probabilities=False))
    return documents, predictions


def flat(documents, predictions):
    wrong = [n == d.intruder for d in documents for n in range(1, len(d.sentences))]
    return np.array(wrong), *(np.concatenate([getattr(p, key) for p in predictions]) for key in ("scores", "flagged"))


@pytest.mark.parametrize("ties", [False, True])
def test_all_numbers_are_those_of_scikit_learn(ties):
    documents, predictions = drawn(150, 1, ties)
    wrong, scores, flagged = flat(documents, predictions)
    counts, ranking = Counts.of(documents, predictions), Ranking.of(documents, predictions)
    for name, oracle in {"f1": f1_score, "precision": precision_score, "recall": recall_score}.items():
        above, below = MEASURES[name](counts).sum(axis=0)
        assert above / below == pytest.approx(oracle(wrong, flagged), abs=1e-12)
    right = [(d.intruder is not None) == bool(p.flagged.any()) for d, p in zip(documents, predictions, strict=True)]
    assert counts.accuracy().sum(axis=0).tolist() == [sum(right), 150]
    assert ranking.auc() == pytest.approx(roc_auc_score(wrong, scores), abs=1e-12)
    assert ranking.average_precision() == pytest.approx(average_precision_score(wrong, scores), abs=1e-12)


def test_a_flag_in_the_wrong_place_is_a_false_alarm_and_a_miss():
    documents = [Document("a", ("x",) * 4, 2), Document("b", ("x",) * 3)]
    flags = np.array([True, False, False]), np.array([False, False])
    counts = Counts.of(documents, [Prediction(d.id, f * 1.0, f) for d, f in zip(documents, flags, strict=True)])
    assert counts.f1().tolist() == [[0, 2], [0, 0]]
    assert counts.accuracy().tolist() == [[1, 1], [1, 1]]  # the document is incoherent, and called so


@pytest.mark.parametrize("ties", [False, True])
def test_weights_of_documents_are_how_often_they_were_drawn(ties):
    documents, predictions = drawn(60, 2, ties)
    ranking = Ranking.of(documents, predictions)
    weights = np.random.default_rng(3).multinomial(60, np.full(60, 1 / 60), 20)
    for row, auc, precision in zip(weights, ranking.auc(weights), ranking.average_precision(weights), strict=True):
        again = [n for n, often in enumerate(row) for _ in range(often)]
        wrong, scores, _ = flat([documents[n] for n in again], [predictions[n] for n in again])
        assert auc == pytest.approx(roc_auc_score(wrong, scores), abs=1e-12)
        assert precision == pytest.approx(average_precision_score(wrong, scores), abs=1e-12)


def test_the_threshold_of_the_best_f1_is_that_of_trying_all():
    for seed, ties in ((6, False), (7, True), (8, True)):
        wrong, scores, _ = flat(*drawn(30, seed, ties))
        threshold, f1 = best_threshold(scores, wrong)
        tried = [f1_score(wrong, scores > at) for at in (*np.unique(scores), scores.min() - 1)]
        assert f1 == pytest.approx(max(tried), abs=1e-12)
        assert f1_score(wrong, scores > threshold) == pytest.approx(f1, abs=1e-12)
    near = np.nextafter(1, 2)
    assert best_threshold([1.0, near], [False, True]) == (1.0, 1.0)
    with pytest.raises(TextcriticError, match="no intruder among"):
        best_threshold([1.0, 2.0], [False, False])


def test_without_intruders_there_is_no_area():
    documents = [Document("a", ("x", "y", "z"))]
    ranking = Ranking.of(documents, [Prediction("a", np.array([1.0, 2.0]), np.array([False, True]))])
    assert np.isnan(ranking.auc())
    assert np.isnan(ranking.average_precision())


@pytest.mark.parametrize(
    "prediction", [Prediction("b", np.zeros(2), np.zeros(2, bool)), Prediction("a", np.zeros(3), np.zeros(3, bool))]
)
def test_predictions_of_other_documents_are_refused(prediction):
    with pytest.raises(TextcriticError, match=r"a of 3 sentences, and a prediction of [ab] of [34]"):
        Counts.of([Document("a", ("x", "y", "z"))], [prediction])
