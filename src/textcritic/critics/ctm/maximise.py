"""Maximisation of many functions at once, each of its own variables: L-BFGS over a batch."""

from collections import deque
from typing import Protocol, Self

import torch

Pair = tuple[torch.Tensor, torch.Tensor, torch.Tensor]

# Steps that the curvature is estimated from.
MEMORY = 8
# A step that does not raise the function is made shorter by this.
SHORTER = 0.25


class Functions(Protocol):
    """B functions of n variables each."""

    def __call__(self, position: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Values [B] and gradients [B, n] at positions [B, n]; row b depends on row b alone."""
        ...

    def of(self, rows: torch.Tensor) -> Self:
        """Some of the functions."""
        ...


def maximise(
    functions: Functions, start: torch.Tensor, evaluations: int, tolerance: float
) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Where each of B functions is largest, by L-BFGS (Nocedal 1980) with steps that never lower a function.

    A function is done with when it is expected to rise by less than the tolerance in the next step (half the gradient
    along it); the others go on, without it once half of them are done.

    Args:
        functions: B of n variables.
        start: [B, n].
        evaluations: of each function, at most.
        tolerance: in the function's units.

    Returns:
        Positions [B, n], nowhere lower than at the start; the values there [B]; how many functions were not done with.
    """
    value, gradient = functions(start)
    found, best = start.clone(), value.clone()
    rows = torch.arange(len(start), device=start.device)
    position, working = start, torch.ones_like(value, dtype=torch.bool)
    pairs: deque[Pair] = deque(maxlen=MEMORY)
    length = torch.ones_like(value)[:, None]
    scale = 1 / (1 + gradient.norm(dim=1, keepdim=True))
    for _ in range(evaluations - 1):
        direction, slope = _ascent(gradient, pairs, scale)
        if pairs:
            working = working & ~(slope < 2 * tolerance)
        left = int(working.sum())
        if left == 0:
            break
        if 2 * left <= len(rows):
            found[rows], best[rows] = position, value
            functions, rows = functions.of(working), rows[working]
            pairs = deque(((s[working], b[working], i[working]) for s, b, i in pairs), maxlen=MEMORY)
            kept = (position, value, gradient, length, scale, direction)
            position, value, gradient, length, scale, direction = (tensor[working] for tensor in kept)
            working = working[working]
        following = position + length * direction
        new_value, new_gradient = functions(following)
        rises = (working & (new_value >= value))[:, None]  # not for a value that is not a number
        step = torch.where(rises, following - position, 0.0)
        bend = torch.where(rises, gradient - new_gradient, 0.0)
        curvature, squared = _dot(step, bend), _dot(bend, bend)
        useful = curvature > 1e-10 * squared
        pairs.append((step, bend, torch.where(useful, 1 / curvature, 0.0)))
        scale = torch.where(useful, curvature / squared, scale)
        length = torch.where(rises, 1.0, length * SHORTER)
        position = torch.where(rises, following, position)
        value = torch.where(rises[:, 0], new_value, value)
        gradient = torch.where(rises, new_gradient, gradient)
    found[rows], best[rows] = position, value
    return found, best, int(working.sum())


def _ascent(gradient: torch.Tensor, pairs: deque[Pair], scale: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Directions [B, n] by the two-loop recursion, and the functions' slopes along them [B]."""
    direction, shares = gradient, []
    for step, bend, inverse in reversed(pairs):
        shares.append(inverse * _dot(step, direction))
        direction = direction - shares[-1] * bend
    direction = scale * direction
    for (step, bend, inverse), share in zip(pairs, reversed(shares), strict=True):
        direction = direction + (share - inverse * _dot(bend, direction)) * step
    slope = _dot(gradient, direction)
    direction = torch.where(slope > 0, direction, scale * gradient)
    return direction, _dot(gradient, direction)[:, 0]


def _dot(one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
    return (one * two).sum(dim=1, keepdim=True)
