"""Tests on histograms against scipy and R, by enumeration, and their level under the null."""

import math
import shutil
import subprocess
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from textcritic.errors import TextcriticError
from textcritic.inference import (
    Histogram,
    discrete,
    ks_distance,
    ks_fit_test,
    ks_interval,
    ks_test,
    mean_test,
)

ONE = [1, 1, 2, 3, 3, 3, 5, 8]
TWO = [2, 2, 3, 5, 5, 8, 9]


def both(one=ONE, two=TWO):
    return Histogram.of(one), Histogram.of(two)


def error(p, resamples):
    """Five standard errors of a Monte Carlo p-value, and what counting the observed split adds to it."""
    return 5 * math.sqrt(p * (1 - p) / resamples) + 1 / resamples


def every_split(statistic, one, two):
    """The exact p-value of a statistic, over all splits of the documents."""
    pooled = np.array([*one, *two], dtype=float)
    observed, values = statistic(np.array(one), np.array(two)), []
    for chosen in combinations(range(len(pooled)), len(one)):
        inside = np.isin(np.arange(len(pooled)), chosen)
        values.append(statistic(pooled[inside], pooled[~inside]))
    return np.mean(np.array(values) >= observed - 1e-9)


def ks(one, two):
    points = np.unique(np.concatenate([one, two]))
    return np.abs((one[:, None] <= points).mean(axis=0) - (two[:, None] <= points).mean(axis=0)).max()


@pytest.mark.parametrize("seed", range(5))
def test_the_distance_and_its_place_are_scipys(seed):
    rng = np.random.default_rng(seed)
    one, two = rng.poisson(9, 300) / 7, rng.poisson(10, 170) / 7
    expected = stats.ks_2samp(one, two, method="asymp")
    distance, at = ks_distance(*both(one, two))
    assert distance == pytest.approx(expected.statistic, abs=1e-14)
    assert at == expected.statistic_location
    assert ks_test(*both(one, two), resamples=20).distance == distance


def test_without_ties_p_is_that_of_scipys_exact_test():
    rng = np.random.default_rng(3)
    for shift in (0.3, 0.6):
        one, two = rng.normal(0, 1, 30), rng.normal(shift, 1, 25)
        exact = stats.ks_2samp(one, two, method="exact").pvalue
        found = ks_test(*both(one, two), resamples=20_000)
        assert 0.005 < exact < 0.9
        assert found.p == pytest.approx(exact, abs=error(exact, 20_000))


def test_with_ties_p_is_that_of_all_splits():
    exact = every_split(ks, ONE, TWO)
    found = ks_test(*both(), resamples=20_000)
    assert 0.05 < exact < 0.9
    assert found.p == pytest.approx(exact, abs=error(exact, 20_000))
    # Of continuous data it would be another: ties matter here.
    assert abs(stats.ks_2samp(ONE, TWO, method="exact").pvalue - exact) > 2 * error(exact, 20_000)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R (apt-get install r-base-core)")
def test_with_ties_p_is_that_of_r():
    """R computes the exact p-value conditional on the ties, and simulates it; both of documents of 57 tokens or so."""
    rng = np.random.default_rng(8)
    one, two = rng.poisson(57, 60) // 5, rng.poisson(60, 45) // 5
    vectors = [f"c({','.join(map(str, some))})" for some in (one, two)]
    script = (
        f"set.seed(1); a <- {vectors[0]}; b <- {vectors[1]}; exact <- ks.test(a, b, exact = TRUE); "
        "drawn <- ks.test(a, b, simulate.p.value = TRUE, B = 20000); "
        "cat(sprintf('%.12f', c(exact$statistic, exact$p.value, drawn$p.value)))"
    )
    run = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, check=True)
    distance, exact, drawn = map(float, run.stdout.split())
    found = ks_test(*both(one, two), resamples=20_000)
    assert found.distance == pytest.approx(distance, abs=1e-11)
    assert 0.01 < exact < 0.9
    assert found.p == pytest.approx(exact, abs=error(exact, 20_000))
    assert found.p == pytest.approx(drawn, abs=2 * error(exact, 20_000))


@pytest.mark.parametrize("test", [ks_test, mean_test])
def test_under_the_null_p_is_uniform(test):
    """Sets of different sizes, with ties; 400 repetitions reject in a share of 0.1 up to 5 standard errors."""
    rng = np.random.default_rng(5)
    values = [
        test(*both(rng.geometric(0.05, 80), rng.geometric(0.05, 50)), resamples=99, seed=int(rng.integers(1 << 30))).p
        for _ in range(400)
    ]
    assert stats.kstest(values, "uniform").pvalue > 1e-3
    assert abs(np.mean(np.array(values) <= 0.1) - 0.1) < 5 * math.sqrt(0.09 / 400)


