"""Shares of two sets of documents at the same mixture of strata: as documents of as many sentences each.

A document with more sentences has more chances that one of them is flagged. So the share is computed within each
length, and averaged with the lengths of a standard set: direct standardisation, as of rates by age (Keiding and Clayton
2014). The test compares within lengths only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference.bootstrap import Interval, bootstrap_interval
from textcritic.inference.clusters import Groups, are_grouped, cluster_test, unit_sums
from textcritic.inference.looks import p_values
from textcritic.inference.statistics import Array, ratio_of_sums

ROUNDING = 1e-12


@dataclass(frozen=True)
class Trials:
    """Documents with something that is so or not.

    Attributes:
        hits: bool [documents].
        strata: [documents], e.g. the number of sentences of each.
        groups: of the documents, see `clusters`.
    """

    hits: npt.NDArray[np.bool_]
    strata: npt.NDArray[np.int64]
    groups: Groups = None


@dataclass(frozen=True)
class StandardisedShare:
    """A share at the strata of a standard set.

    Attributes:
        interval: the share with its 95% interval over documents, or over groups of them; 0 to 1.
        standard: the share of the standard set in the strata that both have.
        p: of the two-sided test within strata that both are the same; None where there is none.
        left_out: documents in strata that the standard set lacks.
        lacking: strata of the standard set that have no document; the share is of the others.
        reason: why there is no p.
    """

    interval: Interval
    standard: float
    p: float | None
    left_out: int
    lacking: tuple[int, ...] = ()
    reason: str = ""


def standardised_share(
    trials: Trials, standard: Trials, resamples: int = 10_000, seed: int = 1
) -> StandardisedShare | None:
    """A share of documents, each stratum weighted as in a standard set; None where no stratum is in both.

    Without groups the test is exact but for the number of random splits: each split deals the documents of one stratum
    to the two sets at random. With groups it is `cluster_test`. The interval is that of a ratio of sums
    (`bootstrap_interval`) in which a document's value is relative to the share of its stratum, not to the share of all:
    strata are fixed, so the spread between them is not part of it. The strata of the standard set are taken as given.

    Raises:
        TextcriticError: a set without documents, or values of another number.
    """
    for one in (trials, standard):
        if not len(one.hits) or one.hits.shape != one.strata.shape:
            raise TextcriticError(f"share: {one.hits.shape} documents in {one.strata.shape} strata; give one for each")
    strata = np.intersect1d(trials.strata, standard.strata)
    lacking = tuple(int(one) for one in np.setdiff1d(standard.strata, strata))
    kept = np.isin(trials.strata, strata)
    if not len(strata):
        return None
    weights = np.array([(standard.strata == stratum).sum() for stratum in strata], float)
    weights /= weights.sum()
    own, other = (_columns(one, strata, weights) for one in (trials, standard))
    p, reason = _tested((trials, standard), (own, other), (strata, weights), resamples, seed)
    interval = bootstrap_interval(unit_sums(*own), ratio_of_sums, resamples, seed=seed).of_share()
    share = other[0].sum(axis=0)
    return StandardisedShare(interval, float(share[0] / share[1]), p, int((~kept).sum()), lacking, reason)


def _columns(trials: Trials, strata: npt.NDArray[np.int64], weights: Array) -> tuple[Array, Groups]:
    """(weight times value, weight) of the documents of these strata, whose ratio of sums is the share; their groups."""
    kept = np.flatnonzero(np.isin(trials.strata, strata))
    place = np.searchsorted(strata, trials.strata[kept])
    number = np.bincount(place, minlength=len(strata))
    shares = np.bincount(place, trials.hits[kept], minlength=len(strata)) / number
    weight = (weights / number)[place] * len(kept)
    value = trials.hits[kept] - shares[place] + float(weights @ shares)
    groups = None if trials.groups is None else [trials.groups[int(n)] for n in kept]
    return np.column_stack([weight * value, weight]), groups


def _tested(
    sets: Sequence[Trials],
    columns: Sequence[tuple[Array, Groups]],
    weighted: tuple[npt.NDArray[np.int64], Array],
    resamples: int,
    seed: int,
) -> tuple[float | None, str]:
    if any(are_grouped(groups) for _, groups in columns):
        (one, first), (two, second) = columns
        test = cluster_test(one, two, ratio_of_sums, (first, second))
        return test.p, test.reason
    rng, observed, null = np.random.default_rng(seed), 0.0, np.zeros(resamples)
    for stratum, weight in zip(*weighted, strict=True):
        hits, number = zip(*(_counts(one, stratum) for one in sets), strict=True)
        dealt = rng.hypergeometric(sum(hits), sum(number) - sum(hits), number[0], resamples)
        observed += weight * (hits[0] / number[0] - hits[1] / number[1])
        null += weight * (dealt / number[0] - (sum(hits) - dealt) / number[1])
    return float(p_values((np.abs(null) >= abs(observed) - ROUNDING).sum(), resamples)), ""


def _counts(trials: Trials, stratum: int) -> tuple[int, int]:
    inside = trials.hits[trials.strata == stratum]
    return int(inside.sum()), len(inside)
