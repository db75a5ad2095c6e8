"""The model that training begins with: segments, then classes of segments that behave alike as its states.

Expectation maximisation from random tables stays where it starts, as all states are alike. But once text is cut into
segments, two segments of one state are followed, and preceded, by the same others. So segments are first clustered by
the singular vectors of their bigram counts, then exchanged between the classes so that the likelihood of the class
bigram model rises (Martin, Liermann and Ney 1998). At last, classes whose counts do not differ are merged.
"""

import warnings

import numpy as np
import torch
from scipy import sparse
from scipy.special import xlogy
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import randomized_svd

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm.em import estimate
from textcritic.generators.hsmm.lexicon import Lexicon
from textcritic.generators.hsmm.model import HSMM
from textcritic.generators.hsmm.multigram import Segments
from textcritic.generators.hsmm.recursion import Counts
from textcritic.plan.entries import Hsmm
from textcritic.runlog import log

ELSEWHERE = 0.01  # of a state's emissions, the share that it begins with of what other states emit
UNSEEN = -1
FREQUENT = 20  # least occurrences of a segment that is clustered by its neighbours
DIMENSIONS = 256
EXCHANGES = 20
PRIOR = 0.1  # of a class's transitions, the weight of what follows any class, in transitions per class
# Equal classes have a G statistic of about its degrees of freedom f, give or take sqrt(2 f), or more if they were
# split so as to differ most. They are merged up to 1.5 f, or up to so many deviations above f. Others are far above.
INDISTINCT, DEVIATIONS = 1.5, 10


def initial_model(segments: Segments, tokens: np.ndarray, entry: Hsmm, seed: int) -> HSMM:
    """A model whose states are classes of segments with the same neighbours, on the CPU.

    Args:
        segments: of the training text, see `multigram.find_segments`.
        tokens: the training text.
        entry: how it is trained; the model has fewer states if fewer can be distinguished in the text.
        seed: of the clustering.

    Returns:
        A model over the lexicon of `segments` and all single tokens.
    """
    types, offsets = segments.types, segments.offsets
    labels = find_classes(types, offsets, len(segments.lexicon), entry.states, seed)
    lexicon, place = with_single_tokens(segments.lexicon)
    classes = int(labels.max()) + 1
    seen = np.flatnonzero(labels >= 0)
    emission = np.zeros((len(lexicon), classes))
    emission[place[seen], labels[seen]] = segments.lexicon.counts[seen]
    size = emission.sum(axis=0)
    emission += ELSEWHERE * size * (emission.sum(axis=1) / size.sum())[:, None]
    cut = np.flatnonzero(np.diff(offsets))
    first = np.bincount(labels[types[offsets[:-1][cut]]], minlength=classes)
    last = np.bincount(labels[types[offsets[1:][cut] - 1]], minlength=classes)
    transition = class_bigrams(types, offsets, labels)
    counts = Counts(
        emission=torch.from_numpy(emission).float(),
        transition=torch.from_numpy(transition),
        initial=torch.from_numpy(first).double(),
        end=torch.from_numpy(last).double(),
        proceed=torch.from_numpy(transition.sum(axis=1)),
        log_marginal=torch.zeros(0),
    )
    return estimate(counts, lexicon, np.bincount(tokens, minlength=lexicon.vocabulary), entry.training.transition_prior)


def with_single_tokens(lexicon: Lexicon) -> tuple[Lexicon, np.ndarray]:
    """The lexicon with a row for every single token, without which new text may have no segmentation at all.

    Returns:
        the lexicon, and which row each of the old rows now is, int64 [R].
    """
    single = np.arange(lexicon.vocabulary, dtype=np.uint64)
    old = lexicon.codes[0].astype(np.int64)
    place = np.arange(len(lexicon)) + len(single) - len(old)
    place[: len(old)] = old
    counts = np.zeros(len(lexicon) + len(single) - len(old), np.int64)
    counts[place] = lexicon.counts
    return Lexicon(lexicon.vocabulary, (single, *lexicon.codes[1:]), counts), place


