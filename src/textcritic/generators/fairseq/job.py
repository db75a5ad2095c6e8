"""What the training of one of fairseq's models does at each step: fairseq's model and criterion, our own loop."""

from typing import Any

import torch
from torch import nn

from textcritic.errors import TextcriticError
from textcritic.generators.fairseq.data import Batch, Batches, Examples, to_device
from textcritic.generators.fairseq.models import FairseqModel, set_weights, weights
from textcritic.generators.fairseq.score import adaptive_nll, iter_nll
from textcritic.plan.entries.generators import FairseqTraining
from textcritic.training.checkpoint import State
from textcritic.training.gradient import GradientJob
from textcritic.training.hardware import card_name
from textcritic.training.loop import Loop
from textcritic.training.processes import Ranks
from textcritic.values import JsonObject


class Objective(nn.Module):
    """A model with the criterion that it is trained by.

    That is fairseq's `nat_loss` for a non-autoregressive model, else its `label_smoothed_cross_entropy`. If the output
    is an adaptive softmax, it is the negative log likelihood: fairseq's `adaptive_loss` leaves out a part of it, the
    second word of each cluster, because this word has the number of <pad> there.

    Args:
        model: see `FairseqModel`.
        label_smoothing: share of the probability that is spread over all symbols.
        precision: number type of the forward pass.

    Raises:
        TextcriticError: label smoothing with an adaptive softmax, whose loss cannot be smoothed.
    """

    def __init__(self, model: FairseqModel, label_smoothing: float, precision: torch.autocast) -> None:
        super().__init__()
        from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
        from fairseq.criterions.nat_loss import LabelSmoothedDualImitationCriterion

        if model.adaptive and label_smoothing:
            raise TextcriticError("training.label_smoothing: an adaptive softmax is trained without; set it to 0")
        self.module = model.module
        self.at_once, self.task, self.precision = not model.autoregressive, model.task, precision
        self.softmax: Any = model.module.decoder.adaptive_softmax if model.adaptive else None
        self.pad = model.dictionary.pad()
        if self.at_once:
            model.module.args.label_smoothing = label_smoothing  # the model tells the criterion
            self.criterion = LabelSmoothedDualImitationCriterion(model.task, label_smoothing)
        else:
            self.criterion = LabelSmoothedCrossEntropyCriterion(model.task, False, label_smoothing)

    def forward(self, batch: Batch) -> torch.Tensor:
        """The loss of a batch: summed over target tokens; of a non-autoregressive model, a mean over the batch."""
        if self.at_once:
            batch["prev_target"] = self.task.inject_noise(batch["target"])
        with self.precision:
            if self.softmax is not None:
                return self._adaptive(batch)
            loss: torch.Tensor = self.criterion(self.module, batch)[0]
        return loss

    def _adaptive(self, batch: Batch) -> torch.Tensor:
        features, target = self.module(**batch["net_input"])[0], batch["target"]
        loss = adaptive_nll(self.softmax, features, target)[target.flatten() != self.pad].sum()
        # A cluster without a token in the batch gets a gradient too, of zero, as in fairseq.
        for parameter in self.softmax.tail.parameters():
            loss = loss + 0.0 * parameter.sum()
        return loss


class FairseqJob(GradientJob):
    """The training of one of fairseq's models.

    Args:
        name: the generator's, for progress and error lines.
        model: on the CPU; its module is moved, and trained in place.
        training: see `FairseqTraining`; each process does its share of the forward passes of a step.
        seed: of dropout, the order of batches, and how targets are spoilt.
        splits: the examples to train on, and those of the validation.
        ranks: this process among those that train.
    """

    unit = "steps"

    def __init__(
        self,
        name: str,
        model: FairseqModel,
        training: FairseqTraining,
        seed: int,
        splits: tuple[Examples, Examples],
        ranks: Ranks,
    ) -> None:
        super().__init__(name, model.module, training, seed, ranks)
        self.fairseq, self.training = model, training
        self.batches, self.validation = (Batches(model, examples, training.max_tokens) for examples in splits)
        self.steps = self.work = training.total_steps(lambda epochs: training.steps_of(epochs, len(self.batches)))
        self.evaluate_every = training.evaluate_every or training.steps_of(1, len(self.batches))
        self.forward = ranks.wrap(Objective(model, training.label_smoothing, self.autocast))
        self.tokens_seen = 0

    def backward(self, loop: Loop) -> torch.Tensor:
        """The mean loss over the target tokens of a step, or over its batches where a batch has a mean of its own."""
        parts = self.training.accumulation
        first = loop.step * parts
        rows = [self.batches.at(self.seed, number) for number in range(first, first + parts)]
        tokens = sum(map(self.batches.tokens, rows))
        share = self.ranks.size / (tokens if self.fairseq.autoregressive else parts)
        self.tokens_seen += tokens
        return self.accumulated(
            self.ranks.part(rows),
            lambda batch: self.forward(to_device(self.batches.collate(batch), self.device)) * share,
        )

    def note(self, loop: Loop) -> str:
        """Target tokens per second, padding not counted."""
        return f"{loop.rate * self.tokens_seen / (loop.step + 1):,.0f} tokens/s"

    def validate(self, loop: Loop) -> float | None:
        """Nats per target token, exact, without label smoothing or dropout, see `score.iter_nll`."""
        total, count = 0.0, 0
        for rows in self.ranks.part(self.validation.in_order()):
            if loop.stopping():
                break
            for _, nll in iter_nll(self.fairseq, self.validation.collate(rows), self.autocast):
                total, count = total + float(nll.sum()), count + len(nll)
        return self.mean_over_ranks(loop, total, count)

    def weights(self) -> State:
        """The parameters, on their device, a shared one once."""
        return weights(self.model)

    def set_weights(self, values: State) -> None:
        """Put `weights` back."""
        set_weights(self.model, values)

    def state(self) -> State:
        """As of every gradient job, and the tokens seen."""
        return {**super().state(), "tokens_seen": self.tokens_seen}

    def restore(self, state: State) -> None:
        """Go on from a `state`."""
        super().restore(state)
        self.tokens_seen = state["tokens_seen"]

    def report(self, loop: Loop) -> JsonObject:
        """The training's report, see `train.train_fairseq`."""
        return {
            "steps": loop.step,
            "best_step": loop.best_step,
            "validation_loss": loop.best_loss,
            "tokens_seen": self.tokens_seen,
            "parameters": self.fairseq.parameters,
            "curve": loop.curve(),
            "seconds": round(loop.seconds, 1),
            "tokens_per_second": round(self.tokens_seen / max(loop.stepping, 1e-9), 1),
            "flops_per_token": None,
            "mfu": None,
            "device": card_name(self.device),
            "processes": self.ranks.size,
        }
