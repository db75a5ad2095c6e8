"""Make a detector: let it learn, choose its threshold where it has none, and measure it on validation."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from textcritic.corpora.articles import num_articles
from textcritic.corpora.intruders.documents import Document, iter_documents, read_documents
from textcritic.critics.detectors.detector import DESCRIPTION, Asking, Detector, scorer_made_with
from textcritic.critics.detectors.learner import Files, Lessons, learner_of
from textcritic.critics.detectors.predictions import Prediction, write_predictions
from textcritic.critics.detectors.questions import test_of
from textcritic.critics.detectors.scorer import Scorer
from textcritic.critics.detectors.scores import MEASURES, Counts, Ranking, best_threshold
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.plan.entries import Detector as DetectorEntry
from textcritic.plan.entries.detectors import Untrained
from textcritic.plan.registries import WITHOUT_EFFECT
from textcritic.runlog import log
from textcritic.training.hardware import cpu_settings
from textcritic.training.loop import Loop, Run, resumable
from textcritic.values import JsonObject

EVEN = 0.5  # a probability above it is a flag


def train_detector(
    train: str | os.PathLike[str],
    validation: str | os.PathLike[str],
    files: Files,
    entry: DetectorEntry,
    seed: int,
    run: Run,
) -> JsonObject:
    """Train a detector of intruder sentences, and write its folder; a killed training continues from its checkpoint.

    Args:
        train: documents to learn from, see `corpora.intruders`.
        validation: documents that decide which weights are kept, and the threshold of scores that are no probability.
        files: what else it is made from.
        entry: of the detector.
        seed: of first weights, dropout and the order of documents.
        run: what is written and how.

    Returns:
        what was written to `run.report_path`: `documents` and `questions` of both splits, `threshold` and where it is
        from, `validation` (accuracy, f1, precision, recall, share_flagged, auc, average_precision; null where there is
        none), and the numbers of the training, see `encoded.AnswerJob.report`.

    Raises:
        TextcriticError: bad input, a loss that is not finite, SIGTERM.
    """
    learnt_from, held_out = read_documents(train), read_documents(validation)
    for path, documents in ((train, learnt_from), (validation, held_out)):
        if not documents:
            raise TextcriticError(f"{path}: has no documents to train {run.name} on")
    described = entry.canonical(without=WITHOUT_EFFECT)
    decides: JsonObject = {"entry": described, "made_with": dict(files.made_with), "seed": seed}
    if entry.training is not None:
        decides["training"] = entry.training.deciding()
    with resumable(run, decides, {"train": train, "validation": validation, **files.given()}) as loop:
        scorer, report = _made((learnt_from, held_out), files, entry, seed, loop)
        detector = Detector(scorer, EVEN, entry.opening)
        log.info("%s: predicting the validation split", run.name)
        scored = scorer.scores(held_out, f"validating {run.name}")
        chosen_on = "fixed"
        if not scorer.probabilities:
            detector.threshold, chosen_on = _threshold(held_out, scored), "validation"
        report = {
            "documents": {"train": len(learnt_from), "validation": len(held_out)},
            "threshold": detector.threshold,
            "threshold_from": chosen_on,
            "validation": measured(held_out, detector.judged(held_out, scored)),
            **report,
        }

        def save(folder: Path) -> None:
            scorer.save(folder)
            write_json(
                folder / DESCRIPTION,
                {"entry": described, "threshold": detector.threshold, "made_with": files.made_with},
            )

        loop.finish(save, report)
    return report


def predict_documents(
    model_dir: str | os.PathLike[str],
    documents: str | os.PathLike[str],
    out_path: str | os.PathLike[str],
    scorer: str | os.PathLike[str] | None = None,
    threads: int | None = None,
) -> None:
    """Write the predictions of a detector for a file of documents, see `predictions`.

    Args:
        model_dir: the detector's folder.
        documents: Parquet file, see `corpora.intruders`; whether intruders are known makes no difference.
        out_path: Parquet file to write.
        scorer: as of `Detector.load`.
        threads: CPU threads; None leaves torch's own number.

    Raises:
        TextcriticError: the model or the documents cannot be read.
    """
    with cpu_settings(threads):
        detector = Detector.load(model_dir, scorer)
        predicted = detector.predict(iter_documents(documents), "detecting intruders", num_articles(documents))
        write_predictions(out_path, list(predicted))


def measured(documents: Sequence[Document], predictions: Sequence[Prediction]) -> dict[str, float | None]:
    """All numbers of `scores` at once; None where one is not defined."""
    counts, ranking = Counts.of(documents, predictions), Ranking.of(documents, predictions)
    sums = {name: columns(counts).sum(axis=0) for name, columns in MEASURES.items()}
    values = {name: float(above / below) if below else np.nan for name, (above, below) in sums.items()}
    values |= {"auc": float(ranking.auc()), "average_precision": float(ranking.average_precision())}
    return {name: None if np.isnan(value) else value for name, value in values.items()}


def _made(
    splits: tuple[Sequence[Document], Sequence[Document]],
    files: Files,
    entry: DetectorEntry,
    seed: int,
    loop: Loop,
) -> tuple[Scorer, JsonObject]:
    """The scorer, and what the report says about its training."""
    if isinstance(entry.model.settings, Untrained):
        return scorer_made_with(entry, files.made_with, files.scorer), {}
    test = test_of(entry)
    lessons = Lessons(*(test.lessons(documents, seed) for documents in splits))
    learner = learner_of(entry.model.kind).learn(lessons, entry, files, seed, loop)
    return Asking(test, learner), {"questions": lessons.counts(), **learner.report()}


def _threshold(documents: Sequence[Document], scored: Sequence[np.ndarray]) -> float:
    """That of the best F1 over non-opening sentences."""
    wrong = [np.arange(1, len(scores)) == document.intruder for document, scores in zip(documents, scored, strict=True)]
    threshold, _ = best_threshold(np.concatenate([scores[1:] for scores in scored]), np.concatenate(wrong))
    return threshold
