"""Why a Latent PPL is what it is: the set's own entropy, and its divergence from the critic's prior."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from textcritic.critics.transitions import TransitionCritic
from textcritic.errors import TextcriticError


@dataclass(frozen=True)
class Decomposition:
    """`H(agg, prior) = H(agg) + KL(agg || prior)`, in nats per step; `exp(cross_entropy)` is the Latent PPL.

    Attributes:
        steps: number (or expected number) of transitions, K + 1 in a document of K sections.
        cross_entropy, entropy, kl: the three terms; `kl` is infinite where the prior gives an observed transition 0.
        entropy_corrected, kl_corrected: with the bias of the plug-in entropy taken out, see `decompose`; None for
            expected counts.
        states: one dict per source state that occurs: `state`, `share` of the steps that leave it, and its own
            conditional `cross_entropy`, `entropy`, `kl`; the terms above are their averages weighted by `share`.
        top: the transitions that weigh most in `kl`: `from`, `to`, `share` of all steps, conditional `probability` in
            the set and under the `critic`, and `contribution` = share * log(probability / critic) (positive: too
            frequent in the set; negative: too rare). They are sorted by its absolute value.
    """

    steps: float
    cross_entropy: float
    entropy: float
    kl: float
    entropy_corrected: float | None
    kl_corrected: float | None
    states: list[dict[str, Any]]
    top: list[dict[str, Any]]


def decompose(counts: npt.NDArray[Any], critic: TransitionCritic, top: int = 10) -> Decomposition:
    """Split the cross-entropy per step between a set and a critic (paper, section 2 and appendix B).

    `agg` is the first-order aggregated posterior of the set: `pi(i, j)`, the share of steps from i to j. With
    `pi(j|i) = pi(i, j) / pi(i)`:
    cross-entropy `-sum pi(i,j) log P(j|i)`, conditional entropy `-sum pi(i,j) log pi(j|i)`, and
    `KL = sum_i pi(i) KL(pi(.|i) || P(.|i))`. A mode-seeking model has a low entropy, which can hide a large KL.

    The plug-in entropy of a finite set is biased low, and the KL high, by roughly (nonzero cells - nonzero rows) / (2N)
    over N steps (Miller and Madow 1955, applied to each row); the corrected values have that added (subtracted).
    Expected counts spread over cells that no document visits, so the correction is not defined for them.

    Args:
        counts: [V + 1, V + 1] whole numbers (`scored_transitions`) or expected ones (`expected_transitions`).
        critic: with the same titles.
        top: length of the list of transitions.

    Raises:
        TextcriticError: there are no transitions.
    """
    total = float(counts.sum())
    if total <= 0:
        raise TextcriticError("decomposition: the set has no transition between known titles; at least one is needed")
    share = counts / total
    row_share = share.sum(axis=1)
    seen = share > 0
    # Zeros where nothing is seen, so that sums over whole rows are right: 0 log 0 = 0.
    log_pi, log_prior = np.zeros(share.shape), np.zeros(share.shape)
    np.log(share / np.where(row_share > 0, row_share, 1)[:, None], out=log_pi, where=seen)
    log_prior[seen] = critic.log_probs[seen]
    cells = {"cross_entropy": -share * log_prior, "entropy": -share * log_pi, "kl": share * (log_pi - log_prior)}
    rows = {name: values.sum(axis=1) for name, values in cells.items()}
    whole = np.issubdtype(counts.dtype, np.integer)
    bias = float(seen.sum() - (row_share > 0).sum()) / (2 * total)
    entropy, kl = float(rows["entropy"].sum()), float(rows["kl"].sum())
    return Decomposition(
        steps=total,
        cross_entropy=float(rows["cross_entropy"].sum()),
        entropy=entropy,
        kl=kl,
        entropy_corrected=entropy + bias if whole else None,
        kl_corrected=kl - bias if whole else None,
        states=[
            {
                "state": critic.sources[i],
                "share": float(row_share[i]),
                **{name: float(values[i] / row_share[i]) for name, values in rows.items()},
            }
            for i in np.flatnonzero(row_share)
        ],
        top=_top(cells["kl"], share, log_pi, critic, top),
    )


def _top(
    contribution: npt.NDArray[np.float64],
    share: npt.NDArray[np.float64],
    log_pi: npt.NDArray[np.float64],
    critic: TransitionCritic,
    top: int,
) -> list[dict[str, Any]]:
    order = np.argsort(-np.abs(contribution), axis=None, kind="stable")[:top]
    cells = [np.unravel_index(cell, contribution.shape) for cell in order]
    return [
        {
            "from": critic.sources[i],
            "to": critic.targets[j],
            "share": float(share[i, j]),
            "probability": float(np.exp(log_pi[i, j])),
            "critic": float(np.exp(critic.log_probs[i, j])),
            "contribution": float(contribution[i, j]),
        }
        for i, j in cells
        if share[i, j] > 0
    ]
