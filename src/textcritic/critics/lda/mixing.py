"""What posteriors of topic shares say of mixing: corners, entropy, tokens outside the main topic, known languages."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from textcritic.critics.lda.posteriors import Posteriors
from textcritic.errors import TextcriticError

Array = npt.NDArray[np.float64]


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
