"""Covariances of the topics of each source: those that the report compares, and those that the paper draws."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.critics.ctm.scoring import cluster_order, with_last
from textcritic.errors import TextcriticError
from textcritic.experiments.topics.files import Fitted, TopicsFiles
from textcritic.experiments.topics.heatmaps import Panel
from textcritic.experiments.topics.read import Matrix, Moments, read_posteriors
from textcritic.inference import (
    CovarianceTest,
    aggregated_covariance,
    centred_covariance,
    corrected_covariance_distance,
    covariance_test,
)
from textcritic.measures.measure import Resampling
from textcritic.measures.names import Names

RESAMPLES = 1000  # at most: with a hundred topics each one is slow


@dataclass(frozen=True, slots=True)
class Covariances:
    """Covariances of one corpus.

    Attributes:
        order: of the topics (from 0); topics that vary alike in real text are neighbours.
        panels: real text, then the first seed of every sample, topics in this order.
    """

    order: npt.NDArray[np.int64]
    panels: tuple[Panel, ...]


def covariances(fitted: Fitted, topics: TopicsFiles) -> Covariances:
    """Covariances of the centred log proportions of all K topics over the aggregated posterior: [K, K].

    None of them depends on which topic is the last, whose coefficient is fixed.

    Raises:
        TextcriticError: real text has fewer than two documents with words.
    """
    return _covariances(
        fitted, topics, lambda *moments: centred_covariance(aggregated_covariance(*all_topics(moments)))
    )


def released_covariances(fitted: Fitted, topics: TopicsFiles) -> Covariances:
    """Covariances as the released code plots them (paper, Figures 6, 8 and 9): [K-1, K-1].

    They are of the posteriors' means only, and of the coefficients themselves, which are log-ratios to the last topic.

    Raises:
        TextcriticError: as `covariances`.
    """
    return _covariances(fitted, topics, lambda means, _: aggregated_covariance(means))


def covariance_distance_of(sample: Moments, real: Moments, resampling: Resampling) -> CovarianceTest | None:
    """How far a sample's `covariances` are from real text's; None for fewer than two documents.

    Args:
        sample: means and variances [documents, K-1].
        real: the same of real text.
        resampling: of the interval, and the random splits of the test; `RESAMPLES` at most.
    """
    if min(len(sample[0]), len(real[0])) < 2:
        return None
    (means, variances), (real_means, real_variances) = all_topics(sample), all_topics(real)
    resamples = min(resampling.resamples, RESAMPLES)
    return covariance_test(means, real_means, (variances, real_variances), resamples, seed=resampling.seed)


def corrected_distance(sample: Moments, real: Moments) -> float | None:
    """Only the corrected distance of `covariance_distance_of`; None for fewer than two documents."""
    if min(len(sample[0]), len(real[0])) < 2:
        return None
    (means, variances), (real_means, real_variances) = all_topics(sample), all_topics(real)
    return corrected_covariance_distance(means, real_means, (variances, real_variances))


def all_topics(moments: Moments) -> Moments:
    """Means and variances of the coefficients of all topics: [documents, K]."""
    return with_last(moments[0]), with_last(moments[1])


def _covariances(fitted: Fitted, topics: TopicsFiles, covariance: Callable[[Matrix, Matrix], Matrix]) -> Covariances:
    names = Names.of(topics.samples)
    panels: list[tuple[str, int, Matrix | None]] = []
    for source in topics.shown(fitted):
        moments = read_posteriors(source)
        label = names.source(source.keys, corpus=False, seed=False)
        documents = len(moments[0])
        panels.append((label, documents, covariance(*moments) if documents > 1 else None))
    real = panels[0][2]
    if real is None:
        raise TextcriticError(f"{fitted.posteriors}: fewer than two documents with words; there is no covariance")
    order = cluster_order(real)
    ordered = ((label, n, None if m is None else m[np.ix_(order, order)]) for label, n, m in panels)
    return Covariances(order, tuple(Panel(*panel) for panel in ordered))
