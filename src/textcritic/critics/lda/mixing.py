"""Measures of mixing from posteriors of topic shares: corners, entropy, tokens outside the main topic, languages."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from textcritic.critics.lda.posteriors import Posteriors
from textcritic.errors import TextcriticError
from textcritic.inference import Groups, Interval, bootstrap_interval, ratio_of_sums, unit_sums, with_ones

CORNER = 0.9
"""The largest share of a topic from which on a document, or a draw, is in one topic."""

Array = npt.NDArray[np.float64]


def mixing_columns(posteriors: Posteriors) -> dict[str, Array]:
    """Four numbers on how much documents mix, each as the two columns whose ratio of sums it is: [documents, 2].

    - `mixed`: share of the tokens outside the main topic of their document, expected under the posterior; all tokens
      of all documents count alike. The main topic is the one with most expected tokens.
    - `divided`: share of documents whose largest posterior mean is below `CORNER`.
    - `corners`: share of posterior draws whose largest share is at least `CORNER`.
    - `entropy`: of the shares, nats, mean over draws; 0 of one topic alone, log K of all alike.
    """
    draws = posteriors.draws.astype(np.float64)
    inner = np.where(draws > 0, draws * np.log(np.where(draws > 0, draws, 1.0)), 0.0)
    counts = posteriors.counts.astype(np.float64)
    words = counts.sum(axis=1)
    return {
        "mixed": np.column_stack([words - counts.max(axis=1, initial=0.0), words]),
        "divided": with_ones(posteriors.mean.max(axis=1) < CORNER),
        "corners": with_ones((draws.max(axis=2) >= CORNER).mean(axis=1)),
        "entropy": with_ones(-inner.sum(axis=2).mean(axis=1)),
    }


def agreement(
    posteriors: Posteriors, languages: Sequence[str], resamples: int = 10_000, seed: int = 1, groups: Groups = None
) -> Mapping[str, Interval]:
    """How well topics agree with known languages, with 95% document-bootstrap intervals.

    The topic of each language is that of `topic_languages`; words of a language without one are all wrong.

    Returns:
        `words`: share of the tokens, expected, in the topic of their document's language; `documents`: share of
        documents whose main topic is that of their language.

    Raises:
        TextcriticError: another number of languages than of documents, or no documents.
    """
    topics = topic_languages(posteriors, languages)
    counts = posteriors.counts.astype(np.float64)
    right = np.asarray(topics)[None] == np.asarray(languages, dtype=np.str_)[:, None]
    main = np.take_along_axis(right, counts.argmax(axis=1)[:, None], axis=1)[:, 0]
    columns = {
        "words": np.column_stack([(counts * right).sum(axis=1), counts.sum(axis=1)]),
        "documents": with_ones(main),
    }
    return {
        name: bootstrap_interval(unit_sums(column, groups), ratio_of_sums, resamples, seed=seed).of_share()
        for name, column in columns.items()
    }


def topic_languages(posteriors: Posteriors, languages: Sequence[str]) -> tuple[str, ...]:
    """The language of each topic: the one-to-one assignment with most expected tokens in the right topic.

    Args:
        posteriors: of N documents.
        languages: [N], of each document.

    Returns:
        [K], "" for a topic that no language is left for; where there are more languages than topics, some have none.

    Raises:
        TextcriticError: another number of languages than of documents.
    """
    names, table = _by_language(posteriors, languages)
    chosen = linear_sum_assignment(table, maximize=True)
    topics = [""] * table.shape[1]
    for language, topic in zip(*chosen, strict=True):
        topics[topic] = names[language]
    return tuple(topics)


def _by_language(posteriors: Posteriors, languages: Sequence[str]) -> tuple[list[str], Array]:
    """Names of the languages, sorted, and expected tokens of each in each topic: [L, K]."""
    if len(languages) != len(posteriors.ids):
        raise TextcriticError(f"languages: {len(languages)} for {len(posteriors.ids)} documents; give one each")
    names, place = np.unique(np.asarray(languages, dtype=np.str_), return_inverse=True)
    table = np.zeros((len(names), posteriors.counts.shape[1]))
    np.add.at(table, place, posteriors.counts.astype(np.float64))
    return names.tolist(), table
