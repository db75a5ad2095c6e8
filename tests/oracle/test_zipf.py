"""Zipf's law: mpmath's zeta function, powerlaw, scipy's own laws, loops, and samples of known laws."""

import mpmath
import numpy as np
import powerlaw
import pytest
import scipy.optimize
import scipy.stats

from textcritic.critics.tendencies.zipf import (
    fit_zipf,
    fit_zipf_many,
    gram_points,
    log_rank_mean,
    rank_sums,
    zipf_sums,
    zipf_sums_at,
)
from textcritic.errors import TextcriticError
from textcritic.inference import jackknife_variance

KNOWN = 1.1997  # of the test set, Table 4


def descending(values):
    return np.sort(np.unique(values, return_counts=True)[1])[::-1]


def truncated(tokens, s, ranks, seed):
    law = np.arange(1, ranks + 1) ** -float(s)
    return np.random.default_rng(seed).multinomial(tokens, law / law.sum())


@pytest.mark.parametrize("s", [1.0001, 1.05, KNOWN, 2.0, 5.0, 40.0])
def test_sums_over_all_ranks_are_zeta_and_its_derivatives(s):
    with mpmath.workdps(40):
        zeta, first, second = (mpmath.zeta(s, derivative=order) for order in range(3))
        mean = -first / zeta
        expected = [float(value) for value in (zeta, mean, second / zeta - mean**2)]
    assert [float(value[0]) for value in rank_sums(None).moments(np.array([s]))] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("ranks", [2, 31, 32, 33, 44, 45, 1000, 10_000, 1_234_567])
@pytest.mark.parametrize("s", [-1.0, 0.0, 0.5, 1.0, 1.2, 3.0])
def test_sums_over_the_first_ranks(ranks, s):
    logs = np.log(np.arange(1, ranks + 1))
    terms = np.exp(-s * logs)
    mean = terms @ logs / terms.sum()
    expected = [terms.sum(), mean, terms @ (logs - mean) ** 2 / terms.sum()]
    assert [v[0] for v in rank_sums(ranks).moments(np.array([s]))] == pytest.approx(expected, rel=1e-11)


def test_mass_beyond_the_first_10_000_ranks():
    """The value that Table 2 prints for four models: facts about the paper, 1.2."""
    first, whole = zipf_sums(KNOWN, 10_000)
    assert 1 - first[-1] / whole == pytest.approx(0.1421, abs=5e-5)
    assert whole == pytest.approx(float(mpmath.zeta(KNOWN)), rel=1e-12)


@pytest.mark.parametrize("s", [0.0, 0.5, 1.0, 1.2, 3.0, 40.0])
def test_sums_at_some_ranks_are_those_of_each_rank(s):
    ranks = np.arange(20_001)
    expected = np.append(0, np.cumsum(ranks[1:] ** -s))
    assert zipf_sums_at(np.array([s]), ranks[None])[0] == pytest.approx(expected, rel=2e-12)


def test_powerlaw_fits_the_same_exponent():
    """Their likelihood too is Clauset's; it takes one number a token, and its maximum to 1e-4 or so."""
    ranks = np.random.default_rng(3).zipf(1.6, 4000)
    ranks = ranks[ranks < 10**6]
    peer = powerlaw.Fit(ranks, discrete=True, xmin=1, verbose=False).power_law
    own = float(fit_zipf_many([np.log(ranks).mean()], None)[0])
    assert own == pytest.approx(peer.alpha, abs=2e-4)

    def nll(s):
        return len(ranks) * np.log(float(mpmath.zeta(s))) + s * np.log(ranks).sum()

    assert nll(own) <= nll(peer.alpha)


def test_scipys_laws_have_the_same_maximum():
    counts = np.sort(truncated(5000, 1.3, 60, 4))[::-1]
    ranks = np.repeat(np.arange(1, len(counts) + 1), counts)
    for law, support, fixed in (
        (scipy.stats.zipf, "infinite", ()),
        (scipy.stats.zipfian, "first", (80,)),
        (scipy.stats.zipfian, "observed", (int((counts > 0).sum()),)),
    ):
        fit = fit_zipf(counts, support, ranks=80)

        def nll(s, law=law, fixed=fixed):
            return -law.logpmf(ranks, s, *fixed).sum()

        peer = scipy.optimize.minimize_scalar(nll, bounds=(1.01, 3), method="bounded", options={"xatol": 1e-9})
        assert fit.s == pytest.approx(peer.x, abs=1e-6)
        assert fit.log_likelihood == pytest.approx(-nll(fit.s), rel=1e-12)
        curvature = (nll(fit.s + 1e-3) - 2 * nll(fit.s) + nll(fit.s - 1e-3)) / 1e-6
        assert fit.standard_error == pytest.approx(curvature**-0.5, rel=1e-4)
    assert (fit.tokens, fit.types, fit.ranks) == (5000, (counts > 0).sum(), fixed[0])


def test_first_leaves_out_what_is_beyond():
    counts = np.sort(truncated(20_000, 1.1, 500, 5))[::-1]
    part = fit_zipf(counts, "first", ranks=50)
    assert part == fit_zipf(counts[:50], "first", ranks=50)
    assert part.tokens == counts[:50].sum()
    assert part.s != fit_zipf(counts, "first", ranks=500).s


