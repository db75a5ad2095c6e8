"""The Latent PPL of a set of scored documents as a `Score`, with its interval and its test against real text."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from textcritic.api.results import REAL, Result, Score
from textcritic.critics.scores import document_columns, groups_of, latent_ppl, rejections
from textcritic.errors import named
from textcritic.inference import (
    LEAST_UNITS,
    Groups,
    are_grouped,
    bootstrap_interval,
    exp_ratio_of_sums,
    ratio_of_sums,
    two_sample_test,
    unit_of,
    unit_sums,
)


@dataclass(frozen=True, repr=False, kw_only=True)
class LatentPpl(Result):
    """A critic's result on one set of documents; the last of `scores` has its Latent PPL.

    Attributes:
        latent_nll_mean: mean NLL of a document, nats; infinite if a step has probability 0.
    """

    latent_nll_mean: float

    @property
    def latent_ppl(self) -> float:
        """exp(sum of NLL / sum of steps), pooled over the documents scored."""
        return self.scores[-1].value

    @property
    def ci95(self) -> tuple[float, float] | None:
        """95% studentised bootstrap; None where the Latent PPL is infinite, or documents are fewer than 20."""
        score = self.scores[-1]
        return None if score.low is None or score.high is None else (score.low, score.high)

    @property
    def n(self) -> int:
        """Documents scored."""
        return self.scores[-1].n

    def head(self) -> dict[str, Any]:
        """What the command prints first; infinite values are null."""
        finite = math.isfinite(self.latent_ppl)
        return {
            "latent_ppl": self.latent_ppl if finite else None,
            "ci95": list(self.ci95) if self.ci95 else None,
            "latent_nll_mean": self.latent_nll_mean if finite else None,
        }


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
        units = unit_sums(columns, groups_of(scores))
        found = bootstrap_interval(units, exp_ratio_of_sums, resamples=draws.resamples, seed=draws.seed)
        low, high = found.low, found.high
    reasons = rejections(scores)
    p = None if real is None else _p_value(scores, real, draws)
    return Score(label, "latent_ppl", latent_ppl(scores), low, high, p, len(columns), sum(reasons.values()), reasons)


def scores_against(sets: Mapping[str, pa.Table], draws: Draws) -> tuple[Score, ...]:
    """The score of real text (`REAL`), which is the yardstick, then that of each sample by label, tested against it."""
    real = sets[REAL]
    of_samples = (score_of(label, scores, draws, label, real) for label, scores in sets.items() if label != REAL)
    return score_of(REAL, real, draws, "reference"), *of_samples


def facts_of_draws(draws: Draws) -> tuple[tuple[str, str], ...]:
    """How interval and p-value were computed, in words."""
    return (
        ("Interval", f"95%, studentised bootstrap over documents, {draws.resamples:,} resamples, seed {draws.seed}"),
        ("p-value", "two-sided permutation test of log Latent PPL against held-out real text"),
    )


def facts_of_groups(sets: Mapping[str, Groups]) -> tuple[tuple[str, str], ...]:
    """What is said of documents that belong together, in words; nothing where all are alone.

    Args:
        sets: the groups of the documents scored, by label.
    """
    counts = {label: (len(groups or ()), _units(groups)) for label, groups in sets.items() if are_grouped(groups)}
    if not counts:
        return ()
    words = "; ".join(f"{label}: {n:,} documents in {units:,} groups" for label, (n, units) in counts.items())
    few = min(units for _, units in counts.values()) < LEAST_UNITS
    test = f"fewer than {LEAST_UNITS} groups have no test" if few else "the test is Student's, with groups as units"
    return (("Groups", f"{words}; documents of a group count as one, and {test}"),)


def with_given_groups(scores: pa.Table, groups: Groups) -> pa.Table:
    """Scores of documents with the groups that they were given with, in the same order."""
    if groups is None:
        return scores
    place = scores.column_names.index("group")
    return scores.set_column(place, scores.schema.field(place), pa.array(groups, pa.string()))


def _units(groups: Groups) -> int:
    return int(unit_of(groups, len(groups or ())).max(initial=-1)) + 1


def _p_value(sample: pa.Table, real: pa.Table, draws: Draws) -> float | None:
    both = document_columns(sample), document_columns(real)
    if not all(np.isfinite(columns).all() for columns in both):
        return None
    groups = groups_of(sample), groups_of(real)
    return two_sample_test(*both, ratio_of_sums, groups, draws.resamples, draws.seed).p
