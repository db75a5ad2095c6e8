"""What the training of a causal language model does at each step, alone or among several processes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from textcritic.errors import TextcriticError
from textcritic.generators.encode import block_at, training_starts, windows
from textcritic.generators.perplexity import iter_nll
from textcritic.runlog import log
from textcritic.training.hardware import autocast, card_name, device, flops_per_token, in_bf16, utilisation
from textcritic.training.loop import Job, Loop
from textcritic.training.optimiser import learning_rate, optimiser, set_learning_rate
from textcritic.training.processes import Ranks

CURVE_POINTS = 1000  # at most about so many, besides the validations


@dataclass(frozen=True, slots=True)
class Training:
    """How a generator is trained; the keys of a registry entry's `training`.

    How often to save is not among them: it does not decide the result, see `loop.Run`. Adam with decoupled weight decay
    (0, the default, is the plain Adam of the model criticism paper, appendix E). Give `steps` or `epochs`, not both.
    """

    context: int  # tokens in a block
    learning_rate: float
    blocks: str = "packed"  # where blocks begin, see `encode.training_starts`
    batch_size: int = 8  # blocks in a forward pass
    accumulation: int = 1  # forward passes in a step
    schedule: str = "linear"  # linear or cosine to zero at the last step, inverse_sqrt, or constant
    warmup_steps: int = 0
    steps: int | None = None  # optimiser steps
    epochs: float | None = None  # passes over the training blocks
    adam_beta2: float = 0.999  # decay of the mean squared gradient; that of the mean gradient is 0.9
    weight_decay: float = 0.0
    gradient_clip: float | None = 1.0  # largest gradient norm; None: no clipping
    evaluate_every: int | None = None  # steps between validations, None: an epoch; the last step is always validated
    evaluate_blocks: int | None = None  # validate on at most so many blocks; None: all
    precision: str = "auto"  # auto (bf16 on a GPU that has it, else fp32), fp32 or bf16 autocast
    activation_checkpointing: bool = False

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> "Training":
        """From a registry entry with all its defaults."""
        return cls(**{key: value for key, value in entry["training"].items() if key != "checkpoint_seconds"})

    def total_steps(self, blocks: int) -> int:
        """Optimiser steps in all, for a training split of so many blocks."""
        if (self.steps is None) == (self.epochs is None):
            raise TextcriticError("training: give steps or epochs, one of the two")
        total = int(self.steps or 0) if self.epochs is None else self.steps_of(self.epochs, blocks)
        if total < 1:
            raise TextcriticError("training: steps or epochs: should be above 0")
        return total

    def steps_of(self, epochs: float, blocks: int) -> int:
        """Optimiser steps in so many passes over so many blocks."""
        return math.ceil(epochs * blocks / (self.batch_size * self.accumulation))

    def deciding(self) -> dict[str, Any]:
        """The settings without those at their defaults, to know a training under way by.

        So a setting that a later version adds does not part a training under way from its checkpoints. A default
        that a later version changes would go unnoticed: raise `train.STATE_FORMAT` or the stage's version with it.
        """
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) != field.default}


class Streams(NamedTuple):
    """Tokens and kinds of the two splits, and the id of the end-of-text token."""

    train: tuple[np.ndarray, np.ndarray]
    validation: tuple[np.ndarray, np.ndarray]
    end: int


class _Pending(NamedTuple):
    """Loss and gradient norm [2] of a step, on their way from the GPU."""

    step: int
    rate: float
    values: torch.Tensor
    ready: torch.cuda.Event | None


class CausalJob(Job):
    """The training of one causal language model.

    Args:
        name: the generator's, for progress and error lines.
        model: on the CPU; it is moved, and trained in place.
        training: see `Training`; each process computes its share of the blocks of every forward pass.
        seed: of dropout and the order of blocks.
        streams: the encoded splits.
        ranks: this process among those that train.
    """

    def __init__(self, name: str, model: Any, training: Training, seed: int, streams: Streams, ranks: Ranks) -> None:
        self.name, self.training, self.seed, self.ranks = name, training, seed, ranks
        self.tokens, self.validation = streams.train[0], streams.validation[0]
        self.device = device()
        self.model = model.to(self.device)
        self.autocast = autocast(self.device, training.precision)
        self.starts = training_starts(*streams.train, streams.end, training.context, training.blocks)
        self.blocks = len(self.starts)
        self.steps = self.work = training.total_steps(self.blocks)
        self.evaluate_every = training.evaluate_every or training.steps_of(1, self.blocks)
        self.tokens_per_step = training.batch_size * training.accumulation * training.context
        cut = windows(*streams.validation, streams.end, training.context, training.blocks)
        self.windows = cut[: training.evaluate_blocks]
        if training.activation_checkpointing:
            model.activation_checkpointing_enable()
        self.optimiser = optimiser(model, training.learning_rate, training.weight_decay, training.adam_beta2)
        self.forward = ranks.wrap(self.model)
        self.loss_sum, self.since_point = 0.0, 0
        self.ran_on = [(card_name(self.device), ranks.size)]
        self.loss: float | None = None
        self.pending: _Pending | None = None

    def step(self, loop: Loop) -> None:
        """Start one optimiser step; its loss is read after the next has been started, so that no GPU waits for it."""
        training = self.training
        rate = learning_rate(loop.step, self.steps, training.learning_rate, training.schedule, training.warmup_steps)
        set_learning_rate(self.optimiser, rate)
        self.model.train()
        loss = torch.zeros((), device=self.device)
        for part in range(training.accumulation):
            inputs, targets = self._batch(loop.step * training.accumulation + part)
            with self.ranks.averaging(self.forward, last=part == training.accumulation - 1):
                with self.autocast:
                    logits = self.forward(input_ids=inputs, use_cache=False).logits
                part_loss = cross_entropy(logits.float().flatten(0, 1), targets.flatten()) / training.accumulation
                part_loss.backward()
            loss += part_loss.detach()
        self.ranks.mean_(loss)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), training.gradient_clip or math.inf)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.settle(loop)
        self.pending = self._send(loop.step + 1, rate, torch.stack([loss, norm]))
        known = "" if self.loss is None else f"loss {self.loss:.3f}, "
        loop.advance(1, f"{known}{loop.rate * self.tokens_per_step:,.0f} tokens/s")

    def settle(self, loop: Loop) -> None:
        """Take the loss of the last step that was started, if it is not yet taken, into the curve."""
        if self.pending is None:
            return
        step, rate, values, ready = self.pending
        if ready is not None:
            ready.synchronize()
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

    def validate(self, loop: Loop) -> float | None:
        """Nats per token, each process on its share of the windows."""
        total, count, batch = 0.0, 0.0, self.training.batch_size // self.ranks.size
        for _, nll in iter_nll(self.model, self.validation, self.ranks.part(self.windows), batch, self.autocast):
            if loop.stopping():
                break
            total, count = total + float(nll.sum()), count + len(nll)
        (abandoned,) = self.ranks.any(loop.stopping())
        if abandoned:
            return None
        total, count = self.ranks.sum(total, count)
        return total / count

    def weights(self) -> Mapping[str, Any]:
        """The model's weights, on its device."""
        weights: Mapping[str, Any] = self.model.state_dict()
        return weights

    def after_validation(self, loop: Loop, loss: float) -> bool:
        """Log the loss."""
        log.info("training %s: validation loss %.4f after step %d", self.name, loss, loop.step)
        return False

    def state(self) -> dict[str, Any]:
        """Weights, optimiser, and the losses since the last point of the curve."""
        return {
            "loss_sum": self.loss_sum,
            "since_point": self.since_point,
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "ran_on": self.ran_on,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state`."""
        self.loss_sum, self.since_point = state["loss_sum"], state["since_point"]
        self.ran_on += [on for on in state["ran_on"] if on not in self.ran_on]
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])

    def report(self, loop: Loop) -> dict[str, Any]:
        """The training's report, see `train.train_causal`."""
        tokens_seen = loop.step * self.tokens_per_step
        speed = tokens_seen / max(loop.stepping, 1e-9)
        flops = flops_per_token(self.model, self.training.context)
        card = card_name(self.device)
        bf16 = in_bf16(self.device, self.training.precision)
        share = utilisation(speed * flops, card, self.ranks.size) if bf16 and len(self.ran_on) == 1 else None
        return {
            "steps": loop.step,
            "best_step": loop.best_step,
            "validation_loss": loop.best_loss,
            "tokens_seen": tokens_seen,
            "parameters": self.model.num_parameters(),
            "curve": loop.curve(),
            "seconds": round(loop.seconds, 1),
            "tokens_per_second": round(speed, 1),
            "flops_per_token": flops,
            "mfu": None if share is None else round(share, 4),
            "device": card,
            "processes": self.ranks.size,
        }

    def _batch(self, number: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Inputs and targets [batch_size / ranks, context] of forward pass `number`: of the seed and the number."""
        context, size = self.training.context, self.training.batch_size
        share = self.ranks.part(range(size))
        starts = [self.starts[block_at(self.seed, number * size + row, self.blocks)] for row in share]
        batch = torch.from_numpy(np.stack([self.tokens[start : start + context + 1] for start in starts]))
        if self.device.type == "cuda":
            batch = batch.pin_memory().to(self.device, non_blocking=True)
        batch = batch.long()
        return batch[:, :-1], batch[:, 1:]

    def _send(self, step: int, rate: float, values: torch.Tensor) -> _Pending:
        """Start the transfer of a step's values to the CPU."""
        if self.device.type != "cuda":
            return _Pending(step, rate, values, None)
        sent = values.to("cpu", non_blocking=True)
        ready = torch.cuda.Event()
        ready.record()
        return _Pending(step, rate, sent, ready)
