"""MAUVE: how much two sets of documents overlap as points in a language model's space (Pillutla et al. 2021, 2023).

The authors' library mauve-text makes the number. It is under the GPL-3 and not a part of this package: it is imported
when it is needed, and `textcritic install mauve` installs it. What is ours: the equal number of documents, the mean
over seeds of k-means, the interval, the test and the refusals.
"""

import hashlib
import importlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_json
from textcritic.inference.statistics import Array
from textcritic.latents.points import Features
from textcritic.plan.entries import Mauve as MauveEntry
from textcritic.runlog import Progress

FIRST_SEED = 25
"""The library's own seed, the first of ours."""
POINTS = 25
MISSING = (
    "mauve-text is not installed, which computes MAUVE; run `textcritic install mauve` (GPL-3, not part of textcritic)"
)
Vectors = npt.NDArray[np.float32]
GROUPED = "no interval and no test of MAUVE where documents belong together"


@dataclass(frozen=True, eq=False)
class Mauve:
    """MAUVE of two sets of documents at this number of documents and buckets; of another it has another value.

    Attributes:
        value: mean over seeds, between 0 and 1; None where `reason` says why there is none.
        by_seed: [seeds]; the first is what the library's own call gives.
        smoothed: [seeds], with half a document added to each bucket (`mauve_star` of the library).
        low, high: 95% interval of `value`, see `halves_interval`; None where `reason` says why.
        p: of `histogram_test`; None where `reason` says why.
        documents, buckets: of each side.
        first, second: int [seeds, buckets], documents in each cluster.
        reason: "" where nothing is missing.
    """

    value: float | None
    by_seed: Sequence[float]
    smoothed: Sequence[float]
    low: float | None
    high: float | None
    p: float | None
    documents: int
    buckets: int
    first: Sequence[Sequence[int]]
    second: Sequence[Sequence[int]]
    reason: str = ""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write JSON, with the histograms: any variant can be computed from them again without k-means."""
        write_json(path, {name: getattr(self, name) for name in self.__dataclass_fields__})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Mauve":
        """Read what `save` wrote; raises TextcriticError where it is missing or no such file."""
        payload = read_json(path)
        if not isinstance(payload, dict) or set(payload) != set(cls.__dataclass_fields__):
            raise TextcriticError(f"{path}: not a file of MAUVE; delete it and rerun the rule that makes it")
        return cls(**payload)


def compare_features(first: Features, second: Features, options: MauveEntry, resamples: int = 1000) -> Mauve:
    """MAUVE of two files of features: of real text, and of a sample or of more real text.

    The same number of documents is taken of every set, at random, the same in every run: those whose ids have the
    smallest digests. Documents that belong together have a value without interval and test.

    Args:
        first: real text.
        second: what is compared with it, embedded by the same model.
        options: how it is computed.
        resamples: of the test.

    Returns:
        Without a value where one of them has fewer documents than `options.documents`.

    Raises:
        TextcriticError: more buckets than a quarter of the documents, the features have other lengths, or the library
            is not installed.
    """
    _check(options)
    fewest = min(len(first.ids), len(second.ids))
    if fewest < options.documents:
        reason = f"{fewest} documents, and {options.documents} of each are compared"
        return Mauve(None, [], [], None, None, None, fewest, buckets_of(options), [], [], reason)
    if first.vectors.shape[1] != second.vectors.shape[1]:
        raise TextcriticError(
            f"mauve: features of {first.vectors.shape[1]} and {second.vectors.shape[1]} numbers; embed both by one"
            " model"
        )
    sides = [_some(features, options.documents) for features in (first, second)]
    grouped = any(_are_grouped(features) for features in sides)
    return mauve(sides[0].vectors, sides[1].vectors, options, resamples, independent=not grouped)


def mauve(
    first: Vectors, second: Vectors, options: MauveEntry, resamples: int = 1000, independent: bool = True
) -> Mauve:
    """MAUVE of two sets of points of equal size; arguments and errors as `compare_features`.

    Args:
        first: [documents, d], in an order that stays: the value depends on it.
        second: [documents, d].
        options: how it is computed.
        resamples: of the test.
        independent: whether documents are; else there is no interval and no test.
    """
    _check(options)
    if not len(first) == len(second) == options.documents:
        raise TextcriticError(f"mauve: {len(first)} and {len(second)} documents; both should be {options.documents}")
    buckets, count = buckets_of(options), options.documents
    seeds = range(FIRST_SEED, FIRST_SEED + options.seeds)
    runs = [_library(first, second, options, buckets, seed) for seed in seeds]
    value = float(np.mean([run.mauve for run in runs]))
    histograms = [
        [np.rint(count * run_side).astype(int).tolist() for run_side in (run.p_hist, run.q_hist)] for run in runs
    ]
    low = high = p = None
    if independent:
        low, high = halves_interval(first, second, options, value)
        p = histogram_test(histograms[0][0], histograms[0][1], options.scaling, resamples)
    return Mauve(
        value=value,
        by_seed=[float(run.mauve) for run in runs],
        smoothed=[float(run.mauve_star) for run in runs],
        low=low,
        high=high,
        p=p,
        documents=count,
        buckets=buckets,
        first=[pair[0] for pair in histograms],
        second=[pair[1] for pair in histograms],
        reason="" if independent else GROUPED,
    )


def halves_interval(first: Vectors, second: Vectors, options: MauveEntry, value: float) -> tuple[float, float]:
    """95% interval of MAUVE at this number of documents: `value` and 1.96 standard deviations over random halves.

    Documents drawn with replacement lower MAUVE (0.80 to 0.67 at 500 documents), so a percentile interval covers
    62%. Halves are therefore drawn without replacement (Politis, Romano and Wolf 1999, chapter 2), with half as many
    buckets, so that each has as many points. The factor sqrt(m / n) / sqrt(1 - m / n) of m = n / 2 documents is 1.
    """
    rng, half = np.random.default_rng(1), options.documents // 2
    buckets, values = max(2, round(buckets_of(options) / 2)), []
    progress = Progress("MAUVE of halves", options.halves, "halves")
    for n in range(options.halves):
        drawn = [side[np.sort(rng.permutation(len(side))[:half])] for side in (first, second)]
        values.append(_library(drawn[0], drawn[1], options, buckets, FIRST_SEED + n).mauve)
        progress.advance()
    reach = 1.96 * float(np.std(values, ddof=1))
    return max(0.0, value - reach), min(1.0, value + reach)


def histogram_test(first: Sequence[int], second: Sequence[int], scaling: float = 5.0, resamples: int = 1000) -> float:
    """Permutation test of two sets of documents over the clusters of both: documents change sides, clusters stay.

    Clusters are made from both sets together, so that under the null hypothesis documents are exchangeable between the
    sets. An exception is the start of k-means, which depends on the order of the rows: p was at most 0.05 in 7% of 400
    repetitions.

    Args:
        first: [buckets], documents of the first set in each cluster.
        second: [buckets].
        scaling: c of the divergence curve.
        resamples: exchanges.

    Returns:
        p: how often MAUVE is as low as it is, the observed one counted.
    """
    one, two = np.asarray(first), np.asarray(second)
    drawn = np.random.default_rng(1).multivariate_hypergeometric(one + two, int(one.sum()), size=resamples)
    observed = mauve_of_histograms(one, two, scaling)
    null = mauve_of_histograms(drawn, one + two - drawn, scaling)
    return float((1 + (null <= observed * (1 + 1e-9)).sum()) / (resamples + 1))


def mauve_of_histograms(first: npt.ArrayLike, second: npt.ArrayLike, scaling: float = 5.0) -> Array:
    """Area under the divergence curve of histograms (Pillutla et al. 2021, equation 2): [..., buckets] -> [...].

    The curve has a point (exp(-c KL(Q | R)), exp(-c KL(P | R))) for each mixture R = w P + (1 - w) Q, and ends at the
    axes, at (1, 0) and (0, 1).

    Args:
        first: counts or shares of P.
        second: of Q.
        scaling: c.
    """
    p, q = (np.asarray(side, dtype=np.float64) for side in (first, second))
    p, q = p / p.sum(axis=-1, keepdims=True), q / q.sum(axis=-1, keepdims=True)
    shape = p.shape[:-1]
    xs, ys = [np.ones(shape)], [np.zeros(shape)]
    for weight in np.linspace(1e-6, 1 - 1e-6, POINTS):
        mixed = weight * p + (1 - weight) * q
        xs.append(np.exp(-scaling * _divergence(q, mixed)))
        ys.append(np.exp(-scaling * _divergence(p, mixed)))
    x, y = np.stack([*xs, np.zeros(shape)]), np.stack([*ys, np.ones(shape)])
    # From R = Q, where x is 1, to R = P: x falls while y rises.
    area: Array = ((x[:-1] - x[1:]) * (y[:-1] + y[1:]) / 2).sum(axis=0)
    return area


def _divergence(p: Array, q: Array) -> Array:
    """KL(p | q) in nats over the last axis; 0 log 0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, p * np.log(p / q), 0.0).sum(axis=-1)