def test_sets_that_differ_are_told_apart_and_equal_ones_are_not():
    rng = np.random.default_rng(2)
    one, two = rng.poisson(50, 2000), rng.poisson(52, 1500)
    for found in (ks_test(*both(one, two), resamples=999), mean_test(*both(one, two), resamples=999)):
        assert found.p == 1 / 1000
    same = both(one, one)
    found = ks_test(*same, resamples=99)
    assert (found.distance, found.at, found.p) == (0, one.min(), 1)
    assert mean_test(*same, resamples=99).p == 1


def test_what_chance_does_is_the_distribution_of_kolmogorov():
    """Without ties, in sets large enough for 4%: of 1,000 resamples the mean is within 2%."""
    rng = np.random.default_rng(4)
    found = ks_test(*both(rng.random(1000), rng.random(1500)), resamples=1000)
    scale = math.sqrt(1 / 1000 + 1 / 1500)
    assert found.chance == pytest.approx(stats.kstwobign.mean() * scale, rel=0.05)


def test_the_fit_of_a_die_by_enumeration():
    """All 4^7 throws of a loaded die with four sides."""
    probabilities = np.array([0.1, 0.2, 0.3, 0.4])
    counts = np.array([2, 2, 2, 1])
    distribution = probabilities.cumsum()
    observed, exact = np.abs(counts.cumsum() / 7 - distribution).max(), 0.0
    for cut in combinations(range(10), 3):  # the ways to throw a 7 times, b times, ...: stars and bars
        seen = np.diff([-1, *cut, 10]) - 1
        if np.abs(seen.cumsum() / 7 - distribution).max() >= observed - 1e-12:
            exact += stats.multinomial.pmf(seen, 7, probabilities)
    found = ks_fit_test(counts, probabilities, resamples=20_000)
    assert found.distance == pytest.approx(observed, abs=1e-15)
    assert found.at == int(np.abs(counts.cumsum() / 7 - distribution).argmax())
    assert 0.05 < exact < 0.9
    assert found.p == pytest.approx(exact, abs=error(exact, 20_000))


def test_the_fit_is_that_of_scipys_monte_carlo_test():
    rng = np.random.default_rng(6)
    sample, steps = rng.poisson(3.4, 60), np.arange(20)
    probabilities = np.append(stats.poisson.pmf(steps, 3), stats.poisson.sf(19, 3))

    def distance(data, axis):
        data = np.moveaxis(data, axis, -1)
        seen = np.stack([(data <= step).mean(axis=-1) for step in steps], axis=-1)
        return np.abs(seen - stats.poisson.cdf(steps, 3)).max(axis=-1)

    drawn = np.random.default_rng(1)
    expected = stats.monte_carlo_test(
        sample, lambda size: drawn.poisson(3, size), distance, n_resamples=9999, alternative="greater", vectorized=True
    )
    found = ks_fit_test(np.bincount(sample, minlength=21), probabilities, resamples=9999)
    assert found.distance == pytest.approx(expected.statistic, abs=1e-12)
    assert 0.01 < expected.pvalue < 0.9
    assert found.p == pytest.approx(expected.pvalue, abs=1.5 * error(expected.pvalue, 9999))


def test_the_fit_of_what_was_drawn_from_it_has_uniform_p():
    rng = np.random.default_rng(7)
    zipf = 1 / np.arange(1, 101) ** 1.2
    zipf /= zipf.sum()
    values = [ks_fit_test(rng.multinomial(500, zipf), zipf, 99, int(rng.integers(1 << 30))).p for _ in range(400)]
    assert stats.kstest(values, "uniform").pvalue > 1e-3
    assert ks_fit_test(rng.multinomial(5000, zipf[::-1]), zipf, 99).p == 0.01


def test_counts_beyond_two_to_the_31_are_tested():
    half, resamples = 3_000_000_000, 200
    found = ks_fit_test([half, half + 200_000], [0.5, 0.5], resamples=2000)
    z = 200_000 / 2 / math.sqrt(2 * half / 4)
    exact = 2 * stats.norm.sf(z)
    assert 0.001 < exact < 0.9
    assert found.p == pytest.approx(exact, abs=error(exact, 2000))
    one, two = (Histogram(np.array([1.0, 2.0]), np.array(counts)) for counts in ([half, half + 150_000], [half, half]))
    exact = 2 * stats.norm.sf(150_000 / 4 / half / math.sqrt(2 * 0.25 / (2 * half)))
    assert 0.05 < exact < 0.9
    apart = (Histogram(np.array([value]), np.array([half])) for value in (1.0, 2.0))
    assert ks_distance(*apart) == (1, 1)
    for test in (ks_test, mean_test):
        assert test(one, two, resamples=resamples).p == pytest.approx(exact, abs=error(exact, resamples))


