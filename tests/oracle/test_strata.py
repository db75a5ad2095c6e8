"""Tests by stratum: scipy's distance, every split of tiny strata, uniform p-values, and closed forms."""

from itertools import combinations, product

import numpy as np
import pytest
import scipy.stats

from textcritic.errors import TextcriticError
from textcritic.inference import Histogram, strata_difference, strata_test


def strata(*pairs):
    return [(Histogram.of(np.array(one, float)), Histogram.of(np.array(other, float))) for one, other in pairs]


def ks(one, other):
    return scipy.stats.ks_2samp(one, other).statistic


def test_one_stratum_is_the_distance_of_scipy():
    rng = np.random.default_rng(1)
    one, other = rng.poisson(5, 80), rng.poisson(6, 130)
    found = strata_test(strata((one, other)), resamples=20)
    assert found.distance == pytest.approx(ks(one, other), abs=1e-12)
    assert found.each.tolist() == [found.distance]


def test_p_is_that_of_every_split():
    pairs = (([1, 4, 5], [1, 2]), ([0, 0], [3, 1, 1]))
    weights = np.array([2, 3]) / 5
    each = []
    for one, other in pairs:
        pooled = np.array([*one, *other])
        splits = [list(chosen) for chosen in combinations(range(len(pooled)), len(one))]
        each.append([ks(pooled[chosen], np.delete(pooled, chosen)) for chosen in splits])
    every = np.array([weights @ both for both in product(*each)])
    observed = weights @ [ks(*pair) for pair in pairs]
    expected = (every >= observed - 1e-12).mean()
    found = strata_test(strata(*pairs), resamples=20_000)
    assert found.distance == pytest.approx(observed, abs=1e-12)
    assert abs(found.p - expected) < 5 * np.sqrt(expected * (1 - expected) / 20_000)
    assert found.chance == pytest.approx(every.mean(), abs=5 * every.std() / np.sqrt(20_000))


def test_p_is_uniform_where_nothing_differs():
    ps = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        pairs = strata(*((rng.poisson(mean, 40), rng.poisson(mean, 60)) for mean in (5, 9)))
        ps.append(strata_test(pairs, resamples=99, seed=seed).p)
    # p is at most `level` with at most that probability, and hardly less often, as distances have ties.
    for level in (0.05, 0.2, 0.5):
        assert 1e-4 < scipy.stats.binom.cdf(np.sum(np.array(ps) <= level), 300, level) < 1 - 1e-4


MEANS = {"equal": ((5, 5), (9, 9)), "near": ((5, 5.5), (9, 9.5)), "far": ((5, 9), (9, 15))}


@pytest.mark.parametrize("means", MEANS.values(), ids=MEANS)
def test_the_interval_holds_the_distance_of_the_sources(means):
    """Also where it is 0. Poisson numbers: the distance is known. It is simultaneous, so that it may be too wide."""
    sizes, weights, trials, held, values = ((150, 80), (140, 90)), np.array([80, 90]) / 170, 200, 0, np.arange(60)
    laws = [[scipy.stats.poisson(mean).cdf(values) for mean in pair] for pair in means]
    truth, positive = weights @ [np.abs(one - other).max() for one, other in laws], 0
    for seed in range(trials):
        rng = np.random.default_rng([2, seed])
        pairs = [
            [rng.poisson(m, n) for m, n in zip(pair, both, strict=True)]
            for pair, both in zip(means, sizes, strict=True)
        ]
        found = strata_test(strata(*pairs), resamples=200, seed=seed)
        assert 0 <= found.low <= found.high <= 1
        held += found.low <= truth <= found.high
        positive += found.low > 0
    assert scipy.stats.binom.cdf(held, trials, 0.95) > 1e-3, held
    assert positive <= 10 or means != MEANS["equal"]
    assert positive == trials or means != MEANS["far"]


def test_the_interval_is_wider_at_a_higher_level():
    rng = np.random.default_rng(4)
    sets = strata((rng.poisson(5, 80), rng.poisson(6, 90)), (rng.poisson(9, 50), rng.poisson(9, 40)))
    ends = [(found.low, found.high) for level in (0.5, 0.9, 0.99) if (found := strata_test(sets, level=level))]
    assert ends[2][0] < ends[1][0] < ends[0][0] < strata_test(sets).distance < ends[0][1] < ends[1][1] < ends[2][1]


def test_the_relative_difference_is_that_of_the_means():
    pairs = (([1.0, 3.0, 5.0], [2.0, 2.0]), ([0.0, 4.0], [1.0, 2.0, 6.0]))
    offsets, weights = np.array([10.0, 20.0]), np.array([2, 3]) / 5
    found = strata_difference(strata(*pairs), offsets)
    gaps = [(np.mean(a) - np.mean(b)) / (np.mean(b) + o) for (a, b), o in zip(pairs, offsets, strict=True)]
    assert found.difference == pytest.approx(weights @ gaps, abs=1e-12)
    errors = [
        (np.var(a, ddof=1) / len(a) + np.var(b, ddof=1) / len(b)) / (np.mean(b) + o) ** 2
        for (a, b), o in zip(pairs, offsets, strict=True)
    ]
    parts = [(np.var(o, ddof=1) / len(o), len(o) - 1) for pair in pairs for o in pair]
    scale = np.repeat((weights / [np.mean(b) + o for (_, b), o in zip(pairs, offsets, strict=True)]) ** 2, 2)
    variances = scale * [v for v, _ in parts]
    freedom = variances.sum() ** 2 / sum(variances**2 / [n for _, n in parts])
    half = scipy.stats.t.ppf(0.975, freedom) * np.sqrt(weights**2 @ errors)
    assert (found.low, found.high) == pytest.approx((found.difference - half, found.difference + half), abs=1e-12)


@pytest.mark.parametrize(
    ("weights", "resamples", "says"),
    [([1, 2], 9, "1 strata with weights"), ([-1], 9, "give one of at least 0"), (None, 0, "0 resamples")],
)
def test_bad_input(weights, resamples, says):
    with pytest.raises(TextcriticError, match=says):
        strata_test(strata(([1], [2])), weights, resamples)


def test_each_stratum_has_a_p_value_of_its_own():
    rng = np.random.default_rng(4)
    alike = Histogram.of(rng.integers(0, 9, 60)), Histogram.of(rng.integers(0, 9, 50))
    apart = Histogram.of(rng.integers(0, 9, 60)), Histogram.of(rng.integers(4, 13, 50))
    found = strata_test([alike, apart])
    assert found.each_p[0] > 0.1
    assert found.each_p[1] == 1 / (len(found.null) + 1)
    for one in (alike, apart):
        alone = strata_test([one])
        assert alone.each_p.tolist() == [alone.p]
