"""What a training does at each step, settled beforehand: settings and learning rate."""

import math
from dataclasses import dataclass, fields
from typing import Any

from textcritic.errors import TextcriticError


@dataclass(frozen=True, slots=True)
class Training:
    """How a generator is trained; the keys of a registry entry's `training`.

    Adam with decoupled weight decay (0, the default, is the plain Adam of the model criticism paper, appendix E).
    Give `steps` or `epochs`, not both.
    """

    context: int  # tokens in a block
    learning_rate: float
    blocks: str = "packed"  # where blocks begin, see `blocks.training_starts`
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
    checkpoint_seconds: float = 300.0
    precision: str = "auto"  # auto (bf16 on a GPU that has it, else fp32), fp32 or bf16 autocast
    activation_checkpointing: bool = False

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
        """The settings that decide the result, but those left at their defaults; how often to save is not among them.

        So a setting that a later version adds does not part a training under way from its checkpoints. A default
        that a later version changes would go unnoticed: raise `train.STATE_FORMAT` or the stage's version with it.
        """
        own = [field for field in fields(self) if field.name != "checkpoint_seconds"]
        return {field.name: value for field in own if (value := getattr(self, field.name)) != field.default}


def learning_rate(step: int, total: int, peak: float, schedule: str, warmup_steps: int) -> float:
    """Learning rate of the step with number `step` of `total`, counted from 0: linear warm-up, then the schedule.

    With inverse_sqrt the n-th step, counted from 1, has peak * min(n / warmup_steps, sqrt(warmup_steps / n)) (Vaswani
    et al. 2017, section 5.3; fairseq's scheduler of this name is one step behind).
    """
    warmup_steps = min(warmup_steps, total - 1)  # a training shorter than its warm-up still decays from its peak
    warm = min(1.0, (step + 1) / warmup_steps) if warmup_steps else 1.0
    left = (total - max(step, warmup_steps)) / max(total - warmup_steps, 1)
    shape = {
        "constant": 1.0,
        "linear": left,
        "cosine": 0.5 - 0.5 * math.cos(math.pi * left),
        "inverse_sqrt": min(1.0, math.sqrt(max(warmup_steps, 1) / (step + 1))),
    }
    return peak * warm * shape[schedule]
