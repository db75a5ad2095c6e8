"""How much a Latent PPL depends on the smoothing of the transition critic: its values at the neighbours in the grid."""

import math
from collections.abc import Sequence

from textcritic.critics.transitions import (
    PAPER_GRID,
    Counts,
    TransitionCritic,
    num_targets,
    pooled_ppl,
    smoothed_log_probs,
)

TENTH = 0.1
"""The relative change of a Latent PPL under another smoothing above which there is a warning."""


def other_smoothings(critic: TransitionCritic, counts: Counts) -> tuple[tuple[float, float], ...]:
    """Latent PPL of scored transitions under the next smaller and the next larger smoothing of the grid.

    The cost of a transition that the training text hardly has depends on the smoothing. If these numbers are far from
    the critic's own, the Latent PPL is uncertain.

    Args:
        critic: its grid is that of the choice; `PAPER_GRID` where its delta was given.
        counts: of the transitions scored: [V + 1, V + 1], see `scoring.scored_transitions`.

    Returns:
        (delta, Latent PPL) in ascending order: two, or one at an end of the grid. NaN where nothing was scored.
    """
    deltas = [delta for delta, _ in critic.grid] if len(critic.grid) > 1 else PAPER_GRID
    neighbours = [
        max((d for d in deltas if d < critic.delta), default=None),
        min((d for d in deltas if d > critic.delta), default=None),
    ]
    targets = num_targets(len(critic.titles), critic.mode)
    return tuple(
        (delta, pooled_ppl(counts, smoothed_log_probs(critic.counts, delta, targets)))
        for delta in neighbours
        if delta is not None
    )


def rests_on_smoothing(name: str, value: float, smoothing: float, others: Sequence[tuple[float, float]]) -> str:
    """A warning that a Latent PPL depends on the smoothing of the critic; "" if no other choice changes it by a tenth.

    Args:
        name: what the source is called.
        value: its Latent PPL.
        smoothing: the critic's.
        others: as `other_smoothings` gives them.
    """
    far = [abs(other / value - 1) > TENTH for _, other in others if math.isfinite(other)]
    if not math.isfinite(value) or not any(far):
        return ""
    other_values = " and ".join(f"{_number(other)} with {delta:g}" for delta, other in others)
    return (
        f"The Latent PPL of {name} rests on the smoothing: {_number(value)} with {smoothing:g} added to every count, "
        f"{other_values}. It makes many steps that the training text hardly has, and what these cost is a choice."
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
