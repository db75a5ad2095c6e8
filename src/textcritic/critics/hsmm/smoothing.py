"""From expected counts to a model: the M step, with a little weight for what was not seen."""

import numpy as np
import torch

from textcritic.critics.hsmm.lexicon import Lexicon
from textcritic.critics.hsmm.model import HSMM
from textcritic.critics.hsmm.recursion import Counts

EVENT_PRIOR = 0.5  # added to each state's first, last and inner segments
MOST_SPARE = 0.5  # however little the text repeats itself


def estimate(counts: Counts, lexicon: Lexicon, unigrams: np.ndarray, prior: float, spare: float | None = None) -> HSMM:
    """The model that makes expected counts likeliest, smoothed.

    With `prior` 0 and `spare` 0 this is the M step of expectation maximisation, under which the likelihood never falls
    (initial states and ends are smoothed by `EVENT_PRIOR` only if `prior` is not 0).

    Args:
        counts: of K states and R rows.
        lexicon: R rows, the first V of them the single tokens if `spare` is not 0.
        unigrams: how often each token occurs [V].
        prior: for each state, transitions that are added to a row, spread as the states follow any state.
        spare: share of each state's emissions that single tokens have, as they occur in the text: what a segment that
            was never seen is spelled with. None: the share of segments that occurred once (Good 1953).
    """
    event = EVENT_PRIOR if prior else 0.0
    follows = counts.transition.sum(dim=0) + event
    transition = counts.transition + prior * len(follows) * (follows / follows.sum())
    initial = counts.initial + event
    end = (counts.end + event) / (counts.end + counts.proceed + 2 * event).clamp_min(1e-30)
    dtype = counts.emission.dtype
    return HSMM(
        lexicon,
        _emission(counts.emission, unigrams, spare),
        _normalised(transition, 1).to(dtype),
        _normalised(initial, 0).to(dtype),
        end.to(dtype),
    )


def once_share(emission: torch.Tensor) -> float:
    """The share of segments whose row is expected at most 1.5 times: about that of segments never seen before.

    As if there was one such segment at least, and at most `MOST_SPARE`.

    Args:
        emission: expected counts [R, K], not all 0.
    """
    rows = emission.sum(dim=1, dtype=torch.float64)
    return min(max(float(rows[rows <= 1.5].sum()), 1.0) / float(rows.sum()), MOST_SPARE)


def _emission(counts: torch.Tensor, unigrams: np.ndarray, spare: float | None) -> torch.Tensor:
    spare = once_share(counts) if spare is None else spare
    size = counts.sum(dim=0, dtype=torch.float64)
    scale = torch.where(size > 0, (1 - spare) / size, 0).to(counts.dtype)
    emission = counts * scale
    if spare:
        share = torch.from_numpy((unigrams + 1) / (unigrams + 1).sum()).to(counts)
        # A state that nothing is expected of emits single tokens alone, so that its column is a distribution too.
        spelt = torch.where(size > 0, size.new_tensor(spare), 1).to(counts.dtype)
        emission[: len(share)] += share[:, None] * spelt
    return emission


def _normalised(table: torch.Tensor, dim: int) -> torch.Tensor:
    total = table.sum(dim=dim, keepdim=True)
    return torch.where(total > 0, table / total.clamp_min(1e-300), 1 / table.shape[dim])