def test_a_law_of_all_ranks_may_be_fitted_to_the_counts_of_the_first():
    """The likelihood of these counts alone, by mpmath: s is larger than of all counts, and of the cut law."""
    counts = descending(np.random.default_rng(8).zipf(KNOWN, 20_000))
    fit = fit_zipf(counts, "infinite-of-first", ranks=1000)
    tokens, logs = int(counts[:1000].sum()), float(counts[:1000] @ np.log(np.arange(1, 1001)))

    def nll(s):
        return tokens * float(mpmath.log(mpmath.zeta(s))) + s * logs

    peer = scipy.optimize.minimize_scalar(nll, bounds=(1.01, 3), method="bounded", options={"xatol": 1e-9})
    assert fit.s == pytest.approx(peer.x, abs=1e-6)
    assert (fit.ranks, fit.tokens, fit.types) == (None, tokens, 1000)
    assert fit.log_likelihood == pytest.approx(-nll(fit.s), rel=1e-12)
    assert fit.s > fit_zipf(counts).s > fit_zipf(counts, "first", ranks=1000).s
    # With no more ranks than that it is the law of all counts.
    assert fit_zipf(counts[:1000], "infinite-of-first", ranks=1000).s == fit_zipf(counts[:1000]).s == fit.s


def test_known_exponents_come_back_with_nominal_coverage():
    """A law of 40 ranks and 100,000 tokens keeps its order, so that the fit has no bias of ranks."""
    covered, trials = 0, 400
    for seed in range(trials):
        fit = fit_zipf(np.sort(truncated(100_000, 1.5, 40, seed))[::-1], "first", ranks=40)
        covered += abs(fit.s - 1.5) < 1.959964 * fit.standard_error
    assert 1e-3 < scipy.stats.binom.cdf(covered, trials, 0.95) < 1 - 1e-3, covered


def test_many_fits_are_those_of_one():
    samples = [np.sort(truncated(3000, s, 200, seed))[::-1] for seed, s in enumerate((0.2, 0.9, 1.0, 1.4, 4.0))]
    means = [log_rank_mean(sample) for sample in samples]
    for support, ranks in (("infinite", None), ("first", 200)):
        assert fit_zipf_many(means, ranks) == pytest.approx([fit_zipf(c, support, 200).s for c in samples], rel=1e-12)


@pytest.mark.parametrize("ranks", [None, 3, 10_000])
def test_the_law_has_the_mean_that_it_was_fitted_to(ranks):
    means = 10.0 ** np.random.default_rng(6).uniform(-18, np.log10(0.5 if ranks == 3 else 6), 500)
    fits = fit_zipf_many(means, ranks)
    assert rank_sums(ranks).moments(fits)[1] == pytest.approx(means, rel=1e-10)


def test_counts_beyond_32_bits():
    counts = np.array([2**40, 2**39, 2**38, 3])
    assert fit_zipf(counts).s == pytest.approx(float(fit_zipf_many([log_rank_mean(counts)], None)[0]))
    assert fit_zipf(counts).tokens == 2**40 + 2**39 + 2**38 + 3
    expected = (2**39 * np.log(2) + 2**38 * np.log(3) + 3 * np.log(4)) / (2**40 + 2**39 + 2**38 + 3)
    assert log_rank_mean(counts) == pytest.approx(expected, rel=1e-14)


def test_equal_counts_have_no_slope():
    assert fit_zipf([5, 5, 5], "observed").s == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("counts", "options", "says"),
    [
        ([7], {}, "all tokens are one word"),
        ([7, 0, 0], {"support": "observed"}, "all tokens are one word"),
        ([7, 1], {"support": "first", "ranks": 1}, "the first 1 ranks; give at least 2"),
        ([3, 4], {}, "not in descending order"),
        ([3, -1], {}, "negative"),
        ([3.5, 1.0], {}, "give int64"),
        ([[3, 1]], {}, "give int64"),
        ([0, 0], {}, "there is no token"),
        ([3, 1], {"support": "infinite-of-first", "ranks": 1}, "the first 1 ranks; give at least 2"),
        ([3, 1], {"support": "all"}, "no support 'all'; one of infinite, observed, first"),
    ],
)
def test_counts_that_have_no_fit(counts, options, says):
    with pytest.raises(TextcriticError, match=says):
        fit_zipf(counts, **options)


def test_means_that_have_no_fit():
    with pytest.raises(TextcriticError, match="high ranks have more tokens"):
        fit_zipf_many([np.log(100)], 100)
    with pytest.raises(TextcriticError, match="all tokens are one word"):
        fit_zipf_many([1.0, 0.0], None)


def test_jackknife_over_groups_of_tokens_agrees_with_the_standard_error():
    """Tokens that are independent: both estimate the same, up to what 50 groups let the jackknife vary."""
    law = np.arange(1, 41) ** -1.5
    groups = np.random.default_rng(8).multinomial(2000, law / law.sum(), size=50)
    whole = groups.sum(axis=0)
    without = fit_zipf_many([log_rank_mean(np.sort(whole - group)[::-1]) for group in groups], 40)
    error = fit_zipf(np.sort(whole)[::-1], "first", 40).standard_error
    ratio = float(jackknife_variance(without)) / error**2
    assert scipy.stats.chi2.ppf(1e-4, 49) / 49 < ratio < scipy.stats.chi2.isf(1e-4, 49) / 49


@pytest.mark.parametrize("number", [2**33, np.int64(2**33), np.int64(2**40)])
def test_sums_over_more_ranks_than_a_square_of_64_bits_holds(number):
    """The sums of 1, k and k^2 over k = 0, ..., n - 1, in closed form."""
    points, weights = gram_points(number)
    n = int(number)
    assert weights.sum() == pytest.approx(n, rel=1e-12)
    assert weights @ points == pytest.approx(n * (n - 1) // 2, rel=1e-12)
    assert weights @ points**2 == pytest.approx((n - 1) * n * (2 * n - 1) // 6, rel=1e-12)