@pytest.mark.parametrize("limit", [1, 1_000_000_000])
def test_splits_have_the_hypergeometric_distribution(monkeypatch, limit):
    """By either way of drawing: every table of 9 documents with three values, 4 of them drawn."""
    monkeypatch.setattr(discrete, "HYPERGEOMETRIC_LIMIT", limit)
    counts = np.array([2, 3, 4])
    drawn = np.concatenate(list(discrete.split_counts(counts, 4, 20_000, np.random.default_rng(3))))
    assert (drawn.sum(axis=1) == 4).all()
    tables = [(a, b, 4 - a - b) for a in range(3) for b in range(4) if 0 <= 4 - a - b <= 4]
    seen = [int((drawn == table).all(axis=1).sum()) for table in tables]
    expected = stats.multivariate_hypergeom(counts, 4).pmf(tables) * 20_000
    assert sum(seen) == 20_000
    assert stats.chisquare(seen, expected).pvalue > 1e-3


def test_the_p_of_means_is_that_of_all_splits():
    exact = every_split(lambda one, two: abs(one.mean() - two.mean()), ONE, TWO)
    found = mean_test(*both(), resamples=20_000)
    assert found.difference == pytest.approx(np.mean(ONE) - np.mean(TWO), abs=1e-12)
    assert exact > 0.1  # so that a tenth of the splits is enough
    assert found.resamples == 2000
    assert found.p == pytest.approx(exact, abs=error(exact, 2000))
    # Exchanged without replacement, the difference has this variance.
    pooled = np.array([*ONE, *TWO])
    variance = pooled.var(ddof=1) * (1 / len(ONE) + 1 / len(TWO))
    assert found.null.var() == pytest.approx(variance, rel=0.05)


def test_p_as_printed_follows_the_algorithm_of_appendix_b():
    """All splits, as the pseudocode has it: one-sided, and 1 where the first mean is smaller."""

    def algorithm_1(one, two):
        pooled = np.array([*one, *two], dtype=float)
        values = []
        for chosen in combinations(range(len(pooled)), len(one)):
            inside = np.isin(np.arange(len(pooled)), chosen)
            values.append(pooled[inside].mean() - pooled[~inside].mean())
        values = np.array(values)
        statistic = np.mean(one) - np.mean(two) - values.mean()
        return np.mean(np.abs(values - values.mean()) >= statistic - 1e-9)

    assert algorithm_1(ONE, TWO) == mean_test(*both()).p_as_printed == 1
    exact = algorithm_1(TWO, ONE)
    assert 0.05 < exact < 0.9
    assert mean_test(*both(TWO, ONE), resamples=20_000).p_as_printed == pytest.approx(exact, abs=error(exact, 20_000))
    far = mean_test(*both(np.arange(50) + 90, np.arange(50)), resamples=99)
    assert (far.p, far.p_as_printed) == (0.01, 0.0)


def test_the_interval_of_means_is_scipys_and_holds_the_truth():
    rng = np.random.default_rng(9)
    one, two = rng.geometric(0.05, 120), rng.geometric(0.06, 150)
    found = mean_test(*both(one, two), resamples=20)
    expected = stats.ttest_ind(one, two, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
    truth, held = 1 / 0.05 - 1 / 0.06, 0
    for seed in range(300):
        some = mean_test(*both(rng.geometric(0.05, 120), rng.geometric(0.06, 150)), resamples=1, seed=seed)
        held += some.low <= truth <= some.high
    assert 0.90 < held / 300 < 0.99


def test_large_values_with_small_differences_keep_their_digits():
    small = mean_test(*both([1, 2, 3, 4], [2, 3, 4, 6]), resamples=500)
    large = mean_test(*both(np.array([1, 2, 3, 4]) + 1e12, np.array([2, 3, 4, 6]) + 1e12), resamples=500)
    assert (large.p, large.difference) == (small.p, pytest.approx(small.difference, abs=1e-3))


@pytest.mark.parametrize("rates", [(0.05, 0.05), (0.05, 0.06), (0.05, 0.5)])
def test_the_interval_of_the_distance_holds_it(rates):
    """Geometric lengths: F1 - F2 is known. Also where both are equal, and where they are far apart."""
    lengths = np.arange(1, 400)
    truth = np.abs(stats.geom(rates[0]).cdf(lengths) - stats.geom(rates[1]).cdf(lengths)).max()
    rng, widths, held = np.random.default_rng(10), [], 0
    for seed in range(200):
        sets = both(rng.geometric(rates[0], 150), rng.geometric(rates[1], 200))
        found = ks_interval(*sets, resamples=200, seed=seed)
        assert 0 <= found.low <= found.estimate <= found.high <= 1
        held += found.low <= truth <= found.high
        widths.append(found.high - found.low)
    assert held / 200 > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 200)
    # No wider than what holds for any distributions, the inequality of Dvoretzky, Kiefer and Wolfowitz for each set.
    assert max(widths) < 2 * sum(math.sqrt(math.log(2 / 0.025) / 2 / size) for size in (150, 200))


