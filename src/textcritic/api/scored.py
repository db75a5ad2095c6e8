"""The Latent PPL of a set of scored documents as a `Score`, with its interval and its test against real text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.api.results import REAL, Result, Score
from textcritic.critics.scores import document_columns, latent_ppl, rejections
from textcritic.errors import named
from textcritic.inference import bootstrap_interval, exp_ratio_of_sums, permutation_test, ratio_of_sums


@dataclass(frozen=True, repr=False, kw_only=True)
class LatentPpl(Result):
    """A critic's result on one set of documents; `scores` has its Latent PPL.

    Attributes:
        latent_nll_mean: mean NLL of a document, nats; infinite if a step has probability 0.
    """

    latent_nll_mean: float

    @property
    def latent_ppl(self) -> float:
        """exp(sum of NLL / sum of steps), pooled over the documents scored."""
        return self.scores[0].value

    @property
    def ci95(self) -> tuple[float, float] | None:
        """95% percentile bootstrap over documents; None where the Latent PPL is infinite."""
        score = self.scores[0]
        return None if score.low is None or score.high is None else (score.low, score.high)

    @property
    def n(self) -> int:
        """Documents scored."""
        return self.scores[0].n

    def head(self) -> dict[str, Any]:
        """What the command prints first; infinite values are null."""
        found = self.ci95
        numbers = (self.latent_ppl, list(found), self.latent_nll_mean) if found else (None, None, None)
        return dict(zip(("latent_ppl", "ci95", "latent_nll_mean"), numbers, strict=True))


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
