"""Section transition errors: what documents do that the critic finds improbable (paper, Table 12, Figure 4)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from textcritic.critics.scoring import scored_transitions
from textcritic.critics.transitions import TransitionCritic
from textcritic.errors import TextcriticError


@dataclass(frozen=True)
class TransitionErrors:
    """Transitions of probability below `threshold` under the critic.

    Attributes:
        transitions: the commonest first: `from`, `to`, `count`, `frequency` in percent of all transitions of the set,
            and `probability` under the critic.
        total: percent of all transitions that are errors.
        repetitions: percent of the errors that repeat a title (career -> career); None without errors.
        threshold: probability below which a transition is an error.
        steps: number of transitions of the set, begin and end included.
    """

    transitions: list[dict[str, Any]]
    total: float
    repetitions: float | None
    threshold: float
    steps: int


def transition_errors(scores: pa.Table, critic: TransitionCritic, threshold: float = 0.01) -> TransitionErrors:
    """Errors `P_c(z_m | z_{m-1}) < threshold` of the documents not rejected (paper, appendix E).

    Args:
        scores: a table of schema `SCORES_SCHEMA`.
        critic: the one that gave the scores.
        threshold: 0.01 in Table 12, 0.05 in Figure 4.

    Raises:
        TextcriticError: there are no transitions.
    """
    counts = scored_transitions(scores, critic)
    steps = int(counts.sum())
    if not steps:
        raise TextcriticError("transition errors: no document is left after rejection; at least one is needed")
    # The logarithm of the threshold, so that P == threshold is not an error through rounding in exp.
    wrong = np.where(critic.log_probs < math.log(threshold), counts, 0)
    cells = sorted(zip(*np.nonzero(wrong), strict=True), key=lambda cell: (-wrong[cell], cell))
    transitions = [
        {
            "from": critic.sources[i],
            "to": critic.targets[j],
            "count": int(wrong[i, j]),
            "frequency": 100 * int(wrong[i, j]) / steps,
            "probability": float(np.exp(critic.log_probs[i, j])),
        }
        for i, j in cells
    ]
    errors = int(wrong.sum())
    repeated = int(np.trace(wrong[1:, :-1]))
    return TransitionErrors(
        transitions=transitions,
        total=100 * errors / steps,
        repetitions=100 * repeated / errors if errors else None,
        threshold=threshold,
        steps=steps,
    )
