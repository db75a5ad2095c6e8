"""Maximisation of many functions at once, each of its own variables: L-BFGS over a batch."""

from collections import deque
from collections.abc import Callable

import torch

Function = Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]
Pair = tuple[torch.Tensor, torch.Tensor, torch.Tensor]

# Steps that the curvature is estimated from.
MEMORY = 8
# A step that does not raise the function is made shorter by this.
SHORTER = 0.25


def maximise(
    function: Function, start: torch.Tensor, evaluations: int, tolerance: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Where each of B functions is largest, by L-BFGS (Nocedal 1980) with steps that never lower a function.

    Args:
        function: positions [B, n] to values [B] and gradients [B, n]; row b depends on row b alone.
        start: [B, n].
        evaluations: of the function, at most.
        tolerance: ends when no function is expected to rise by this much in the next step (half the gradient along it).

    Returns:
        Positions [B, n], nowhere lower than at the start, and the values there [B].
    """
    position = start
    value, gradient = function(position)
    pairs: deque[Pair] = deque(maxlen=MEMORY)
    length = torch.ones_like(value)[:, None]
    scale = 1 / (1 + gradient.norm(dim=1, keepdim=True))
    for _ in range(evaluations - 1):
        direction, slope = _ascent(gradient, pairs, scale)
        if pairs and bool((slope < 2 * tolerance).all()):
            break
        following = position + length * direction
        new_value, new_gradient = function(following)
        rises = (new_value >= value)[:, None]  # not for a value that is not a number
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
    return position, value


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
