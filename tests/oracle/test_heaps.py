"""Heaps' law: statsmodels' Poisson regression, samples of known laws, and tests at each length."""

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm

from textcritic.critics.tendencies.heaps import TypesByLength, fit_heaps, fit_heaps_many
from textcritic.critics.tendencies.type_token import Documents, law_distances, length_classes, type_token_test
from textcritic.errors import TextcriticError

ALPHA, BETA = 1.390, 0.841  # of the test set, Table 4


def documents(number, seed, alpha=ALPHA, beta=BETA, mean=57):
    rng = np.random.default_rng(seed)
    lengths = rng.geometric(1 / mean, number)
    return lengths, rng.poisson(alpha * lengths**beta)


def types_of_tokens(number, seed):
    """Distinct words of documents of tokens of Zipf's law: they vary less than Poisson numbers."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 80, number)
    return lengths, np.array([len(np.unique(rng.zipf(1.5, length))) for length in lengths])


@pytest.mark.parametrize(
    "data", [documents(3000, 1), types_of_tokens(400, 2), ([1, 4, 4], [1, 3, 2]), ([2, 2, 9], [1, 0, 7])]
)
def test_it_is_the_poisson_regression_of_statsmodels(data):
    lengths, types = np.array(data[0]), np.array(data[1])
    model = sm.GLM(types, sm.add_constant(np.log(lengths)), family=sm.families.Poisson())
    peer, robust = model.fit(tol=1e-14), model.fit(tol=1e-14, cov_type="HC0")
    fit = fit_heaps(lengths, types)
    assert (np.log(fit.alpha), fit.beta) == pytest.approx(tuple(peer.params), rel=1e-9, abs=1e-9)
    assert fit.covariance == pytest.approx(np.asarray(peer.cov_params()), rel=1e-6)
    assert fit.robust_covariance == pytest.approx(np.asarray(robust.cov_params()), rel=1e-6, abs=1e-14)
    assert fit.documents == len(lengths)


def test_counts_are_documents():
    lengths, types = documents(500, 3)
    times = np.random.default_rng(3).integers(0, 4, 500)
    counted, listed = fit_heaps(lengths, types, times), fit_heaps(np.repeat(lengths, times), np.repeat(types, times))
    assert (counted.alpha, counted.beta) == pytest.approx((listed.alpha, listed.beta), rel=1e-12)
    assert counted.robust_covariance == pytest.approx(listed.robust_covariance, rel=1e-10)
    assert counted.documents == times.sum()


@pytest.mark.parametrize("dense", [True, False])
def test_distinct_pairs(monkeypatch, dense):
    if not dense:
        monkeypatch.setattr("textcritic.critics.tendencies.heaps.DENSE", 0)
    table = TypesByLength.of([3, 1, 3, 3, 10], [2, 1, 2, 3, 9], [1, 1, 2, 1, 0])
    assert [table.lengths.tolist(), table.types.tolist(), table.counts.tolist()] == [[1, 3, 3], [1, 2, 3], [1, 3, 1]]
    lengths, number, sums, squares = table.by_length()
    assert [lengths.tolist(), number.tolist(), sums.tolist()] == [[1, 3], [1, 4], [1, 9]]
    assert squares == pytest.approx([0, 3 * 0.25**2 + 0.75**2])


def test_known_parameters_come_back_with_nominal_coverage():
    trials, covered = 300, np.zeros(2, dtype=int)
    for seed in range(trials):
        fit = fit_heaps(*documents(400, seed))
        errors = np.sqrt(np.diag(fit.covariance))
        covered += np.abs([np.log(fit.alpha / ALPHA), fit.beta - BETA]) < 1.959964 * errors
    assert all(1e-3 < scipy.stats.binom.cdf(c, trials, 0.95) < 1 - 1e-3 for c in covered), covered


def test_robust_errors_hold_where_types_are_not_poisson():
    """Half the variance of Poisson numbers: robust intervals have their level, those of the law are too wide."""
    trials, covered, wide = 300, 0, 0
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        lengths = rng.integers(4, 60, 400)
        fit = fit_heaps(lengths, rng.binomial(2 * lengths, 0.5))
        covered += abs(fit.beta - 1) < 1.959964 * np.sqrt(fit.robust_covariance[1, 1])
        wide += abs(fit.beta - 1) < 1.959964 * np.sqrt(fit.covariance[1, 1])
    assert 1e-3 < scipy.stats.binom.cdf(covered, trials, 0.95) < 1 - 1e-3, covered
    assert wide > 0.98 * trials


def test_many_fits_are_those_of_one():
    samples = [
        documents(300, seed, alpha, beta) for seed, (alpha, beta) in enumerate([(1.4, 0.8), (1.0, 1.0), (3, 0.3)])
    ]
    lengths = np.unique(np.concatenate([one[0] for one in samples]))
    number = np.array([(one[0][:, None] == lengths).sum(axis=0) for one in samples])
    sums = np.array([(one[1][:, None] * (one[0][:, None] == lengths)).sum(axis=0) for one in samples])
    many = fit_heaps_many(lengths, number, sums)
    single = [fit_heaps(*one) for one in samples]
    assert many.alpha == pytest.approx([fit.alpha for fit in single], rel=1e-10)
    assert many.beta == pytest.approx([fit.beta for fit in single], rel=1e-10)


@pytest.mark.parametrize(
    ("lengths", "types"), [([1, 1000], [1000, 1]), ([1, 100, 10**6], [1, 50, 300_000]), ([5, 7, 9], [10**6, 1, 2])]
)
def test_hard_starts_reach_the_maximum(lengths, types):
    """At the maximum of a Poisson regression, residuals are orthogonal to 1 and to the log length."""
    fit = fit_heaps(lengths, types)
    residuals = np.array(types) - fit.alpha * np.array(lengths, float) ** fit.beta
    assert np.abs(residuals.sum()) < 1e-7 * np.sum(types)
    assert np.abs(residuals @ np.log(lengths)) < 1e-6 * np.sum(types)


def capped(number, seed, alpha=ALPHA, mean=57):
    """Documents that can be: none has more types than tokens."""
    lengths, types = documents(number, seed, alpha, 0.8, mean)
    return lengths, np.clip(types, 1, lengths)


def test_distances_at_each_length_are_those_of_scipy():
    sample, real = capped(1500, 5, 1.6, 6), capped(1500, 6, mean=6)
    both = [Documents.of(*one) for one in (sample, real)]
    lengths = [n for n in range(1, 60) if min((one[0] == n).sum() for one in (sample, real)) >= 60]
    classes = np.array([[n, n] for n in lengths])
    assert 4 < len(classes) < 15
    for law in (fit_heaps(*sample), fit_heaps(*real)):
        found = law_distances(both[0], law, classes, resamples=50)
        assert found.lengths.tolist() == lengths
        for length, distance in zip(lengths, found.distances, strict=True):
            own, grid = sample[1][sample[0] == length], np.arange(length + 2)
            seen = (own[:, None] <= grid).mean(axis=0)
            expected = np.abs(seen - scipy.stats.poisson.cdf(grid, law.alpha * length**law.beta)).max()
            assert distance == pytest.approx(expected, abs=1e-12)
    by_length = type_token_test(both[1], both[0], least=60, resamples=20).by_length
    single = [place for place, length in enumerate(by_length.lengths) if length in lengths]
    assert len(single) == len(lengths)
    for place in single:
        one, other = (types[at == by_length.lengths[place]] for at, types in (sample, real))
        assert by_length.distances[place] == pytest.approx(scipy.stats.ks_2samp(one, other).statistic, abs=1e-12)


@pytest.mark.parametrize(
    ("lengths", "types", "counts", "says"),
    [
        ([5, 5, 5], [3, 4, 5], None, "all documents have one length"),
        ([5, 6], [0, 0], None, "types at one length only, or none"),
        ([0, 6], [0, 3], None, "a length below 1"),
        ([5, 6], [3, -1], None, "negative types"),
        ([5, 6], [3, 4], [0, 0], "no document"),
        ([5, 6], [3, 4], [2, -1], "negative counts"),
        ([], [], None, "give whole numbers|no document"),
        ([5, 6], [3, 4, 5], None, "give whole numbers"),
        ([5.0, 6.0], [3, 4], None, "give whole numbers"),
    ],
)
def test_documents_that_have_no_fit(lengths, types, counts, says):
    with pytest.raises(TextcriticError, match=says):
        fit_heaps(lengths, types, counts)


def test_samples_that_do_not_match():
    with pytest.raises(TextcriticError, match=r"they are \[L\], \[B, L\] and \[B, L\]"):
        fit_heaps_many([1, 2], [[1, 2]], [1, 2])
    one, other = Documents.of([1, 2, 3], [1, 2, 2]), Documents.of([40, 50], [3, 4])
    with pytest.raises(TextcriticError, match="no narrow range of lengths has 2 documents of each set"):
        length_classes(one, other, least=2)
