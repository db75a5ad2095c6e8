"""Scores of documents by a fitted topic model: how improbable their topics are, and what the topics are about.

Nothing here needs torch: tables and figures are made where there is none.
"""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.linalg import solve_triangular

from textcritic.corpora import Article, some_articles
from textcritic.corpora.words import closed_up
from textcritic.critics.ctm.model import CTM, Array
from textcritic.critics.scores import Rejected, rejected_rows, rejections
from textcritic.errors import TextcriticError
from textcritic.latents.bags import Vocabulary, tokens_of
from textcritic.values import JsonObject

EMPTY = "no word of the vocabulary"
FOREIGN = "foreign"
"""The fault of the study of power (`power`, which needs torch): half of a document's words are another document's."""
TOPIC_SCORES_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("nll", pa.float64()),
        ("nll_at_mean", pa.float64()),
        ("words", pa.int64()),
        ("rejected", pa.bool_()),
        ("why", pa.string()),
        ("group", pa.string()),
    ]
)

EXCERPT_WORDS = 60
EXCERPT_CHARACTERS = 600
STRONGEST = 3
TINY = 1e-300

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
        pa.nulls(len(words), pa.string()),
    ]
    return pa.concat_tables([pa.table(columns, schema=TOPIC_SCORES_SCHEMA), unparsed(rejected)])


def unparsed(rejected: Rejected) -> pa.Table:
    """Rows of documents that could not be parsed, (id, why): schema `TOPIC_SCORES_SCHEMA`."""
    return rejected_rows(rejected, TOPIC_SCORES_SCHEMA, {"nll_at_mean": math.nan, "words": 0})


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


def top_words(critic: CTM, words: Sequence[str], n: int = 10) -> list[list[str]]:
    """The n most probable words of each of the K topics, the most probable first (ties: the lower id).

    Args:
        critic: of V words.
        words: [V], the vocabulary's.
        n: words a topic.

    Raises:
        TextcriticError: another number of words than the critic's.
    """
    if len(words) != critic.num_words:
        raise TextcriticError(
            f"top words: {len(words)} words for a critic of {critic.num_words}; they must be the same"
        )
    order = np.argsort(-critic.log_topics, axis=1, kind="stable")[:, :n]
    return [[words[word] for word in topic] for topic in order]


