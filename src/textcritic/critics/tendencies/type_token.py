"""How many different words documents of one length have: against Heaps' law, and real text (paper, Figure 4)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.critics.tendencies.heaps import HeapsFit, fit_heaps
from textcritic.errors import TextcriticError
from textcritic.inference import (
    Histogram,
    StrataTest,
    ks_fit_test,
    strata_difference,
    strata_distance,
    strata_test,
)
from textcritic.inference.strata import StrataDifference, Stratum

Floats = npt.NDArray[np.float64]
WIDEST = 1.2  # longest length of a class over its shortest
FEWEST = 4  # documents of each set in a class, at least


@dataclass(frozen=True, eq=False)
class Documents:
    """Length, ascending, and number of types of each document: [documents]; at least one token each."""

    lengths: npt.NDArray[np.int64]
    types: npt.NDArray[np.int64]

    @classmethod
    def of(cls, lengths: npt.ArrayLike, types: npt.ArrayLike) -> "Documents":
        """Of documents in any order; those without a token are left out."""
        length, number = np.asarray(lengths, np.int64), np.asarray(types, np.int64)
        order = np.argsort(length, kind="stable")
        order = order[np.searchsorted(length[order], 1) :]
        return cls(length[order], number[order])

    def inside(self, first: int, last: int) -> slice:
        """The documents of these lengths."""
        return slice(*np.searchsorted(self.lengths, (first, last + 1)).tolist())

    def counts(self, longest: int) -> npt.NDArray[np.int64]:
        """Documents of each length from 0: [longest + 1]."""
        return np.bincount(self.lengths, minlength=longest + 1)


@dataclass(frozen=True, eq=False)
class ByLength:
    """Distances by class of lengths.

    Attributes:
        lengths: mean length of the documents of each class, both sets together: [classes].
        distances: [classes], Kolmogorov-Smirnov.
        p: [classes].
    """

    lengths: Floats
    distances: Floats
    p: Floats


@dataclass(frozen=True, eq=False)
class TypeToken:
    """Types of a sample and of real text at equal length: the mean distance, the relative difference, and classes."""

    test: StrataTest
    difference: StrataDifference
    by_length: ByLength


def length_classes(real: Documents, other: Documents, least: int) -> npt.NDArray[np.int64]:
    """Classes of lengths with several documents of both sets: first and last length, int64 [classes, 2].

    One length each where there are `least` documents of it; else neighbouring lengths, as long as the last is at most
    1.2 times the first. Lengths that have too few documents even so are in no class. Where less than half of the
    documents of either set is in a class, `least` is halved, down to `FEWEST`, until half is; if it never is, the
    classes are those that hold the most.

    Raises:
        TextcriticError: there is no class.
    """
    longest = int(max(real.lengths.max(initial=0), other.lengths.max(initial=0)))
    both = np.stack([real.counts(longest), other.counts(longest)])
    most, chosen = 0.0, np.empty((0, 2), np.int64)
    while True:
        classes = _classes(both, least)
        inside = np.array([both[:, first : last + 1].sum(axis=1) for first, last in classes.tolist()])
        share = float((inside.sum(axis=0) / both[:, 1:].sum(axis=1)).min()) if len(inside) else 0.0
        if share > most:
            most, chosen = share, classes
        if share >= 0.5 or least <= FEWEST:
            break
        least = max(FEWEST, least // 2)
    if not len(chosen):
        raise TextcriticError(
            f"types by length: no narrow range of lengths has {least} documents of each set; give more documents, or "
            "documents that are as long as those of real text"
        )
    return chosen


def _classes(both: npt.NDArray[np.int64], least: int) -> npt.NDArray[np.int64]:
    """The classes that have `least` documents of both sets, of documents by length from 0, [2, lengths]."""
    classes, first, have = [], 1, np.zeros(2, np.int64)
    for length in range(1, both.shape[1]):
        while length > WIDEST * first and first < length:
            have -= both[:, first]
            first += 1
        have += both[:, length]
        if (have >= least).all():
            classes.append((first, length))
            first, have = length + 1, np.zeros(2, np.int64)
    return np.array(classes, np.int64).reshape(-1, 2)


def type_token_distance(real: Documents, other: Documents, least: int) -> float:
    """Mean over lengths of the KS distance of the number of types, weighted by the documents of real text.

    Within a class of several lengths, the types that Heaps' law, fitted to both sets, expects at each length are taken
    off first. As the law is of both, documents may be exchanged.

    Raises:
        TextcriticError: as `length_classes` and `fit_heaps`.
    """
    return strata_distance(_strata(real, other, _joint_law(real, other), length_classes(real, other, least)))


def type_token_test(real: Documents, sample: Documents, least: int, resamples: int = 1000, seed: int = 1) -> TypeToken:
    """The same distance with its test and interval; the relative difference of the number of types; and each class.

    Raises:
        TextcriticError: as `type_token_distance`; no resamples.
    """
    law, classes = _joint_law(real, sample), length_classes(real, sample, least)
    strata = _strata(real, sample, law, classes)
    test = strata_test(strata, resamples=resamples, seed=seed)
    middle = _middles(real, sample, classes)
    difference = strata_difference(strata, _expected(law, middle))
    return TypeToken(test, difference, ByLength(middle, test.each, test.each_p))


def law_distances(
    documents: Documents, law: HeapsFit, classes: npt.NDArray[np.int64], resamples: int = 1000, seed: int = 1
) -> ByLength:
    """How far the number of types is from Heaps' law, by class of lengths: one-sample KS tests by Monte Carlo.

    For a class with several lengths, the law is a mixture of the laws of its documents. The Poisson law gives numbers
    from 0 to infinity, but a document of length l has 1 to l types: some distance is there by construction, most of it
    at short lengths. p-values take the law as given: each class is a small part of the documents that it was fitted to.

    Args:
        documents: the documents of one set.
        law: fitted on them, or on real text.
        classes: as `length_classes`; each has a document.
        resamples: how many resamples each test has.
        seed: of `numpy.random.default_rng`.
    """
    from scipy.special import pdtr  # scipy.stats, which has it too, takes half a second to load

    lengths, distances, p = np.empty((3, len(classes)))
    # A seed a class: with one for all, the p-values of neighbouring classes would err together.
    seeds = np.random.SeedSequence(seed).generate_state(len(classes)).tolist()
    for place, (first, last) in enumerate(classes.tolist()):
        inside = documents.inside(first, last)
        length, types = documents.lengths[inside], documents.types[inside]
        distinct, number = np.unique(length, return_counts=True)
        # More types than tokens are one category: the law has it, and no document is in it.
        below = pdtr(np.arange(last + 1)[:, None], _expected(law, distinct)) @ (number / len(length))
        probabilities = np.diff(below, prepend=0.0, append=1.0)
        counts = np.bincount(types, minlength=last + 2)
        test = ks_fit_test(counts, np.maximum(probabilities, 0), resamples, seeds[place])
        lengths[place], distances[place], p[place] = length.mean(), test.distance, test.p
    return ByLength(lengths, distances, p)


def _joint_law(real: Documents, other: Documents) -> HeapsFit:
    return fit_heaps(*(np.concatenate(both) for both in ((real.lengths, other.lengths), (real.types, other.types))))


def _strata(real: Documents, other: Documents, law: HeapsFit, classes: npt.NDArray[np.int64]) -> list[Stratum]:
    """Types less what the law expects, of the other set and of real text, in each class."""
    sample, data = ((d, d.types - _expected(law, d.lengths)) for d in (other, real))
    return [
        (Histogram.of(sample[1][sample[0].inside(*ends)]), Histogram.of(data[1][data[0].inside(*ends)]))
        for ends in classes.tolist()
    ]


def _middles(real: Documents, other: Documents, classes: npt.NDArray[np.int64]) -> Floats:
    both = ((real.lengths[real.inside(*ends)], other.lengths[other.inside(*ends)]) for ends in classes.tolist())
    return np.array([np.concatenate(lengths).mean() for lengths in both])


def _expected(law: HeapsFit, lengths: npt.ArrayLike) -> Floats:
    expected: Floats = law.alpha * np.asarray(lengths, dtype=np.float64) ** law.beta
    return expected
