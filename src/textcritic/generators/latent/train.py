"""Train a latent language model or a proposal on texts with states; resumable, the best on validation is kept."""

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from textcritic.corpora.structured.texts import Structured, read_structured
from textcritic.errors import TextcriticError
from textcritic.generators.latent.kinds import learner_of
from textcritic.generators.latent.model import Learner
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.plan.entries.latent import LatentEntry, LatentTraining
from textcritic.training.gradient import GradientJob
from textcritic.training.hardware import card_name
from textcritic.training.loop import Loop, Run, resumable
from textcritic.training.processes import Ranks
from textcritic.values import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a latent model is trained on: corpus files in `structured.STRUCTURED_SCHEMA`."""

    train: str | os.PathLike[str]
    validation: str | os.PathLike[str]
    knowledge: str | os.PathLike[str] | None = None  # folder of the knowledge graph, for the kinds that read one


def train_latent(inputs: Inputs, entry: LatentEntry, seed: int, run: Run) -> JsonObject:
    """Train, and write the model with the lowest validation loss as `run.model_dir`.

    Args:
        inputs: the splits.
        entry: of the model or the proposal; the vocabulary has the words of train that occur `minimum_count` times.
        seed: of first weights, dropout and the order of texts.
        run: what is written and how.

    Returns:
        what was written to `run.report_path`: steps, best_step, validation_loss (nats per token), parameters,
        vocabulary, curve, seconds, texts_per_second, device.

    Raises:
        TextcriticError: bad input, a loss that is not finite, SIGTERM.
    """
    learner, training = learner_of(entry.kind), entry.training
    texts, validation = read_structured(inputs.train), read_structured(inputs.validation)
    for path, split in ((inputs.train, texts), (inputs.validation, validation)):
        if not split:
            raise TextcriticError(f"{path}: has no texts to train {run.name} on")
    vocabulary = Vocabulary.count((text.tokens for text in texts), entry.minimum_count)
    knowledge = None if inputs.knowledge is None else Path(inputs.knowledge)
    decides = {
        "kind": learner.kind,
        "model": entry.model.plain(),
        "minimum_count": entry.minimum_count,
        "training": training.deciding(),
        "seed": seed,
    }
    files = {key: value for key, value in asdict(inputs).items() if value is not None}
    with resumable(run, decides, files) as loop:
        torch.manual_seed(seed)
        model = learner.build(entry.model, vocabulary, knowledge)
        job = LatentJob(run.name, model, training, seed, (texts, validation))
        loop.train(job)
        report = job.report(loop)
        model.load_state_dict(loop.best())
        loop.finish(model.save, report)
    return report


class LatentJob(GradientJob):
    """The training of one latent model or proposal.

    Args:
        name: for progress and error lines.
        model: on the CPU; it is moved, and trained in place.
        training: how.
        seed: of dropout and the order of texts.
        splits: texts of train and validation.
    """

    model: Learner

    def __init__(
        self,
        name: str,
        model: Learner,
        training: LatentTraining,
        seed: int,
        splits: tuple[Sequence[Structured], Sequence[Structured]],
    ) -> None:
        super().__init__(name, model, training, seed, Ranks())
        self.train, self.validation = splits
        self.texts, self.passes = training.texts, training.accumulation
        self.batches_per_epoch = math.ceil(len(self.train) / self.texts)
        steps_of = lambda epochs: math.ceil(epochs * self.batches_per_epoch)  # noqa: E731
        self.steps = self.work = training.total_steps(steps_of)
        self.evaluate_every = training.evaluate_every or self.batches_per_epoch
        self.order: tuple[int, list[np.ndarray]] = (-1, [])  # epoch, and the rows of its batches

    def backward(self, loop: Loop) -> torch.Tensor:
        """The mean loss per token of a step's texts."""
        texts = [self.train[row] for row in self._rows(loop.step)]
        tokens = sum(self.model.counted(text) for text in texts)

        def loss_of(rows: np.ndarray) -> torch.Tensor:
            with self.autocast:
                losses = self.model.losses([texts[row] for row in rows])
            return losses.sum() / tokens

        parts = np.array_split(np.arange(len(texts)), min(self.passes, len(texts)))
        return self.accumulated(parts, loss_of).float()

    def note(self, loop: Loop) -> str:
        """Texts per second."""
        return f"{loop.rate * self.texts:,.0f} texts/s"

    def validate(self, loop: Loop) -> float | None:
        """Nats per token of the validation split, with its states."""
        self.model.eval()
        total, tokens = 0.0, 0
        by_length = sorted(self.validation, key=lambda text: len(text.tokens))
        with torch.no_grad(), self.autocast:
            for first in range(0, len(by_length), self.texts):
                if loop.stopping():
                    return None
                texts = by_length[first : first + self.texts]
                total += float(self.model.losses(texts).sum())
                tokens += sum(self.model.counted(text) for text in texts)
        return total / tokens

    def report(self, loop: Loop) -> JsonObject:
        """The training's report, see `train_latent`."""
        return {
            "steps": loop.step,
            "best_step": loop.best_step,
            "validation_loss": loop.best_loss,
            "parameters": sum(parameter.numel() for parameter in self.model.parameters()),
            "vocabulary": len(self.model.vocabulary),
            "curve": loop.curve(),
            "seconds": round(loop.seconds, 1),
            "texts_per_second": round(loop.step * self.texts / max(loop.stepping, 1e-9), 1),
            "device": card_name(self.device),
        }

    def _rows(self, step: int) -> np.ndarray:
        """The texts of a step: of similar lengths, in an order of the seed and the epoch alone."""
        epoch, batch = divmod(step, self.batches_per_epoch)
        if self.order[0] != epoch:
            self.order = (epoch, self._batches(np.random.default_rng((self.seed, epoch))))
        return self.order[1][batch]

    def _batches(self, random: np.random.Generator) -> list[np.ndarray]:
        rows = random.permutation(len(self.train))
        lengths = np.array([len(text.tokens) for text in self.train])
        window = 50 * self.texts  # texts that are put in order of length together
        parts = [rows[first : first + window] for first in range(0, len(rows), window)]
        ordered = np.concatenate([part[np.argsort(lengths[part], kind="stable")] for part in parts])
        batches = [ordered[first : first + self.texts] for first in range(0, len(ordered), self.texts)]
        return [batches[n] for n in random.permutation(len(batches))]
