"""The quality of a section classifier on real text: accuracy, confidence, calibration, and titles it confuses."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from textcritic.inference import bootstrap_interval, ratio_of_sums, unit_sums
from textcritic.latents.titles.sections import Sections

BINS = 10


def accuracy(titles: Sequence[str], sections: Sections, probabilities: np.ndarray) -> dict[str, Any]:
    """Measure posteriors against gold titles.

    A section whose gold title the classifier never saw counts as wrong, and in `unseen_titles`.

    Args:
        titles: labels, in the order of the columns.
        sections: the sections, with their gold titles.
        probabilities: P(title | text), [sections, titles].

    Returns:
        accuracy with `ci95` (bootstrap over documents, those of a group as one; Nones where there is none) and `n`
        (sections), `documents`, `mean_confidence`, `over_90_percent_certain` (share of sections; the paper says
        "mostly"), `expected_calibration_error` (10 bins of
        equal width), `recall` by title, `confusions` (gold title, inferred title, count; the ten commonest),
        `unseen_titles`.
    """
    number = {title: k for k, title in enumerate(titles)}
    gold = np.array([number.get(str(title), -1) for title in sections.flat_gold()], np.int64)
    inferred, confidence = probabilities.argmax(axis=1), probabilities.max(axis=1)
    right = (inferred == gold).astype(float)
    sizes = np.array([len(doc) for doc in sections.gold])
    document = np.repeat(np.arange(len(sizes)), sizes)
    sums = np.stack([np.bincount(document, right, len(sizes)), sizes], axis=1)
    interval = bootstrap_interval(unit_sums(sums, sections.groups), ratio_of_sums, seed=0).of_share()
    counts = np.zeros((len(titles), len(titles)), np.int64)
    np.add.at(counts, (gold[gold >= 0], inferred[gold >= 0]), 1)
    wrong = np.where(np.eye(len(titles), dtype=bool), 0, counts)
    worst = [divmod(int(k), len(titles)) for k in np.argsort(-wrong, axis=None, kind="stable")[:10]]
    return {
        "accuracy": float(right.mean()),
        "ci95": [interval.low, interval.high],
        "n": len(gold),
        "documents": len(sizes),
        "mean_confidence": float(confidence.mean()),
        "over_90_percent_certain": float((confidence > 0.9).mean()),
        "expected_calibration_error": _calibration_error(confidence, right),
        "recall": {
            title: float(counts[k, k] / counts[k].sum()) for k, title in enumerate(titles) if counts[k].sum() > 0
        },
        "confusions": [
            {"gold": titles[i], "inferred": titles[j], "count": int(wrong[i, j])} for i, j in worst if wrong[i, j] > 0
        ],
        "unseen_titles": sorted({str(title) for title in sections.flat_gold()} - set(titles)),
    }


def _calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """Mean gap between confidence and accuracy over bins of confidence, weighted by their sections."""
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    total = np.bincount(bins, minlength=BINS)
    gap = np.abs(np.bincount(bins, confidence, BINS) - np.bincount(bins, right, BINS))
    return float(gap[total > 0].sum() / len(confidence))