def test_the_interval_of_two_shares_is_that_of_normals():
    """With two values, the distance is the difference of two shares."""
    first, second = (Histogram(np.array([0.0, 1.0]), np.array(counts)) for counts in ([3000, 7000], [4500, 5500]))
    found = ks_interval(first, second, resamples=20_000, level=0.9)
    reach = stats.norm.ppf(0.95) * math.sqrt(0.3 * 0.7 / 10_000 + 0.45 * 0.55 / 10_000)
    assert found.estimate == pytest.approx(0.15)
    assert (found.low, found.high) == pytest.approx((0.15 - reach, 0.15 + reach), abs=0.03 * reach)


def test_the_result_depends_on_the_seed_alone():
    first = ks_test(*both(), resamples=50, seed=3), mean_test(*both(), resamples=50, seed=3)
    again = ks_test(*both(), resamples=50, seed=3), mean_test(*both(), resamples=50, seed=3)
    other = mean_test(*both(), resamples=50, seed=4)
    assert np.array_equal(first[0].null, again[0].null)
    assert np.array_equal(first[1].null, again[1].null)
    assert not np.array_equal(first[1].null, other.null)


def test_chunks_change_nothing(monkeypatch):
    probabilities = np.full(9, 1 / 9)

    def every():
        mean = mean_test(*both(), resamples=50)
        tests = ks_test(*both(), resamples=50), ks_fit_test(range(9), probabilities, resamples=50)
        return [(test.p, *test.null) for test in tests], (mean.p, mean.low, mean.high, *mean.null)

    whole = every()
    monkeypatch.setattr("textcritic.inference.bootstrap.CHUNK_DRAWS", 40)
    assert every() == whole
    assert ks_interval(*both(), resamples=50).resamples == 50


def test_the_two_sets_are_drawn_independently():
    """The interval of a set's difference from its own copy is that of two sets."""
    found = mean_test(*both(range(100), range(100)), resamples=50)
    reach = stats.t.ppf(0.975, 198) * np.std(range(100), ddof=1) * math.sqrt(2 / 100)
    assert (found.low, found.high) == pytest.approx((-reach, reach), rel=1e-9)


def test_sets_without_variation():
    same = Histogram.of([2.0] * 5), Histogram.of([2.0] * 2)
    found = mean_test(*same, resamples=20)
    assert (found.difference, found.low, found.high, found.p, found.p_as_printed) == (0, 0, 0, 1, 1)
    assert (ks_test(*same, resamples=20).p, ks_fit_test([7], [1.0], resamples=20).p) == (1, 1)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ks_test(*both(), resamples=0), "KS test: 0 resamples"),
        (lambda: mean_test(*both(), resamples=0), "mean test: 0 resamples"),
        (lambda: mean_test(*both(), level=1.0), "level 1.0"),
        (lambda: ks_interval(*both(), resamples=0), "KS interval: 0 resamples"),
        (lambda: ks_interval(*both(), level=0.0), "level 0.0"),
        (lambda: ks_fit_test([1, 2], [1.0]), r"\(2,\) counts and \(1,\) probabilities"),
        (lambda: ks_fit_test([0, 0], [0.5, 0.5]), "no observations"),
        (lambda: ks_fit_test([3, -1], [0.5, 0.5]), "negative count"),
        (lambda: ks_fit_test([1, 2], [0.5, 0.4]), "add up to 0.9"),
        (lambda: ks_fit_test([1, 2], [1.5, -0.5]), "are negative"),
        (lambda: ks_fit_test([1, 2], [math.nan, 0.5]), "add up to nan"),
        (lambda: ks_fit_test([1, 2], [0.5, 0.5], resamples=0), "0 resamples"),
        (lambda: ks_distance(Histogram(np.empty(0), np.empty(0, np.int64)), Histogram.of([1])), "no documents"),
    ],
)
def test_bad_input(call, says):
    with pytest.raises(TextcriticError, match=says):
        call()
