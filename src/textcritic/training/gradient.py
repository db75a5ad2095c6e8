"""Training by gradient steps: what such jobs have in common, whatever the model and its loss."""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import torch

from textcritic.errors import TextcriticError
from textcritic.plan.entries.parts import Descent
from textcritic.runlog import log
from textcritic.training.checkpoint import State
from textcritic.training.hardware import Sent, autocast, card_name, device
from textcritic.training.loop import Job, Loop
from textcritic.training.optimiser import learning_rate, optimiser, set_learning_rate
from textcritic.training.processes import Ranks

Part = TypeVar("Part")
CURVE_POINTS = 1000  # at most about so many, besides the validations


class _Pending(NamedTuple):
    """Loss and gradient norm [2] of a step."""

    step: int
    rate: float
    values: Sent


class GradientJob(Job):
    """A training in which a step is one update of all weights.

    Args:
        name: the generator's, for progress and error lines.
        model: on the CPU; it is moved, and trained in place.
        training: see `Descent`.
        seed: of dropout and the order of batches.
        ranks: this process among those that train.

    A subclass sets `steps`, `work` and `evaluate_every` (steps between validations).
    """

    evaluate_every: int

    def __init__(self, name: str, model: torch.nn.Module, training: Descent, seed: int, ranks: Ranks) -> None:
        self.name, self.descent, self.seed, self.ranks = name, training, seed, ranks
        self.device = device()
        self.model = model.to(self.device)
        self.forward: torch.nn.Module = self.model  # a subclass whose processes share a step wraps it
        self.autocast = autocast(self.device, training.precision)
        torch.set_float32_matmul_precision(training.float32_matmul_precision)
        self.optimiser = optimiser(
            model, training.learning_rate, training.weight_decay, training.adam_beta2, training.method
        )
        self.loss_sum, self.since_point = 0.0, 0
        self.ran_on = [(card_name(self.device), ranks.size)]
        self.loss: float | None = None
        self.pending: _Pending | None = None

    @abstractmethod
    def backward(self, loop: Loop) -> torch.Tensor:
        """The loss of the next step, of this process's share of it, detached; its gradients are in the weights."""

    @abstractmethod
    def note(self, loop: Loop) -> str:
        """What a progress line says of the speed."""

    def accumulated(self, parts: Sequence[Part], loss_of: Callable[[Part], torch.Tensor]) -> torch.Tensor:
        """The sum of the losses of a step's forward passes, detached; each is followed by its backward pass.

        Args:
            parts: what each forward pass of this process reads.
            loss_of: its loss, as it counts in the sum.
        """
        total = torch.zeros((), device=self.device)
        for place, part in enumerate(parts):
            with self.ranks.averaging(self.forward, last=place == len(parts) - 1):
                loss = loss_of(part)
                loss.backward()
            total += loss.detach()
        return total

    def step(self, loop: Loop) -> None:
        """Start one optimiser step; its loss is read after the next has been started, so that no GPU waits for it."""
        descent = self.descent
        rate = learning_rate(loop.step, self.steps, descent.learning_rate, descent.schedule, descent.warmup_steps)
        set_learning_rate(self.optimiser, rate)
        self.model.train()
        loss = self.backward(loop)
        self.ranks.mean_(loss)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), descent.gradient_clip or math.inf)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.settle(loop)
        self.pending = _Pending(loop.step + 1, rate, Sent(torch.stack([loss, norm])))
        loss_note = "" if self.loss is None else f"loss {self.loss:.3f}, "
        loop.advance(1, f"{loss_note}{self.note(loop)}")

    def settle(self, loop: Loop) -> None:
        """Take the loss of the last step that was started, if it is not yet taken, into the curve."""
        if self.pending is None:
            return
        step, rate, values = self.pending
        loss, norm = values.tolist()
        self.pending = None
        if not math.isfinite(loss) or not math.isfinite(norm):
            raise TextcriticError(
                f"training {self.name}: loss {loss:g}, gradient norm {norm:g} at step {step:,} with "
                f"learning rate {rate:g}; lower training.learning_rate (the last checkpoint is kept)"
            )
        self.loss, self.loss_sum, self.since_point = loss, self.loss_sum + loss, self.since_point + 1
        if step % max(1, self.steps // CURVE_POINTS) == 0 and not self.validation_is_due(step):
            loop.record(step, self.train_loss())

    def train_loss(self) -> float:
        """The mean training loss since the last point of the curve."""
        mean = self.loss_sum / self.since_point
        self.loss_sum, self.since_point = 0.0, 0
        return mean

    def validation_is_due(self, step: int) -> bool:
        """Every so many steps, and after the last."""
        return step % self.evaluate_every == 0 or step == self.steps

    def mean_over_ranks(self, loop: Loop, total: float, count: float) -> float | None:
        """The mean of a validation that the processes share; None if one of them is to stop."""
        (abandoned,) = self.ranks.any(loop.stopping())
        if abandoned:
            return None
        total, count = self.ranks.sum(total, count)
        return total / count

    def after_validation(self, loop: Loop, loss: float) -> bool:
        """Log the loss."""
        log.info("training %s: validation loss %.4f after step %d", self.name, loss, loop.step)
        return False

    def weights(self) -> State:
        """The model's weights, on its device."""
        weights: State = self.model.state_dict()
        return weights

    def set_weights(self, weights: State) -> None:
        """Put `weights` back."""
        self.model.load_state_dict(weights)

    def state(self) -> State:
        """Weights, optimiser, and the losses since the last point of the curve."""
        return {
            "loss_sum": self.loss_sum,
            "since_point": self.since_point,
            "model": self.weights(),
            "optimiser": self.optimiser.state_dict(),
            "ran_on": self.ran_on,
        }

    def restore(self, state: State) -> None:
        """Go on from a `state`."""
        self.loss_sum, self.since_point = state["loss_sum"], state["since_point"]
        self.ran_on += [on for on in state["ran_on"] if on not in self.ran_on]
        self.set_weights(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
