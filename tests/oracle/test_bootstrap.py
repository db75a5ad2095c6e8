"""Bootstrap intervals against scipy with the same generator, and against all resamples of a tiny set."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from textcritic.errors import TextcriticError
from textcritic.inference import bootstrap, bootstrap_interval, exp_ratio_of_sums, ratio_of_sums, with_ones


def documents(n, seed=0):
    rng = np.random.default_rng(seed)
    steps = rng.integers(2, 9, n)
    return np.column_stack([rng.gamma(2.0, 1.0, n) * steps, steps]).astype(float)


@pytest.mark.parametrize("chunk", [bootstrap.CHUNK_DRAWS, 1000, 1])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_ratio_of_sums_equals_scipy(monkeypatch, chunk, level):
    monkeypatch.setattr(bootstrap, "CHUNK_DRAWS", chunk)
    columns = documents(137)
    found = bootstrap_interval(columns, exp_ratio_of_sums, resamples=999, level=level, seed=7)
    expected = stats.bootstrap(
        (columns[:, 0], columns[:, 1]),
        lambda nll, steps, axis: np.exp(nll.sum(axis) / steps.sum(axis)),
        n_resamples=999,
        paired=True,
        method="percentile",
        confidence_level=level,
        rng=np.random.default_rng(7),
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    assert found.estimate == pytest.approx(math.exp(columns[:, 0].sum() / columns[:, 1].sum()), rel=1e-14)


def test_defaults_are_a_level_of_95_percent_ten_thousand_resamples_and_seed_1():
    columns = documents(30)
    found = bootstrap_interval(columns, ratio_of_sums)
    assert (found.level, found.resamples) == (0.95, 10_000)
    assert found == bootstrap_interval(columns, ratio_of_sums, resamples=10_000, level=0.95, seed=1)
    assert found != bootstrap_interval(columns, ratio_of_sums, seed=2)


def test_the_seed_matters_where_equal_rows_are_drawn_together(monkeypatch):
    monkeypatch.setattr(bootstrap, "MANY_DOCUMENTS", 10)
    columns = np.tile(documents(5), (20, 1))
    first, again, other = (bootstrap_interval(columns, ratio_of_sums, resamples=200, seed=s) for s in (1, 1, 2))
    assert first == again != other


def test_mean_equals_scipy():
    x = documents(50)[:, 0]
    found = bootstrap_interval(with_ones(x), ratio_of_sums, resamples=2000, seed=3)
    expected = stats.bootstrap((x,), np.mean, n_resamples=2000, method="percentile", rng=np.random.default_rng(3))
    interval = expected.confidence_interval
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-12)


def test_tiny_set_equals_the_enumeration_of_all_resamples():
    columns = np.array([[1.0, 1.0], [5.0, 2.0], [2.0, 3.0], [9.0, 4.0]])
    everything = np.array([columns[list(draw)].sum(axis=0) for draw in itertools.product(range(4), repeat=4)])
    exact = np.sort(ratio_of_sums(everything))
    resamples = 40_000
    for level in (0.5, 0.8, 0.9):
        found = bootstrap_interval(columns, ratio_of_sums, resamples=resamples, level=level, seed=1)
        for value, tail in ((found.low, (1 - level) / 2), (found.high, (1 + level) / 2)):
            # The empirical quantile lies between the exact quantiles at tail +- 5 Monte Carlo standard errors.
            error = 5 * math.sqrt(tail * (1 - tail) / resamples)
            assert np.quantile(exact, tail - error, method="inverted_cdf") - 1e-12 <= value
            assert value <= np.quantile(exact, tail + error, method="inverted_cdf") + 1e-12


def test_drawing_equal_rows_together_is_the_same_distribution(monkeypatch):
    rng = np.random.default_rng(2)
    columns = documents(6)[rng.integers(0, 6, 300)]
    apart = bootstrap_interval(columns, exp_ratio_of_sums, resamples=40_000, seed=1)
    monkeypatch.setattr(bootstrap, "MANY_DOCUMENTS", 100)
    together = bootstrap_interval(columns, exp_ratio_of_sums, resamples=40_000, seed=2)
    # Standard error of a 2.5% quantile of a normal: sqrt(0.025 * 0.975 / B) / density, the density 0.0584 / sd there.
    sd = (apart.high - apart.low) / 3.92
    error = 5 * math.sqrt(2) * math.sqrt(0.025 * 0.975 / 40_000) / 0.0584 * sd
    assert (together.low, together.high) == pytest.approx((apart.low, apart.high), abs=error)
    assert together.low != apart.low


def test_many_distinct_documents_are_drawn_one_by_one(monkeypatch):
    columns = documents(200)
    plain = bootstrap_interval(columns, exp_ratio_of_sums, resamples=100)
    monkeypatch.setattr(bootstrap, "MANY_DOCUMENTS", 100)
    assert bootstrap_interval(columns, exp_ratio_of_sums, resamples=100) == plain


def test_coverage_of_the_mean_of_normal_documents():
    rng = np.random.default_rng(0)
    hits = 0
    for seed in range(200):
        found = bootstrap_interval(with_ones(rng.normal(3.0, 1.0, 60)), ratio_of_sums, resamples=400, seed=seed)
        hits += found.low <= 3.0 <= found.high
    assert 200 * 0.95 - 5 * math.sqrt(200 * 0.95 * 0.05) < hits


def test_one_document_has_an_interval_of_no_width():
    found = bootstrap_interval([[3.0, 2.0]], ratio_of_sums, resamples=10)
    assert (found.low, found.estimate, found.high) == (1.5, 1.5, 1.5)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (np.empty((0, 2)), {}, "with documents"),
        ([1.0, 2.0], {}, r"shape \(2,\)"),
        ([[math.inf, 1.0]], {}, "infinite or missing"),
        ([[math.nan, 1.0]], {}, "infinite or missing"),
        ([[1.0, 1.0]], {"resamples": 0}, "0 resamples"),
        ([[1.0, 1.0]], {"level": 1.0}, "level 1.0"),
    ],
)
def test_bad_input(columns, options, message):
    with pytest.raises(TextcriticError, match=message):
        bootstrap_interval(columns, ratio_of_sums, **options)
