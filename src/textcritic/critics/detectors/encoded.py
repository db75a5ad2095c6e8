"""Questions as numbers of tokens, and the training by gradient steps of the models that answer them."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from textcritic.critics.detectors.learner import Learner, Lessons
from textcritic.critics.detectors.questions import Question
from textcritic.latents.titles.sections import answered_batches, shuffled_batches
from textcritic.plan.entries.detectors import DetectorTraining
from textcritic.runlog import Progress
from textcritic.training.gradient import GradientJob
from textcritic.training.hardware import autocast, card_name, cpu_settings, device
from textcritic.training.loop import Loop
from textcritic.training.processes import Ranks
from textcritic.values import JsonObject

BATCH = 64  # questions that are answered at once


@dataclass(frozen=True)
class Padding:
    """What fills up the rows of a batch: the number of a token, that of its type, and on which side."""

    token: int = 0
    type: int = 0
    left: bool = False


@dataclass(frozen=True)
class Encoded:
    """Questions one after the other.

    Attributes:
        tokens: int32 [tokens].
        types: of tokens, int8 [tokens]; None where the model reads none.
        starts: where each question begins, int64 [questions + 1].
        wrong: the right answers, int64 [questions].
        padding: see `Padding`.
        cut: how many questions were too long, and lost tokens.
    """

    tokens: np.ndarray
    types: np.ndarray | None
    starts: np.ndarray
    wrong: np.ndarray
    padding: Padding
    cut: int = 0

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each question, int64 [questions]."""
        return np.diff(self.starts)

    def batch(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """Questions `rows` [n] as `input_ids`, `attention_mask` and, if any, `token_type_ids`, [n, longest]."""
        lengths = self.lengths[rows]
        columns = np.arange(lengths.max())
        if self.padding.left:
            columns = columns - (lengths.max() - lengths)[:, None]
        mask = (columns >= 0) & (columns < lengths[:, None])
        at = np.clip(self.starts[rows][:, None] + columns, 0, len(self.tokens) - 1)
        arrays = {"input_ids": np.where(mask, self.tokens[at], self.padding.token), "attention_mask": mask}
        if self.types is not None:
            arrays["token_type_ids"] = np.where(mask, self.types[at], self.padding.type)
        return {name: torch.from_numpy(values.astype(np.int64)) for name, values in arrays.items()}


def joined(pieces: Sequence[np.ndarray], questions: Sequence[Question], padding: Padding) -> Encoded:
    """Encoded questions from the tokens of each, without types."""
    starts = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])]).astype(np.int64)
    tokens = np.concatenate([*pieces, np.empty(0, np.int32)])
    return Encoded(tokens, None, starts, answers_of(questions), padding)


def answers_of(questions: Sequence[Question]) -> np.ndarray:
    """The right answers, int64 [questions]."""
    return np.array([question.wrong for question in questions], np.int64)