def _library(first: Vectors, second: Vectors, options: MauveEntry, buckets: int, seed: int) -> Any:
    """The library's own call; it wants ints of Python."""
    library = load_library()
    with _quiet():
        return library.compute_mauve(
            p_features=first,
            q_features=second,
            num_buckets=int(buckets),
            mauve_scaling_factor=options.scaling,
            kmeans_num_redo=options.redo,
            kmeans_max_iter=options.iterations,
            seed=int(seed),
            verbose=False,
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress what faiss, which is not Python, writes at every call: that there are few points for its clusters."""
    kept = [os.dup(number) for number in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for number in (1, 2):
            os.dup2(nowhere, number)
        yield
    finally:
        for number, own in zip((1, 2), kept, strict=True):
            os.dup2(own, number)
            os.close(own)
        os.close(nowhere)


def load_library() -> Any:
    """The package `mauve`; raises TextcriticError where it is not installed."""
    try:
        return importlib.import_module("mauve")
    except ModuleNotFoundError as error:
        raise TextcriticError(MISSING) from error


def buckets_of(options: MauveEntry) -> int:
    """The number of clusters: the library's `auto` where none is given."""
    return max(2, round(options.documents / 10)) if options.buckets is None else options.buckets


def _check(options: MauveEntry) -> None:
    if buckets_of(options) > options.documents / 4:
        raise TextcriticError(
            f"mauve: {buckets_of(options)} buckets; give 2 to a quarter of the {options.documents} documents"
        )


def _some(features: Features, number: int) -> Features:
    """So many documents at random, always the same, in the order of their ids."""
    digests = [hashlib.sha256(str(name).encode()).digest() for name in features.ids]
    kept = np.sort(np.array(sorted(range(len(digests)), key=digests.__getitem__)[:number]))
    return Features(features.ids[kept], features.vectors[kept], features.groups[kept])


def _are_grouped(features: Features) -> bool:
    named = features.groups[features.groups != ""]
    return len(np.unique(named)) < len(named)
