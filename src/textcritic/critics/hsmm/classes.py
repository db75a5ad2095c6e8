"""Classes of segments that behave alike: where the training of a hidden semi-Markov model begins.

Expectation maximisation from random tables stays where it starts, as all states are alike. But once text is cut into
segments, two segments of one state are followed, and preceded, by the same others. So segments are first put near each
other by the singular vectors of their bigram counts and clustered, then exchanged between the classes as the class
bigram model would have it (Martin, Liermann and Ney 1998), and at last classes that the counts cannot tell apart are
made one.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds
from scipy.special import xlogy
from sklearn.cluster import KMeans

from textcritic.errors import TextcriticError
from textcritic.runlog import log

UNSEEN = -1
FREQUENT = 20  # occurrences from which a segment's neighbours say enough of it to be clustered by them
DIMENSIONS = 256
EXCHANGES = 20
PRIOR = 0.1  # of a class's transitions, the weight of what follows any class, in transitions per class
INDISTINCT = 1.5  # of the G statistic over its degrees of freedom; it is about one for equal classes


def find_classes(types: np.ndarray, offsets: np.ndarray, number: int, classes: int, seed: int = 0) -> np.ndarray:
    """Put segments into at most `classes` classes by what stands before and after them.

    Args:
        types: the kind of each segment of all sequences, one after the other, int [segments], below `number`.
        offsets: where each sequence begins, and the end of the last, int64 [sequences + 1].
        number: of kinds S.
        classes: the most classes.
        seed: of the clustering.

    Returns:
        class of each kind, int64 [S]; -1 for those that do not occur.

    Raises:
        TextcriticError: there are not two segments in a row anywhere.
    """
    counts = np.bincount(types, minlength=number)
    bigrams = _bigrams(types, offsets, number)
    if not bigrams.nnz:
        raise TextcriticError("no sequence has two segments; states need what follows what")
    labels = np.where(counts > 0, 0, UNSEEN)
    if classes > 1:
        labels = _clustered(bigrams, counts, min(classes, int((counts > 0).sum())), seed)
        labels = _exchanged(bigrams, counts, labels)
        labels = _exchanged(bigrams, counts, _merged(bigrams, labels))
    used, renumbered = np.unique(labels[counts > 0], return_inverse=True)
    labels[counts > 0] = renumbered
    log.info("%d kinds of segments in %d classes", int((counts > 0).sum()), len(used))
    return labels


def class_bigrams(types: np.ndarray, offsets: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """How often a segment of one class follows one of another, float64 [classes, classes]; arguments as above."""
    members = _members(labels)
    table: np.ndarray = (members.T @ _bigrams(types, offsets, len(labels)) @ members).toarray()
    return table


def _bigrams(types: np.ndarray, offsets: np.ndarray, number: int) -> sparse.csr_matrix:
    inner = np.ones(max(len(types) - 1, 0), bool)
    inner[offsets[1:-1] - 1] = False
    pairs = types[:-1][inner], types[1:][inner]
    return sparse.coo_matrix((np.ones(len(pairs[0])), pairs), shape=(number, number)).tocsr()


def _members(labels: np.ndarray) -> sparse.csr_matrix:
    """The classes' indicator [S, classes]."""
    seen = np.flatnonzero(labels >= 0)
    shape = len(labels), int(labels.max()) + 1
    return sparse.coo_matrix((np.ones(len(seen)), (seen, labels[seen])), shape=shape).tocsr()


def _clustered(bigrams: sparse.csr_matrix, counts: np.ndarray, classes: int, seed: int) -> np.ndarray:
    """k-means of the frequent kinds in the space of the leading singular vectors; -1 for the others."""
    frequent = np.flatnonzero(counts >= FREQUENT)
    if len(frequent) <= classes:
        frequent = np.argsort(-counts, kind="stable")[: max(classes, 2)]
    scale = sparse.diags(1 / np.sqrt(counts[frequent].clip(1)))
    matrix = scale @ bigrams[frequent][:, frequent] @ scale
    rank = min(DIMENSIONS, classes, len(frequent) - 1)
    left, values, right = svds(matrix, k=rank, v0=np.ones(len(frequent)))
    profile = np.concatenate([left * values, right.T * values], axis=1)
    profile /= np.linalg.norm(profile, axis=1, keepdims=True).clip(1e-12)
    means = KMeans(min(classes, len(frequent)), n_init=1, random_state=seed)
    labels = np.full(len(counts), UNSEEN)
    labels[frequent] = means.fit(profile, sample_weight=np.sqrt(counts[frequent])).labels_
    return labels


def _exchanged(bigrams: sparse.csr_matrix, counts: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Every kind in the class under which the class bigram model gives its occurrences the greatest likelihood."""
    back = bigrams.T.tocsr()
    for _ in range(EXCHANGES):
        members = _members(labels)
        following, preceding = (bigrams @ members).toarray(), (back @ members).toarray()
        table = members.T @ following
        follows = table.sum(axis=0) / table.sum()
        smooth = table + PRIOR * len(table) * follows + 1e-3
        log_probs = np.log(smooth / smooth.sum(axis=1, keepdims=True))
        size = np.log(np.maximum(members.T @ counts, 1))
        score = following @ log_probs.T + preceding @ log_probs - counts[:, None] * size
        best = np.where(counts > 0, score.argmax(axis=1), UNSEEN)
        moved = int((best != labels).sum())
        labels = best
        if moved <= len(labels) // 1000:
            break
    return _renumbered(labels)


def _merged(bigrams: sparse.csr_matrix, labels: np.ndarray) -> np.ndarray:
    """Classes whose rows and columns of transitions differ no more than by chance are made one, pair by pair."""
    while True:
        members = _members(labels)
        table = (members.T @ bigrams @ members).toarray()
        statistic, freedom = _g_test(table)
        rows = _g_test(table.T)
        ratio = (statistic + rows[0]) / np.maximum(freedom + rows[1], 1)
        np.fill_diagonal(ratio, np.inf)
        nearest = ratio.argmin(axis=1)
        mutual = nearest[nearest] == np.arange(len(table))
        alike = mutual & (ratio.min(axis=1) < INDISTINCT)
        if not alike.any():
            return labels
        target = np.where(alike, np.minimum(np.arange(len(table)), nearest), np.arange(len(table)))
        labels = _renumbered(np.where(labels >= 0, target[labels], UNSEEN))


def _g_test(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """G statistic of every two rows' homogeneity, and its degrees of freedom, [classes, classes] both."""
    size = table.sum(axis=1)
    own = xlogy(table, table).sum(axis=1) - xlogy(size, size)
    statistic, freedom = np.empty((2, len(table), len(table)))
    for row, counts in enumerate(table):
        pooled = table + counts
        total = pooled.sum(axis=1)
        together = xlogy(pooled, pooled).sum(axis=1) - xlogy(total, total)
        statistic[row] = 2 * (own + own[row] - together)
        freedom[row] = (pooled > 0).sum(axis=1) - 1
    return statistic, freedom


def _renumbered(labels: np.ndarray) -> np.ndarray:
    """The same classes without gaps between their numbers."""
    seen = labels >= 0
    labels = labels.copy()
    labels[seen] = np.unique(labels[seen], return_inverse=True)[1]
    return labels