class AnswerJob(GradientJob):
    """The training of a model that answers questions; the weights of the lowest validation loss are kept.

    Args:
        name: for progress and error lines.
        model: on the CPU; it takes batches of `Encoded` and gives logits [questions, 2]. Trained in place.
        training: how.
        seed: of dropout and the order of questions.
        splits: questions of train and validation.
    """

    def __init__(
        self, name: str, model: nn.Module, training: DetectorTraining, seed: int, splits: tuple[Encoded, Encoded]
    ) -> None:
        super().__init__(name, model, training, seed, Ranks())
        self.train, self.validation = splits
        self.texts, self.passes = training.texts, training.accumulation
        self.per_epoch = math.ceil(len(self.train.wrong) / self.texts)
        steps_of = lambda epochs: max(1, round(epochs * self.per_epoch))  # noqa: E731
        self.steps = self.work = training.total_steps(steps_of)
        self.evaluate_every = training.evaluate_every or self.per_epoch
        self.order: tuple[int, list[np.ndarray]] = (-1, [])  # epoch, and the rows of its batches

    def backward(self, loop: Loop) -> torch.Tensor:
        """The mean cross-entropy of a step's questions, however many forward passes read them."""
        rows = self._rows(loop.step)
        parts = np.array_split(rows, min(self.passes, len(rows)))
        return self.accumulated(parts, lambda part: self._losses(self.train, part).sum() / len(rows))

    def note(self, loop: Loop) -> str:
        """Questions per second."""
        return f"{loop.rate * self.texts:,.0f} sentences/s"

    @torch.no_grad()
    def validate(self, loop: Loop) -> float | None:
        """Nats per question of the validation split."""
        self.model.eval()
        total = 0.0
        for rows in answered_batches(self.validation.lengths, BATCH, self.device):
            if loop.stopping():
                return None
            total += float(self._losses(self.validation, rows).double().sum())
        return total / len(self.validation.wrong)

    def report(self, loop: Loop) -> JsonObject:
        """What `training.json` records of the training."""
        return {
            "steps": loop.step,
            "best_step": loop.best_step,
            "validation_loss": loop.best_loss,
            "parameters": sum(p.numel() for p in self.model.parameters()),
            "trained_parameters": sum(p.numel() for p in self.model.parameters() if p.requires_grad),
            "cut": {"train": self.train.cut, "validation": self.validation.cut},
            "curve": loop.curve(),
            "seconds": round(loop.seconds, 1),
            "sentences_per_second": round(loop.step * self.texts / max(loop.stepping, 1e-9), 1),
            "device": card_name(self.device),
        }

    def _losses(self, questions: Encoded, rows: np.ndarray) -> torch.Tensor:
        batch = {key: value.to(self.device) for key, value in questions.batch(rows).items()}
        with self.autocast:
            logits = self.model(**batch).logits
        wrong = torch.from_numpy(questions.wrong[rows]).to(self.device)
        return cross_entropy(logits.float(), wrong, reduction="none")

    def _rows(self, step: int) -> np.ndarray:
        """The questions of a step: of similar lengths, in an order of the seed and the epoch alone."""
        epoch, index = divmod(step, self.per_epoch)
        if self.order[0] != epoch:
            self.order = (epoch, shuffled_batches(self.train.lengths, self.texts, self.seed, epoch))
        return self.order[1][index]


class Network(Learner):
    """A learner whose `model`, as `AnswerJob` takes it, is trained by gradient steps; `made` is its report."""

    model: nn.Module
    training: DetectorTraining
    made: JsonObject

    @abstractmethod
    def encode(self, questions: Sequence[Question]) -> Encoded:
        """Questions as the model reads them."""

    def train(self, lessons: Lessons, seed: int, loop: Loop, more: JsonObject) -> Self:
        """Train the model on lessons; the report has `more` too."""
        splits = self.encode(lessons.train), self.encode(lessons.validation)
        job = AnswerJob(loop.run.name, self.model, self.training, seed, splits)
        loop.train(job)
        self.model.load_state_dict(loop.best())
        self.made = {**more, **job.report(loop)}
        return self

    def answer(self, questions: Sequence[Question], what: str = "") -> np.ndarray:
        """By the softmax of the model's logits; on the GPU if there is one."""
        self.model.to(device())
        return answers(self.model, self.encode(questions), self.training, what)

    def report(self) -> JsonObject:
        """That of the training."""
        return self.made


@torch.inference_mode()
def answers(model: nn.Module, questions: Encoded, training: DetectorTraining, what: str = "") -> np.ndarray:
    """The probability that something is wrong, float64 [questions].

    Args:
        model: as `AnswerJob` takes it, on its device; left in evaluation mode.
        questions: encoded for it.
        training: that of the detector, in whose precision it answers.
        what: a few words for progress lines; nothing: none are written.
    """
    model.eval()
    at = next(model.parameters()).device
    result = np.zeros(len(questions.wrong))
    progress = Progress(what, len(result), "sentences") if what else None
    with cpu_settings(float32_matmul_precision=training.float32_matmul_precision):
        for rows in answered_batches(questions.lengths, BATCH, at):
            batch = {key: value.to(at) for key, value in questions.batch(rows).items()}
            with autocast(at, training.precision):
                logits = model(**batch).logits
            result[rows] = torch.softmax(logits.double(), dim=-1)[:, 1].cpu().numpy()
            if progress:
                progress.advance(len(rows))
    return result
