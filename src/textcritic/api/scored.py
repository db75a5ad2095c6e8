"""The Latent PPL of a set of scored documents as a `Score`, with its interval and its test against real text."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.api.results import REAL, Score
from textcritic.critics.scores import document_columns, latent_ppl, rejections
from textcritic.errors import named
from textcritic.inference import bootstrap_interval, exp_ratio_of_sums, permutation_test, ratio_of_sums


class Draws(Protocol):
    """Resamples of bootstrap and permutation test, and the seed of both."""

    @property
    def resamples(self) -> int:
        """How many."""

    @property
    def seed(self) -> int:
        """Of `numpy.random.default_rng`."""


def score_of(label: str, scores: pa.Table, draws: Draws, name: str, real: pa.Table | None = None) -> Score:
    """Latent PPL, its interval, and its p-value against `real`; errors begin with `name`."""
    with named(name):
        columns = document_columns(scores)
    low = high = None
    if np.isfinite(columns).all():
        found = bootstrap_interval(columns, exp_ratio_of_sums, resamples=draws.resamples, seed=draws.seed)
        low, high = found.low, found.high
    reasons = rejections(scores)
    p = None if real is None else _p_value(columns, document_columns(real), draws)
    return Score(label, "latent_ppl", latent_ppl(scores), low, high, p, len(columns), sum(reasons.values()), reasons)


def scores_against(real: pa.Table, samples: Mapping[str, pa.Table], draws: Draws) -> tuple[Score, ...]:
    """The score of real text that is the yardstick, then that of each sample by label, tested against it."""
    of_samples = (score_of(label, scores, draws, label, real) for label, scores in samples.items())
    return score_of(REAL, real, draws, "reference"), *of_samples


def facts_of_draws(draws: Draws) -> tuple[tuple[str, str], ...]:
    """How interval and p-value were computed, in words."""
    return (
        ("Interval", f"95%, percentile bootstrap over documents, {draws.resamples:,} resamples, seed {draws.seed}"),
        ("p-value", "two-sided permutation test of log Latent PPL against held-out real text"),
    )


def _p_value(sample: npt.NDArray[np.float64], real: npt.NDArray[np.float64], draws: Draws) -> float | None:
    if not (np.isfinite(sample).all() and np.isfinite(real).all()):
        return None
    return permutation_test(sample, real, ratio_of_sums, draws.resamples, draws.seed).p
