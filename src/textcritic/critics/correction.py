"""The Latent PPL that chains of titles would have without the errors of the classifier that inferred them.

Sections whose titles are known show how a classifier errs. Let `f(x)` be its evidence on a section: the posterior and
its logarithm. From labelled sections we know the mean evidence `M[g] = E[f | title g]`. Any `A` with `M A = I` turns
evidence into an unbiased estimate of the title, `E[f(x) A | title g] = e_g`, and the product for two neighbours into
an unbiased estimate of the transition. So `sum_m (f_m A)' L (f_(m+1) A)` with `L = -log P_c` has the expectation of the
document's NLL by its own titles. The `A` of the least variance is used (generalised least squares).
This is the backward correction of Natarajan et al., Learning with Noisy Labels (NIPS 2013) and Patrini et al., Making
Deep Neural Networks Robust to Label Noise (CVPR 2017), for pairs.

Two things are assumed: sections of a title in a sample look to the classifier as those of real text do, and given its
title, the errors on a section do not depend on its neighbours.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from textcritic.critics.chains import Chains
from textcritic.critics.scoring import aligned_posteriors
from textcritic.critics.transitions import TransitionCritic
from textcritic.errors import TextcriticError
from textcritic.inference import GROUPS, document_groups, jackknife_variance, t_interval

FEWEST_LABELLED = 200
"""With fewer labelled documents nothing is corrected: the weights would be too uncertain, and biased."""
FEWEST_DOCUMENTS = 20
"""With fewer documents of a source there is no interval."""
PRIOR = 10.0
"""Sections of each title that are added to the labelled ones; their evidence is the mean weighted by the posterior."""
RIDGE = 0.01  # of the evidence's mean variance, added to each variance
SMALLEST = 1e-4  # of a probability whose logarithm is taken

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Corrected:
    """A corrected Latent PPL and its 95% interval, None where there is none; `because` says why."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    because: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The output of a classifier on the sections of a set of documents, without those that have none.

    Attributes:
        posteriors: P(title | text), float64 [sections, V], titles in the critic's order.
        lengths: sections of each document, int64 [documents], at least 1.
        gold: the title of each section, int64 [sections], -1 where it is not known to the critic; None without titles.
    """

    posteriors: Array
    lengths: npt.NDArray[np.int64]
    gold: npt.NDArray[np.int64] | None = None

    @classmethod
    def of(cls, latents: pa.Table, critic: TransitionCritic, labelled: bool = False) -> "Evidence":
        """From a table of latents (columns gold, posterior; metadata `titles`); with `labelled`, its titles too."""
        flat = aligned_posteriors(latents, critic)
        probs = flat.probs.astype(np.float64)
        probs /= probs.sum(axis=1, keepdims=True)
        gold = Chains.of(latents["gold"]).codes(critic.titles).astype(np.int64) if labelled else None
        return cls(probs, flat.lengths[flat.lengths > 0], gold)

    @property
    def features(self) -> Array:
        """The posterior and its logarithm, both from 0 to 1: [sections, 2 V]."""
        logs = np.log(np.maximum(self.posteriors, SMALLEST)) / -np.log(SMALLEST) + 1
        return np.hstack([self.posteriors, logs])


def corrected_ppl(source: Evidence, labelled: Evidence, log_probs: Array) -> Corrected:
    """The Latent PPL that a source would have by its own titles, with its 95% interval; none of them is below 1.

    The interval covers the sampling of the source's documents and of the labelled ones: a t interval on the log scale
    whose variance is the sum of two grouped jackknives. The weights are fitted once for each group.

    Args:
        source: documents to score.
        labelled: documents whose titles are known, and on which the classifier was not trained.
        log_probs: the critic's, [V + 1, V + 1], nats.
    """
    if not np.isfinite(log_probs).all():
        return Corrected(because="the critic is not smoothed")
    if len(labelled.lengths) < FEWEST_LABELLED:
        return Corrected(because=f"{len(labelled.lengths)} labelled documents, fewer than {FEWEST_LABELLED}")
    steps = source.lengths + 1
    nll = corrected_nll(source, correction(labelled), log_probs)
    estimate = nll.sum() / steps.sum()
    if len(nll) < FEWEST_DOCUMENTS:
        return Corrected(_possible(estimate), because=f"{len(nll)} documents, too few for an interval")
    own, of_labels = document_groups(len(nll)), document_groups(len(labelled.lengths))
    without_own = [nll[own != group].sum() / steps[own != group].sum() for group in range(GROUPS)]
    weights = (correction(labelled, np.where(of_labels != group, 1.0, 0.0)) for group in range(GROUPS))
    without_labels = [corrected_nll(source, each, log_probs).sum() / steps.sum() for each in weights]
    variance = jackknife_variance(without_own) + jackknife_variance(without_labels)
    low, high = t_interval(estimate, variance, GROUPS)
    return Corrected(_possible(estimate), _possible(float(low)), _possible(float(high)))


def correction(labelled: Evidence, weights: Array | None = None) -> Array:
    """`A`, which turns the features of sections into estimates of their titles: [2 V, V].

    Args:
        labelled: sections whose titles are known; the classifier must not have been trained on them.
        weights: of the documents, e.g. how often a bootstrap drew them; by default 1.

    Raises:
        TextcriticError: no section has a title that the critic knows.
    """
    assert labelled.gold is not None
    known = labelled.gold >= 0
    if not known.any():
        raise TextcriticError("correction: no labelled section has a title that the critic knows; label some")
    each = np.ones(len(known)) if weights is None else np.repeat(weights, labelled.lengths)
    each, gold, posteriors = each[known], labelled.gold[known], labelled.posteriors[known]
    features = labelled.features[known]
    num_titles = posteriors.shape[1]
    sums = np.zeros((num_titles, features.shape[1]))
    np.add.at(sums, gold, each[:, None] * features)
    soft = (each[:, None] * posteriors).T @ features / np.maximum(each @ posteriors, 1e-12)[:, None]
    numbers = np.bincount(gold, each, num_titles)
    means = (sums + PRIOR * soft) / (numbers + PRIOR)[:, None]
    rest = features - means[gold]
    covariance = (each[:, None] * rest).T @ rest / each.sum()
    covariance[np.diag_indices_from(covariance)] += RIDGE * max(np.trace(covariance) / len(covariance), SMALLEST)
    whitened = np.linalg.solve(covariance, means.T)
    result: Array = whitened @ np.linalg.pinv(means @ whitened)
    return result


def corrected_nll(source: Evidence, weights: Array, log_probs: Array) -> Array:
    """Unbiased estimates of each document's NLL by its own titles, nats; single ones may be negative: [documents].

    Args:
        source: documents to score.
        weights: as `correction` gives them.
        log_probs: the critic's, finite, [V + 1, V + 1].
    """
    titles, costs = source.features @ weights, -log_probs
    ends = np.cumsum(source.lengths)
    first, last = ends - source.lengths, ends - 1
    steps = np.zeros(len(titles))
    steps[1:] = ((titles[:-1] @ costs[1:, :-1]) * titles[1:]).sum(axis=1)
    steps[first] = titles[first] @ costs[0, :-1]
    nll: Array = np.add.reduceat(steps, first) + titles[last] @ costs[1:, -1]
    return nll


def _possible(log_ppl: float) -> float:
    """The Latent PPL that is possible and nearest to an estimate: no average probability is above 1."""
    return math.exp(max(log_ppl, 0.0))
