"""Zipf's and Heaps' law: the fits against powerlaw and statsmodels, as ratios measured in one run; a Monte Carlo test.

Both libraries take one row a token or a document, and are given what they can take in some seconds. All times are of
the CPU. A test of 57 million tokens, as many as the paper's test set has, should take under 10 seconds.
"""

import numpy as np
import powerlaw
import pytest
import statsmodels.api as sm
from timing import cpu_seconds

from textcritic.critics.tendencies.heaps import fit_heaps
from textcritic.critics.tendencies.zipf import fit_zipf, fit_zipf_many, log_rank_mean
from textcritic.critics.tendencies.zipf_distances import zipf_fit_p
from textcritic.critics.tendencies.zipf_draws import ZipfDraws

LEAST = 20  # times as fast as powerlaw
TOKENS = 57_000_000


def test_zipfs_law(benchmark, capsys):
    """One rank a token goes into both; ranks are those of the law, not sorted anew."""
    ranks = np.random.default_rng(1).zipf(1.6, 500_000)
    ranks = ranks[ranks < 10**5]
    peers, peer = cpu_seconds(lambda: powerlaw.Fit(ranks, discrete=True, xmin=1, verbose=False).power_law.alpha)

    def fit():
        return float(fit_zipf_many([log_rank_mean(np.bincount(ranks)[1:])], None)[0])

    ours, own = cpu_seconds(fit, repeats=20)
    benchmark.pedantic(fit, rounds=5)
    with capsys.disabled():
        print(
            f"\nzipf: {len(ranks):,} ranks: s {own:.5f} in {1000 * ours:.1f} CPU-milliseconds; powerlaw {peer:.5f} in"
            f" {1000 * peers:.0f}; {peers / ours:,.0f} times as fast"
        )
    assert own == pytest.approx(peer, abs=1e-3)
    assert peers / ours > LEAST


def test_a_test_of_57_million_tokens(benchmark, capsys):
    sample = ZipfDraws.of(TOKENS, 1.2, None).draw(np.random.default_rng(2))
    counts = np.concatenate([sample.high, np.repeat(np.arange(len(sample.words), 0, -1), sample.words[::-1])])
    fitting, fit = cpu_seconds(lambda: fit_zipf(counts))
    testing, test = benchmark.pedantic(
        lambda: cpu_seconds(lambda: zipf_fit_p(counts, ["renormalised-empirical"], resamples=1000)), rounds=1
    )
    with capsys.disabled():
        print(
            f"\nzipf: {len(counts):,} types, {counts.sum():,} tokens: a fit takes {fitting:.2f} CPU-seconds (s"
            f" {fit.s:.5f}), 1,000 simulations, each refitted, {testing:.1f}"
        )
    assert test["renormalised-empirical"].s == fit.s


def test_heaps_law(benchmark, capsys):
    rng = np.random.default_rng(3)
    lengths = rng.geometric(1 / 57, 1_000_000)
    types = rng.poisson(1.39 * lengths**0.841)

    def expanded():
        model = sm.GLM(types, sm.add_constant(np.log(lengths)), family=sm.families.Poisson())
        return model.fit(cov_type="HC0")

    peers, peer = cpu_seconds(expanded)
    ours, fit = cpu_seconds(lambda: fit_heaps(lengths, types), repeats=5)
    benchmark.pedantic(fit_heaps, (lengths, types), rounds=3)
    with capsys.disabled():
        print(
            f"\nheaps: {len(lengths):,} documents: beta {fit.beta:.5f} in {ours:.3f} CPU-seconds; statsmodels"
            f" {peer.params[1]:.5f} in {peers:.1f}; {peers / ours:,.0f} times as fast"
        )
    assert (np.log(fit.alpha), fit.beta) == pytest.approx(tuple(peer.params), abs=1e-8)
    assert peers / ours > 5