def topic_shares(means: npt.ArrayLike) -> Array:
    """Share of each topic in a set of documents, the mean over documents of softmax(mean, 0): [K].

    Raises:
        TextcriticError: there are no documents.
    """
    array = np.asarray(means, dtype=np.float64)
    if array.ndim != 2 or not len(array):
        raise TextcriticError(f"topic shares: means of shape {array.shape}; they must be [documents, K - 1]")
    return _proportions(array).mean(axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class Projected:
    """One set of documents under a critic.

    Attributes:
        topics: their posteriors.
        scores: table of schema `TOPIC_SCORES_SCHEMA`.
        articles: Parquet file with their text.
    """

    topics: pa.Table
    scores: pa.Table
    articles: str | os.PathLike[str]


def outliers(
    critic: CTM,
    vocabulary: Vocabulary,
    documents: Projected,
    usual: npt.ArrayLike,
    most: int = 5,
    column: Column = "nll",
) -> list[JsonObject]:
    """The documents with the highest NLL, the highest first (Table 14, for which nothing was released).

    Args:
        critic: the critic that gave the scores.
        vocabulary: its words.
        documents: their posteriors, scores and text; rejected documents are left out.
        usual: [K], shares of the topics in the data (`topic_shares`).
        most: number of documents, at most.
        column: the NLL by which documents are ranked.

    Returns:
        dicts `id`, `nll`, `nll_at_mean`, `words`; `excerpt`, the run of `EXCERPT_WORDS` tokens that best shows how
        the topics of the document differ from the usual ones, with ellipses where it is cut; `topics`, the three
        that exceed their usual share most: `topic`, `share`, `usual_share`, and `z`, (mean - mu) / sqrt(Sigma_kk) of
        the coefficient, None for the last topic, whose coefficient is fixed.

    Raises:
        TextcriticError: a document has no posterior or no text, because the files belong to different samples.
    """
    scores, topics = documents.scores, documents.topics
    kept = scores.filter(pc.invert(scores["rejected"]))
    worst = kept.take(np.argsort(-kept[column].to_numpy(), kind="stable")[:most]).to_pylist()
    articles = some_articles(documents.articles, [row["id"] for row in worst])
    wanted = pc.is_in(topics["id"], value_set=pa.array([row["id"] for row in worst], pa.string()))
    chosen = topics.filter(pc.and_(wanted, pc.greater(topics["words"], 0)))
    means = dict(zip(chosen["id"].to_pylist(), posterior_moments(chosen)[0], strict=True))
    share = np.asarray(usual, dtype=np.float64)
    for row in worst:
        if row["id"] not in articles or row["id"] not in means:
            raise TextcriticError(
                f"{documents.articles}: document {row['id']!r} has a score and no text or no posterior; delete the "
                "scores and rerun the rule that makes them"
            )
    return [
        {key: row[key] for key in ("id", "nll", "nll_at_mean", "words")}
        | _explained(critic, vocabulary, articles[row["id"]], means[row["id"]], share)
        for row in worst
    ]


def with_last(coefficients: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Coefficients of all K topics, that of the last 0 without variance: [documents, K - 1] -> [documents, K]."""
    array = np.asarray(coefficients, dtype=np.float64)
    return np.column_stack([array, np.zeros(len(array))])


def cluster_order(covariance: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Order of topics in which those with similar covariances are neighbours: a permutation of range(k).

    That of the leaves of the dendrogram of the rows, average linkage, Euclidean distance: what seaborn's clustermap
    does, by which the released code orders both data and samples (paper, appendix F: by the test set's covariance).

    Args:
        covariance: [k, k], of the data.

    Raises:
        TextcriticError: not a square matrix of finite values.
    """
    matrix = np.asarray(covariance, dtype=np.float64)
    if matrix.ndim != 2 or not len(matrix) or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise TextcriticError(f"covariance: shape {matrix.shape}; it must be a square matrix of finite values")
    if len(matrix) == 1:
        return np.zeros(1, dtype=np.int64)
    return leaves_list(linkage(matrix, method="average", metric="euclidean")).astype(np.int64)


def _matrix(topics: pa.Table, name: str) -> Array:
    column = topics[name].combine_chunks()
    widths: Sequence[int] = pc.unique(pc.list_value_length(column)).to_pylist()
    if not widths:
        return np.empty((0, 0))
    if len(widths) > 1 or widths[0] is None:
        raise TextcriticError(f"topics: column '{name}' has lists of {widths} numbers; they must be of one length")
    return column.flatten().to_numpy(zero_copy_only=False).reshape(-1, widths[0]).astype(np.float64)


def _explained(critic: CTM, vocabulary: Vocabulary, article: Article, mean: Array, usual: Array) -> JsonObject:
    own = _proportions(mean[None])[0]
    standard = (mean - critic.mean) / np.sqrt(np.diag(critic.covariance))
    strongest = [
        {
            "topic": int(k),
            "share": float(own[k]),
            "usual_share": float(usual[k]),
            "z": float(standard[k]) if k < len(standard) else None,
        }
        for k in np.argsort(usual - own, kind="stable")[:STRONGEST]
    ]
    tokens = tokens_of(article, vocabulary.spaced)
    ids = vocabulary.encode(tokens)
    known, place = np.unique(ids[ids >= 0], return_inverse=True)
    topics = np.exp(critic.log_topics[:, known])
    telling = np.zeros(len(tokens))
    telling[ids >= 0] = np.log(np.maximum(own @ topics, TINY) / np.maximum(usual @ topics, TINY))[place]
    return {"excerpt": _excerpt(tokens, telling), "topics": strongest}


def _excerpt(tokens: Sequence[str], telling: Array) -> str:
    """The run of tokens with the highest sum of `telling`; the first of them if there are several."""
    sums = np.concatenate([[0.0], np.cumsum(telling)])
    width = min(EXCERPT_WORDS, len(tokens))
    start = int(np.argmax(sums[width:] - sums[: len(sums) - width]))
    text = closed_up(" ".join(tokens[start : start + width]))
    cut = start + width < len(tokens) or len(text) > EXCERPT_CHARACTERS
    return ("… " if start else "") + text[:EXCERPT_CHARACTERS] + (" …" if cut else "")


def _proportions(means: Array) -> Array:
    """Softmax of the coefficients, that of the last topic 0: [documents, K - 1] -> [documents, K]."""
    weights = with_last(means)
    weights = np.exp(weights - weights.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)
