"""Why a Latent PPL is what it is: the set's own entropy, and its divergence from the critic's prior."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError


class HasLogProbs(Protocol):
    """A critic whose latent process is a chain."""

    @property
    def log_probs(self) -> npt.NDArray[np.float64]:
        """`log P(j | i)` in nats: [sources, targets]; -inf where P is 0."""


@dataclass(frozen=True)
class Decomposition:
    """`H(agg, prior) = H(agg) + KL(agg || prior)`, in nats per step; `exp(cross_entropy)` is the Latent PPL.

    Attributes:
        steps: number (or expected number) of transitions; what one is, the critic's docstring says.
        cross_entropy, entropy, kl: the three terms; `kl` is infinite where the prior gives an observed transition 0.
        entropy_corrected, kl_corrected: with the bias of the plug-in entropy taken out, see `decompose`; None for
            expected counts.
    """

    steps: float
    cross_entropy: float
    entropy: float
    kl: float
    entropy_corrected: float | None
    kl_corrected: float | None


def decompose(counts: npt.NDArray[np.number], critic: HasLogProbs) -> Decomposition:
    """Split the cross-entropy per step between a set and a critic (paper, section 2 and appendix B).

    `agg` is the first-order aggregated posterior of the set: `pi(i, j)`, the share of steps from i to j. With
    `pi(j|i) = pi(i, j) / pi(i)`:
    cross-entropy `-sum pi(i,j) log P(j|i)`, conditional entropy `-sum pi(i,j) log pi(j|i)`, and
    `KL = sum_i pi(i) KL(pi(.|i) || P(.|i))`. A mode-seeking model has a low entropy, which can hide a large KL.

    The plug-in entropy of a finite set is biased low, and the KL high, by roughly (nonzero cells - nonzero rows) / (2N)
    over N steps (Miller and Madow 1955, applied to each row); the corrected values have that added (subtracted).
    Expected counts spread over cells that no document visits, so the correction is not defined for them.

    Args:
        counts: [sources, targets], the transitions of the set: whole numbers (`scored_transitions`,
            `KnownProcess.transitions`) or expected ones (`expected_transitions`).
        critic: with the same sources and targets.

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
    bias = float(seen.sum() - (row_share > 0).sum()) / (2 * total)
    whole = np.issubdtype(counts.dtype, np.integer)
    entropy, kl = 0.0 - float((share * log_pi).sum()), float((share * (log_pi - log_prior)).sum())
    return Decomposition(
        steps=total,
        cross_entropy=0.0 - float((share * log_prior).sum()),
        entropy=entropy,
        kl=kl,
        entropy_corrected=entropy + bias if whole else None,
        kl_corrected=kl - bias if whole else None,
    )
