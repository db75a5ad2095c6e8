"""Models that learn to answer questions about sentences: the kinds, by their names in the registry."""

import importlib
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from textcritic.critics.detectors.questions import Question
from textcritic.errors import TextcriticError
from textcritic.plan.entries import Detector
from textcritic.training.loop import Loop
from textcritic.values import JsonObject

PACKAGE = "textcritic.critics.detectors"
KINDS = {
    "majority": "bag:Majority",
    "bag": "bag:Bag",
    "embeddings": "vectors:WordVectors",
    "bilstm": "vectors:WordVectors",
    "transformer": "transformer:Transformer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Files and folders that a detector is made from, besides its documents; None: none is needed."""

    tokenizer: str | os.PathLike[str] | None = None  # folder, for a transformer that starts from a configuration
    pretrained: str | os.PathLike[str] | None = None  # folder of the model that training starts from
    vectors: str | os.PathLike[str] | None = None  # GloVe's text file
    scorer: str | os.PathLike[str] | None = None  # folder of a language model, or critic.npz, where nothing is learnt
    made_with: Mapping[str, str] = field(default_factory=dict)  # what that is, see `detector.scorer_made_with`

    def given(self) -> dict[str, str | os.PathLike[str]]:
        """Those that there are, by role."""
        roles = ("tokenizer", "pretrained", "vectors", "scorer")
        return {role: path for role in roles if (path := getattr(self, role)) is not None}


@dataclass(frozen=True, slots=True)
class Lessons:
    """Questions with their answers, of the train and the validation split."""

    train: Sequence[Question]
    validation: Sequence[Question]

    def counts(self) -> JsonObject:
        """How many there are, and of how many something is wrong."""
        splits = {"train": self.train, "validation": self.validation}
        return {
            split: {"questions": len(questions), "wrong": sum(question.wrong for question in questions)}
            for split, questions in splits.items()
        }


class Learner(ABC):
    """Answers questions by what it has learnt."""

    @classmethod
    @abstractmethod
    def learn(cls, lessons: Lessons, entry: Detector, files: Files, seed: int, loop: Loop) -> Self:
        """Learn from questions with their answers.

        Args:
            lessons: of both splits.
            entry: of the detector, whose model is of this kind.
            files: see `Files`.
            seed: of first weights and the order of lessons.
            loop: which trains what is trained by gradient steps.

        Raises:
            TextcriticError: files that do not fit, a loss that is not finite, SIGTERM.
        """

    @abstractmethod
    def answer(self, questions: Sequence[Question], what: str = "") -> np.ndarray:
        """The probability that something is wrong, float64 [questions]; `what`, if any, is shown in progress lines."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write all that `load` needs."""

    @classmethod
    @abstractmethod
    def load(cls, folder: Path, entry: Detector) -> Self:
        """Read it back; raises TextcriticError where files are missing or damaged."""

    def report(self) -> JsonObject:
        """What `training.json` records of the training."""
        return {}


def learner_of(kind: str) -> type[Learner]:
    """The class of a kind."""
    module, _, name = KINDS[kind].partition(":")
    learner: type[Learner] = getattr(importlib.import_module(f"{PACKAGE}.{module}"), name)
    return learner


def require_both_answers(lessons: Sequence[Question]) -> None:
    """See that there is something to learn: raises TextcriticError where all answers are the same, or none is there."""
    wrong = sum(question.wrong for question in lessons)
    if not 0 < wrong < len(lessons):
        raise TextcriticError(
            f"{wrong} intruders among {len(lessons)} sentences to learn from; documents with and without one are needed"
        )
