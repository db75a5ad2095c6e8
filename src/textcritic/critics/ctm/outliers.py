"""What topics are about, and the documents whose topics the critic finds least probable (paper, Table 14)."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from textcritic.corpora import Article, some_articles
from textcritic.critics.ctm.covariances import with_last
from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.scoring import Column, posterior_moments
from textcritic.errors import TextcriticError
from textcritic.latents.bags import Vocabulary, tokens_of

EXCERPT_WORDS = 60
EXCERPT_CHARACTERS = 600
STRONGEST = 3
TINY = 1e-300

Array = npt.NDArray[np.float64]


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


def outliers(
    critic: CTM,
    vocabulary: Vocabulary,
    topics: pa.Table,
    scores: pa.Table,
    articles_path: str | os.PathLike[str],
    usual: npt.ArrayLike,
    most: int = 5,
    column: Column = "nll",
) -> list[dict[str, Any]]:
    """The documents with the highest NLL, the highest first (Table 14, for which nothing was released).

    Args:
        critic: the one that gave the scores.
        vocabulary: its words.
        topics: posteriors of the same documents.
        scores: table of schema `TOPIC_SCORES_SCHEMA`; rejected documents are passed over.
        articles_path: Parquet file with the documents' text.
        usual: [K], shares of the topics in the data (`topic_shares`).
        most: how many documents at most.
        column: by which of the two NLL.

    Returns:
        dicts `id`, `nll`, `nll_at_mean`, `words`; `excerpt`, the run of `EXCERPT_WORDS` tokens that tell the document's
        mix of topics best from the usual one, with ellipses where it is cut; `topics`, the three that exceed their
        usual share most: `topic`, `share`, `usual_share`, and `z`, (mean - mu) / sqrt(Sigma_kk) of the coefficient,
        None for the last topic, whose coefficient is fixed.

    Raises:
        TextcriticError: a document has no posterior or no text: the files belong to different samples.
    """
    kept = scores.filter(pc.invert(scores["rejected"]))
    worst = kept.take(np.argsort(-kept[column].to_numpy(), kind="stable")[:most]).to_pylist()
    articles = some_articles(articles_path, [row["id"] for row in worst])
    wanted = pc.is_in(topics["id"], value_set=pa.array([row["id"] for row in worst], pa.string()))
    chosen = topics.filter(pc.and_(wanted, pc.greater(topics["words"], 0)))
    means = dict(zip(chosen["id"].to_pylist(), posterior_moments(chosen)[0], strict=True))
    share = np.asarray(usual, dtype=np.float64)
    for row in worst:
        if row["id"] not in articles or row["id"] not in means:
            raise TextcriticError(
                f"{articles_path}: document {row['id']!r} has a score and no text or no posterior; delete the scores "
                "and rerun the rule that makes them"
            )
    return [
        {key: row[key] for key in ("id", "nll", "nll_at_mean", "words")}
        | _explained(critic, vocabulary, articles[row["id"]], means[row["id"]], share)
        for row in worst
    ]


def _explained(critic: CTM, vocabulary: Vocabulary, article: Article, mean: Array, usual: Array) -> dict[str, Any]:
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
    tokens = tokens_of(article)
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
    text = " ".join(tokens[start : start + width])
    cut = start + width < len(tokens) or len(text) > EXCERPT_CHARACTERS
    return ("… " if start else "") + text[:EXCERPT_CHARACTERS] + (" …" if cut else "")


def _proportions(means: Array) -> Array:
    """Softmax of the coefficients, that of the last topic 0: [documents, K - 1] -> [documents, K]."""
    weights = with_last(means)
    weights = np.exp(weights - weights.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)
