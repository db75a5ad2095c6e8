"""How close the entities of a resolver are to those that people marked: MUC, B3, CEAF-e and their mean.

The definitions are those of Pradhan et al. 2014, "Scoring Coreference Partitions of Predicted Mentions", section 4,
which the reference scorer of CoNLL-2012 (version 8) follows. Each document gives numerators and denominators; a set of
documents has the ratios of their sums, as the reference scorer pools them, so that intervals come from the bootstrap
over documents. Two mentions are the same if their spans are; a mention that only one side has counts as an error.
Entities of one mention stay, in the key as in the response: B3 and CEAF-e count them, MUC has no link to count in them.
"""

from collections.abc import Collection, Hashable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from textcritic.inference import Interval, bootstrap_interval
from textcritic.inference.statistics import Array, Statistic
from textcritic.latents.resolvers.mention import Mention

Clusters = Sequence[Collection[Hashable]]
"""Entities, each as its mentions; no mention is in two."""

MEASURES = ("mentions", "muc", "b3", "ceafe")
PARTS = ("recall_found", "recall_of", "precision_found", "precision_of")
"""Of each measure: recall is `recall_found / recall_of` after summing over documents, precision likewise."""
COUNTS = tuple(f"{measure}_{part}" for measure in MEASURES for part in PARTS)
CONLL = ("muc", "b3", "ceafe")
"""The measures whose F1 the CoNLL score is the mean of."""


def clusters_of(mentions: Iterable[Mention]) -> list[set[tuple[int, int]]]:
    """The spans of each entity.

    A span that is in two entities is kept in the one of its first mention, as in the reference scorer, where a mention
    has one entity.
    """
    clusters: dict[int, set[tuple[int, int]]] = {}
    seen: set[tuple[int, int]] = set()
    for mention in mentions:
        span = (mention.start, mention.end)
        if span not in seen:
            seen.add(span)
            clusters.setdefault(mention.entity, set()).add(span)
    return list(clusters.values())


def document_counts(key: Clusters, response: Clusters) -> npt.NDArray[np.float64]:
    """Numerators and denominators of a document: float64 [len(COUNTS)], in that order.

    Args:
        key: entities that people marked.
        response: entities of the resolver.
    """
    key_sizes = np.array([len(cluster) for cluster in key], np.float64)
    response_sizes = np.array([len(cluster) for cluster in response], np.float64)
    rows, columns, overlap = _overlaps(key, response)
    common = overlap.sum()
    muc = [
        *_links(key_sizes, np.bincount(rows, overlap - 1, len(key))),
        *_links(response_sizes, np.bincount(columns, overlap - 1, len(response))),
    ]
    b3 = [
        *((overlap**2 / key_sizes[rows]).sum(), key_sizes.sum()),
        *((overlap**2 / response_sizes[columns]).sum(), response_sizes.sum()),
    ]
    similarity = 2 * overlap / (key_sizes[rows] + response_sizes[columns])
    aligned = _best_alignment(rows, columns, similarity)
    ceafe = [aligned, len(key), aligned, len(response)]
    return np.array([common, key_sizes.sum(), common, response_sizes.sum(), *muc, *b3, *ceafe], np.float64)


def recall(sums: Array) -> Array:
    """Recall of a measure from its four counts: [B, 4] -> [B]; 0 where there is nothing to find."""
    return ratio(sums[..., 0], sums[..., 1])


def precision(sums: Array) -> Array:
    """Precision of a measure from its four counts: [B, 4] -> [B]; 0 where nothing was found."""
    return ratio(sums[..., 2], sums[..., 3])


def f1(sums: Array) -> Array:
    """Harmonic mean of recall and precision: [B, 4] -> [B]; 0 where both are 0."""
    return ratio(2 * recall(sums) * precision(sums), recall(sums) + precision(sums))


def conll(sums: Array) -> Array:
    """Mean F1 of MUC, B3 and CEAF-e from their twelve counts: [B, 12] -> [B]."""
    return np.mean([f1(sums[..., 4 * k : 4 * k + 4]) for k in range(len(CONLL))], axis=0)


def pooled(counts: npt.ArrayLike, resamples: int = 10_000, seed: int = 1) -> dict[str, Interval]:
    """Every measure of a set of documents, with its interval over documents.

    Args:
        counts: [documents, len(COUNTS)], rows of `document_counts`.
        resamples: of the bootstrap.
        seed: of the bootstrap.

    Returns:
        `{measure}_recall`, `{measure}_precision`, `{measure}_f1` for each of `MEASURES`, and `conll`.

    Raises:
        TextcriticError: no documents.
    """
    array = np.asarray(counts, np.float64)
    statistics: dict[str, tuple[slice, Statistic]] = {}
    for number, measure in enumerate(MEASURES):
        columns = slice(4 * number, 4 * number + 4)
        for name, statistic in (("recall", recall), ("precision", precision), ("f1", f1)):
            statistics[f"{measure}_{name}"] = (columns, statistic)
    statistics["conll"] = (slice(4, 16), conll)
    return {
        name: bootstrap_interval(array[:, columns], statistic, resamples, seed=seed).of_share()
        for name, (columns, statistic) in statistics.items()
    }


def ratio(above: Array, below: Array) -> Array:
    """One array over another; 0 where the second is 0, as the reference scorer has it."""
    return np.divide(above, below, out=np.zeros_like(above, dtype=np.float64), where=below > 0)


def _overlaps(
    key: Clusters, response: Clusters
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Pairs of a key and a response entity that share mentions, and how many they share."""
    where = {mention: number for number, cluster in enumerate(response) for mention in cluster}
    shared: dict[tuple[int, int], int] = {}
    for number, cluster in enumerate(key):
        for mention in cluster:
            if mention in where:
                pair = (number, where[mention])
                shared[pair] = shared.get(pair, 0) + 1
    pairs = np.array(sorted(shared), np.int64).reshape(-1, 2)
    overlap = np.array([shared[pair] for pair in sorted(shared)], np.float64)
    return pairs[:, 0], pairs[:, 1], overlap


def _links(sizes: npt.NDArray[np.float64], kept: np.ndarray) -> tuple[float, float]:
    """MUC: an entity of n mentions has n - 1 links; a part of it that the other side has whole keeps its own."""
    return float(kept.sum()), float((sizes - 1).sum())


def _best_alignment(
    rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], similarity: npt.NDArray[np.float64]
) -> float:
    """The largest sum of similarities in which an entity is used once at most (Kuhn 1955, Munkres 1957)."""
    if not len(rows):
        return 0.0
    _, row = np.unique(rows, return_inverse=True)
    _, column = np.unique(columns, return_inverse=True)
    matrix = np.zeros((row.max() + 1, column.max() + 1))
    matrix[row, column] = similarity
    return float(matrix[linear_sum_assignment(matrix, maximize=True)].sum())
