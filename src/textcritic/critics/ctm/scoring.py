"""Scores of documents under a correlated topic model: how improbable their topic coefficients are, and summaries."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.linalg import solve_triangular

from textcritic.critics.ctm.model import CTM
from textcritic.critics.scoring import Rejected, rejections
from textcritic.errors import TextcriticError
from textcritic.inference import (
    Interval,
    PermutationTest,
    bootstrap_interval,
    permutation_test,
    ratio_of_sums,
    with_ones,
)

EMPTY = "no word of the vocabulary"
TOPIC_SCORES_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("nll", pa.float64()),
        ("nll_at_mean", pa.float64()),
        ("words", pa.int64()),
        ("rejected", pa.bool_()),
        ("why", pa.string()),
    ]
)

Array = npt.NDArray[np.float64]
Column = Literal["nll", "nll_at_mean"]


def latent_nll(critic: CTM, means: npt.ArrayLike, variances: npt.ArrayLike) -> tuple[Array, Array]:
    """`-log p(eta)` of documents' topic coefficients under the critic, in nats (paper, sections 2 and 6).

    The paper's definition is the expectation under the posterior N(mean, diag(variance)); the released code leaves the
    variances out. The former is the latter + 1/2 sum_k variance_k (Sigma^-1)_kk.

    Args:
        critic: of K topics; its density is over the K - 1 free coefficients.
        means: [documents, K - 1].
        variances: [documents, K - 1].

    Returns:
        in expectation [documents], and at the posterior mean [documents].

    Raises:
        TextcriticError: arrays of another shape, or values that are not finite.
    """
    mean, variance = np.asarray(means, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    free = len(critic.mean)
    if mean.ndim != 2 or mean.shape[1] != free or variance.shape != mean.shape:
        raise TextcriticError(
            f"topics: posteriors of shapes {mean.shape} and {variance.shape} for a critic of {free + 1} topics; both "
            f"must be [documents, {free}]: infer them with this critic"
        )
    if not (np.isfinite(mean).all() and np.isfinite(variance).all()):
        raise TextcriticError("topics: a posterior has infinite or missing values; infer it again")
    white = solve_triangular(critic.factor, (mean - critic.mean).T, lower=True)
    at_mean = (free * math.log(2 * math.pi) - critic.log_det_precision + (white**2).sum(axis=0)) / 2
    return at_mean + variance @ np.diag(critic.precision) / 2, at_mean


def score_topics(critic: CTM, topics: pa.Table, rejected: Rejected = ()) -> pa.Table:
    """Score a table of posteriors (`project.TOPICS_SCHEMA`).

    Args:
        critic: the one that they were inferred with.
        topics: `id`, `words`, `mean`, `variance`; a document without a word of the vocabulary is rejected.
        rejected: (id, why) of documents that could not even be parsed; they are appended.

    Returns:
        Table of schema `TOPIC_SCORES_SCHEMA`, NLL in nats, NaN for a rejected document.

    Raises:
        TextcriticError: as `latent_nll`.
    """
    words = topics["words"].to_numpy()
    scored = words > 0
    nll = np.full((2, len(words)), math.nan)
    if scored.any():
        nll[:, scored] = latent_nll(critic, *posterior_moments(topics))
    columns = [
        topics["id"].cast(pa.string()).combine_chunks(),
        pa.array(nll[0]),
        pa.array(nll[1]),
        pa.array(words),
        pa.array(~scored),
        pa.array(np.full(len(words), EMPTY), pa.string(), mask=scored),
    ]
    return pa.concat_tables([pa.table(columns, schema=TOPIC_SCORES_SCHEMA), unparsed(rejected)])


def unparsed(rejected: Rejected) -> pa.Table:
    """Rows of documents that could not be parsed, (id, why): schema `TOPIC_SCORES_SCHEMA`."""
    rows = [
        {"id": name, "nll": math.nan, "nll_at_mean": math.nan, "words": 0, "rejected": True, "why": why}
        for name, why in rejected
    ]
    return pa.Table.from_pylist(rows, schema=TOPIC_SCORES_SCHEMA)


def posterior_moments(topics: pa.Table) -> tuple[Array, Array]:
    """Means and variances of the documents that have words, in order: both [documents with words, K - 1].

    Raises:
        TextcriticError: the lists of a column differ in length, or a document with words has none.
    """
    kept = topics.filter(pc.greater(topics["words"], 0))
    return _matrix(kept, "mean"), _matrix(kept, "variance")


def document_nll(scores: pa.Table, column: Column = "nll") -> Array:
    """NLL of every document not rejected, in nats: [documents].

    Raises:
        TextcriticError: every document was rejected (the reasons are counted).
    """
    kept = scores.filter(pc.invert(scores["rejected"]))
    if not kept.num_rows:
        reasons = "; ".join(f"{why}: {count}" for why, count in rejections(scores).items()) or "there was none"
        raise TextcriticError(f"topic scores: no document is left after rejection ({reasons})")
    return kept[column].to_numpy()


def mean_nll(scores: pa.Table, column: Column = "nll", resamples: int = 10_000, seed: int = 1) -> Interval:
    """Latent NLL of a set (Table 9), the mean over the documents not rejected, with its 95% document bootstrap.

    Raises:
        TextcriticError: as `document_nll`.
    """
    return bootstrap_interval(with_ones(document_nll(scores, column)), ratio_of_sums, resamples, seed=seed)


def compare_nll(
    first: pa.Table, second: pa.Table, column: Column = "nll", resamples: int = 10_000, seed: int = 1
) -> PermutationTest:
    """Permutation test of the difference in mean NLL of two sets, as of samples and data.

    Raises:
        TextcriticError: as `document_nll`.
    """
    one, two = (with_ones(document_nll(scores, column)) for scores in (first, second))
    return permutation_test(one, two, ratio_of_sums, resamples, seed)


def _matrix(topics: pa.Table, name: str) -> Array:
    column = topics[name].combine_chunks()
    widths: Sequence[int] = pc.unique(pc.list_value_length(column)).to_pylist()
    if not widths:
        return np.empty((0, 0))
    if len(widths) > 1 or widths[0] is None:
        raise TextcriticError(f"topics: column '{name}' has lists of {widths} numbers; they must be of one length")
    return column.flatten().to_numpy(zero_copy_only=False).reshape(-1, widths[0]).astype(np.float64)
