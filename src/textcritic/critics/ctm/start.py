"""Where a fit starts."""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from textcritic.critics.ctm.counts import document_lengths, word_counts
from textcritic.critics.ctm.options import FitOptions
from textcritic.critics.ctm.sums import Parts

# Of a topic at the start, the share that is all documents' words; the rest is one document's.
BACKGROUND = 0.3


def start(matrix: csr_matrix, rows: npt.NDArray[np.int64], options: FitOptions) -> Parts:
    """Topics that are one document's words each, smoothed, under a standard normal prior.

    Documents are drawn without replacement, in proportion to their length; the smoothing is the words of all documents,
    each with a random weight, so that no two topics are the same even if two documents are.
    """
    rng = np.random.default_rng(options.seed)
    lengths = document_lengths(matrix)[rows]
    chosen = rng.choice(rows, options.num_topics, replace=False, p=lengths / lengths.sum())
    all_words = word_counts(matrix)
    topics = np.empty((matrix.shape[1], options.num_topics))
    for topic, row in enumerate(chosen):
        background = all_words * (0.5 + rng.random(len(all_words)))
        own = np.asarray(matrix[row].todense(), dtype=np.float64).ravel()
        topics[:, topic] = BACKGROUND * background / background.sum() + (1 - BACKGROUND) * own / own.sum()
    return Parts(topics, np.zeros(options.num_topics - 1), np.eye(options.num_topics - 1))
