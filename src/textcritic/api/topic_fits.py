"""A set of texts under every fit of a topic model, and how far it is from real text under the same fits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from textcritic.api.options import TopicFit
from textcritic.api.results import Score
from textcritic.critics.ctm.counted import Counted, project
from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.scoring import EMPTY, latent_nll, with_last
from textcritic.errors import named
from textcritic.inference import (
    Groups,
    bootstrap_difference,
    corrected_covariance_distance,
    covariance_test,
    one_of_each,
    ratio_of_sums,
    two_sample_test,
    unit_sums,
    with_fits,
    with_ones,
)

COVARIANCE_RESAMPLES = 1000  # at most: each takes a matrix product

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class UnderFits:
    """One set of texts under every fit, the best first.

    Attributes:
        nll: Latent NLL in expectation, nats: [documents, fits].
        moments: of each fit, means and variances of the coefficients of all topics: both [documents, K].
        counts: documents scored, others, and why these were not.
        groups: of the documents scored.
    """

    nll: Array
    moments: list[tuple[Array, Array]]
    counts: tuple[int, int, dict[str, int]]
    groups: Groups

    @classmethod
    def all_of(cls, critics: Sequence[CTM], counted: Counted, groups: Groups, options: TopicFit) -> Self:
        """Infer and score a set under every fit."""
        moments = [project(critic, counted.filled, options.threads) for critic in critics]
        nll = [latent_nll(critic, *both)[0] for critic, both in zip(critics, moments, strict=True)]
        everything = [(with_last(means), with_last(variances)) for means, variances in moments]
        counts = (len(nll[0]), counted.empty, empty_documents(counted))
        return cls(np.stack(nll, axis=1), everything, counts, groups_with(counted, groups))

    @property
    def columns(self) -> Array:
        """(mean Latent NLL over the fits, 1) of each document."""
        return with_ones(self.nll.mean(axis=1))

    @property
    def independent(self) -> list[tuple[Array, Array]]:
        """The moments of one document of each group, at random: the test of covariances is of independent ones."""
        rows = one_of_each(self.groups, len(self.nll))
        return [(means[rows], variances[rows]) for means, variances in self.moments]


def gap_score(label: str, sample: UnderFits, real: UnderFits, options: TopicFit) -> Score:
    """How far the Latent NLL is above real text's under the same fit, the mean over the fits."""
    one, two = (unit_sums(side.columns, side.groups) for side in (sample, real))
    found = bootstrap_difference(one, two, ratio_of_sums, options.resamples, seed=options.seed)
    of_fits = sample.nll.mean(axis=0) - real.nll.mean(axis=0)
    low, high = with_fits(found.estimate, (found.low, found.high), of_fits)
    groups = sample.groups, real.groups
    p = two_sample_test(sample.columns, real.columns, ratio_of_sums, groups, options.resamples, options.seed).p
    return Score(label, "nll_gap", found.estimate, low, high, p, *sample.counts)


def distance_score(label: str, sample: UnderFits, real: UnderFits, options: TopicFit) -> Score:
    """How far the covariances of a sample's topics are from real text's, less what finite sets add to it.

    The mean over the fits; the test is under the best.
    """
    resamples = min(options.resamples, COVARIANCE_RESAMPLES)
    both = zip(sample.independent, real.independent, strict=True)
    pairs = [((means, real_means), (spread, real_spread)) for (means, spread), (real_means, real_spread) in both]
    with named(label):
        test = covariance_test(*pairs[0][0], pairs[0][1], resamples, seed=options.seed)
        others = [corrected_covariance_distance(*means, variances) for means, variances in pairs[1:]]
    of_fits = [test.corrected, *others]
    low, high = with_fits(test.corrected, (test.low, test.high), of_fits)
    least = None if low is None else max(low, 0.0)
    return Score(label, "distance", float(np.mean(of_fits)), least, high, test.p, *sample.counts)


def groups_with(counted: Counted, groups: Groups) -> list[str | None]:
    """The groups of the documents with words; of a file in the format LDA-C, whose documents have none, all null."""
    rows = np.flatnonzero(counted.has_words).tolist()
    return [groups[row] for row in rows] if groups else [None] * len(rows)


def empty_documents(counted: Counted) -> dict[str, int]:
    """How many documents could not be scored, by reason."""
    return {EMPTY: counted.empty} if counted.empty else {}
