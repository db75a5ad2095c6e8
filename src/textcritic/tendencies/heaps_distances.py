"""How far the types of documents are from Heaps' law, by length (Meister and Cotterell 2021, section 5.2, Fig. 4)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from textcritic.errors import TextcriticError
from textcritic.inference import Histogram, KsTest, ks_fit_test, ks_test
from textcritic.tendencies.heaps import Floats, HeapsFit, Ints, TypesByLength, fit_heaps


@dataclass(frozen=True, eq=False)
class HeapsDistances:
    """Kolmogorov-Smirnov distances between distributions of the number of types, of documents of one length.

    Attributes:
        lengths: of the documents, ascending: [L].
        documents: of the sample with this length: [L].
        documents_real: of the real text: [L].
        own, own_p: to the Poisson law of Heaps' law fitted to the sample (D_p-theta), and its Monte Carlo p: [L].
        real, real_p: to that of the law fitted to the real text (D_p-hat): [L].
        empirical, empirical_p: to the documents of the real text (D_p), and its permutation p: [L].
    """

    lengths: Ints
    documents: Ints
    documents_real: Ints
    own: Floats
    own_p: Floats
    real: Floats
    real_p: Floats
    empirical: Floats
    empirical_p: Floats


def heaps_distances(
    sample: TypesByLength, real: TypesByLength, least: int = 100, resamples: int = 1000, seed: int = 1
) -> HeapsDistances:
    """Distances at every length that has enough documents in both sets; maybe none, as of long articles.

    The Poisson law is of numbers from 0 to infinity; a document of length l has 1 to l types, so that some distance is
    there by construction, and most of it at short lengths. p-values take the parameters as given: each length is a
    small part of the documents that they were fitted to.

    Args:
        sample: documents of a model.
        real: documents of real text.
        least: documents of a length that each set has at least.
        resamples: simulations and permutations of each test.
        seed: of `numpy.random.default_rng`.

    Raises:
        TextcriticError: as `fit_heaps`, or `least` below 1.
    """
    laws = [fit_heaps(one.lengths, one.types, one.counts) for one in (sample, real)]
    lengths = _common(sample, real, least)
    tests: list[tuple[KsTest, KsTest, KsTest]] = []
    numbers = []
    # A seed a length: with one for all, the p-values of neighbouring lengths would err together.
    seeds = np.random.SeedSequence(seed).generate_state(len(lengths))
    for length, own_seed in zip(lengths.tolist(), seeds.tolist(), strict=True):
        here, there = _at(sample, length), _at(real, length)
        numbers.append([here.total, there.total])
        own, of_real = (_poisson_test(here, law, length, resamples, own_seed) for law in laws)
        tests.append((own, of_real, ks_test(here, there, resamples, own_seed)))
    found = np.array([[(test.distance, test.p) for test in row] for row in tests]).reshape(-1, 3, 2)
    distances, p = found[:, :, 0].T, found[:, :, 1].T
    documents = np.array(numbers, dtype=np.int64).reshape(-1, 2)
    return HeapsDistances(
        lengths=lengths,
        documents=documents[:, 0],
        documents_real=documents[:, 1],
        own=distances[0],
        own_p=p[0],
        real=distances[1],
        real_p=p[1],
        empirical=distances[2],
        empirical_p=p[2],
    )


def _poisson_test(histogram: Histogram, law: HeapsFit, length: int, resamples: int, seed: int) -> KsTest:
    """Against Poisson(alpha l^beta): numbers up to the largest observed one, and all above as one category."""
    from scipy.stats import poisson  # here: it takes a second to load

    mean = law.alpha * length**law.beta
    top = int(histogram.values[-1])
    counts = np.bincount(histogram.values.astype(np.int64), histogram.counts, top + 2).astype(np.int64)
    probabilities = np.append(poisson.pmf(np.arange(top + 1), mean), poisson.sf(top, mean))
    return ks_fit_test(counts, probabilities / probabilities.sum(), resamples, seed)


def _common(sample: TypesByLength, real: TypesByLength, least: int) -> Ints:
    if least < 1:
        raise TextcriticError(f"Heaps' law: lengths of at least {least} documents; give at least 1")
    ours, others = (mean_types(one, least).lengths for one in (sample, real))
    common: Ints = np.intersect1d(ours, others)
    return common


def _at(one: TypesByLength, length: int) -> Histogram:
    start, stop = np.searchsorted(one.lengths, [length, length + 1])
    return Histogram(one.types[start:stop].astype(np.float64), one.counts[start:stop])


@dataclass(frozen=True, eq=False)
class MeanTypes:
    """The mean number of types of documents by their length (Fig. 1 and 3): [L] each.

    Attributes:
        lengths: ascending.
        documents: of this length.
        means: of their types.
        standard_errors: of the means; NaN of one document.
    """

    lengths: Ints
    documents: Ints
    means: Floats
    standard_errors: Floats


def mean_types(documents: TypesByLength, least: int = 1) -> MeanTypes:
    """Means at every length that has at least `least` documents; maybe none."""
    lengths, number, sums, squares = documents.by_length()
    kept = number >= least
    with np.errstate(invalid="ignore", divide="ignore"):
        errors: npt.NDArray[np.float64] = np.sqrt(squares / (number - 1) / number)
    return MeanTypes(lengths[kept], number[kept], (sums / number)[kept], errors[kept])
