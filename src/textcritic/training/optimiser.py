"""The optimiser of neural models, and its learning rate at each step."""

import math

import torch


def optimiser(
    model: torch.nn.Module, learning_rate: float, weight_decay: float, beta2: float = 0.999, method: str = "adam"
) -> torch.optim.Optimizer:
    """Adam with decoupled weight decay on matrices; biases and norms are not decayed.

    Args:
        model: what is trained.
        learning_rate: at first.
        weight_decay: of a step and a learning rate of 1; with `sgd` it is the gradient of a penalty, which is the same.
        beta2: decay of Adam's mean squared gradient.
        method: `adam`, or `sgd`, plain stochastic gradient descent, as urnng trains its model.
    """
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    if method == "sgd":
        return torch.optim.SGD(groups, lr=learning_rate)
    return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, beta2), fused=True)


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


def set_learning_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate of all parameters."""
    for group in optimiser.param_groups:
        group["lr"] = rate