def find_classes(types: np.ndarray, offsets: np.ndarray, number: int, classes: int, seed: int = 0) -> np.ndarray:
    """Put segments into at most `classes` classes by the segments before and after them.

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
        raise TextcriticError(
            "no sequence of the train split has two segments, but states are found by which segment follows which; "
            "train on longer sequences, or give a shorter `longest`"
        )
    classes = min(classes, int((counts > 0).sum()))
    labels = np.where(counts > 0, 0, UNSEEN)
    if classes > 1:
        labels = _clustered(bigrams, counts, classes, seed)
        labels = exchanged(bigrams, counts, labels)
        labels = exchanged(bigrams, counts, _merged(bigrams, labels))
    log.info("%d kinds of segments in %d classes", int((counts > 0).sum()), labels.max() + 1)
    return labels


def class_bigrams(types: np.ndarray, offsets: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """How often a segment of one class follows one of another, float64 [classes, classes]; arguments as above."""
    members = _members(labels)
    table: np.ndarray = (members.T @ _bigrams(types, offsets, len(labels)) @ members).toarray()
    return table


def _bigrams(types: np.ndarray, offsets: np.ndarray, number: int) -> sparse.csr_matrix:
    inner = np.ones(len(types) + 1, bool)  # whether there is a segment on either side of a border
    inner[offsets] = False
    pairs = types[:-1][inner[1:-1]], types[1:][inner[1:-1]]
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
    rank = min(DIMENSIONS, classes, len(frequent))
    left, values, right = randomized_svd(matrix, rank, random_state=seed)
    profile = np.concatenate([left * values, right.T * values], axis=1)
    profile /= np.linalg.norm(profile, axis=1, keepdims=True).clip(1e-12)
    means = KMeans(min(classes, len(frequent)), n_init=1, random_state=seed)
    labels = np.full(len(counts), UNSEEN)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # there may be fewer distinct kinds than classes
        labels[frequent] = means.fit(profile, sample_weight=np.sqrt(counts[frequent])).labels_
    return labels


def exchanged(bigrams: sparse.csr_matrix, counts: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Kinds in the classes under which the class bigram model gives their occurrences the greatest likelihood.

    All kinds move at once, each as if the others stayed, so a round may lower the likelihood of all. The best classes
    of any round are returned, so they are never worse than those given.

    Args:
        bigrams: how often a kind follows another [S, S].
        counts: of each kind [S].
        labels: class of each kind [S]; -1 for those without a class, which are put into one first.
    """
    back, labels, settled = bigrams.T.tocsr(), _renumbered(labels), False
    best, most = labels, -np.inf
    for _ in range(EXCHANGES + 1):
        members = _members(labels)
        following, preceding = (bigrams @ members).toarray(), (back @ members).toarray()
        table, sizes = members.T @ following, members.T @ counts
        likelihood = class_log_likelihood(table, sizes) if (labels[counts > 0] >= 0).all() else -np.inf
        if likelihood > most:
            best, most = labels, likelihood
        if settled:
            break
        follows = table.sum(axis=0) / table.sum()
        smooth = table + PRIOR * len(table) * follows + 1e-3
        log_probs = np.log(smooth / smooth.sum(axis=1, keepdims=True))
        score = following @ log_probs.T + preceding @ log_probs - counts[:, None] * np.log(np.maximum(sizes, 1))
        moved = np.where(counts > 0, score.argmax(axis=1), UNSEEN)
        settled = (moved != labels).sum() <= len(labels) // 1000
        labels = _renumbered(moved)
    return best


def class_log_likelihood(table: np.ndarray, sizes: np.ndarray) -> float:
    """Of all segments by a class bigram model with its likeliest tables, but for what does not depend on the classes.

    Args:
        table: how often a segment of one class follows one of another [classes, classes].
        sizes: segments in each class [classes].
    """
    before = table.sum(axis=1)
    return float(xlogy(table, table).sum() - xlogy(before, before).sum() - xlogy(sizes, sizes).sum())


def _merged(bigrams: sparse.csr_matrix, labels: np.ndarray) -> np.ndarray:
    """Merge classes whose rows and columns of transitions differ no more than by chance, pair by pair."""
    while True:
        members = _members(labels)
        table = (members.T @ bigrams @ members).toarray()
        tests = g_test(table), g_test(table.T)
        statistic, freedom = (sum(values) for values in zip(*tests, strict=True))
        freedom = np.maximum(freedom, 1)
        ratio = statistic / np.maximum(INDISTINCT * freedom, freedom + DEVIATIONS * np.sqrt(2 * freedom))
        np.fill_diagonal(ratio, np.inf)
        nearest = ratio.argmin(axis=1)
        mutual = nearest[nearest] == np.arange(len(table))
        alike = mutual & (ratio.min(axis=1) < 1)
        if not alike.any():
            return labels
        target = np.where(alike, np.minimum(np.arange(len(table)), nearest), np.arange(len(table)))
        labels = _renumbered(np.where(labels >= 0, target[labels], UNSEEN))


def g_test(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
