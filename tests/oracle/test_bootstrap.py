"""Studentised intervals against the formulas, written as loops, and against the truth of known populations."""

import math

import numpy as np
import pytest
from bootstrap_oracle import ratio_and_error, studentised
from scipy import stats

from textcritic.errors import TextcriticError
from textcritic.inference import (
    bootstrap,
    bootstrap_difference,
    bootstrap_interval,
    exp_ratio_of_sums,
    linearised,
    ratio_of_sums,
    with_ones,
)


def documents(n, seed=0):
    rng = np.random.default_rng(seed)
    steps = rng.integers(2, 9, n)
    return np.column_stack([rng.gamma(2.0, 1.0, n) * steps, steps]).astype(float)


@pytest.mark.parametrize("level", [0.95, 0.8])
@pytest.mark.parametrize("statistic", [ratio_of_sums, exp_ratio_of_sums])
def test_the_interval_is_that_of_the_formulas(statistic, level):
    columns = documents(37)
    found = bootstrap_interval(columns, statistic, resamples=999, level=level, seed=7)
    expected = studentised(columns, resamples=999, level=level, seed=7, exponent=statistic is exp_ratio_of_sums)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-7)
    assert (found.level, found.resamples, found.reason) == (level, 999, "")
    value = columns[:, 0].sum() / columns[:, 1].sum()
    value = math.exp(value) if statistic is exp_ratio_of_sums else value
    assert found.estimate == pytest.approx(value, rel=1e-14)


def test_the_interval_of_a_difference_is_that_of_the_formulas():
    first, second = documents(40, 1), documents(25, 2)
    found = bootstrap_difference(first, second, ratio_of_sums, 500, 0.9, seed=3)
    assert (found.low, found.high) == pytest.approx(
        studentised(first, second, resamples=500, level=0.9, seed=3), rel=1e-7
    )
    one, two = first.sum(axis=0), second.sum(axis=0)
    assert found.estimate == pytest.approx(one[0] / one[1] - two[0] / two[1], rel=1e-12)


def test_a_set_against_itself_differs_by_nothing_but_has_an_interval():
    found = bootstrap_difference(documents(30), documents(30), ratio_of_sums, 200)
    assert found.estimate == 0
    assert found.low < 0 < found.high


def test_the_error_of_other_statistics_is_that_of_the_delta_method():
    """F1 of three counts, whose derivatives are known, and of a mean the textbook's."""
    rng = np.random.default_rng(1)
    counts = rng.poisson([3.0, 5.0, 4.0], (80, 3)).astype(float)
    a, b, c = counts.sum(axis=0)
    gradient = np.array([2 / (b + c), -2 * a / (b + c) ** 2, -2 * a / (b + c) ** 2])
    error = math.sqrt(gradient @ (80 * np.cov(counts.T)) @ gradient)
    assert linearised(counts, lambda s: 2 * s[:, 0] / (s[:, 1] + s[:, 2])) == pytest.approx(
        (2 * a / (b + c), error), rel=1e-7
    )
    x = counts[:, 0]
    assert linearised(with_ones(x), ratio_of_sums) == pytest.approx((x.mean(), stats.sem(x)), rel=1e-7)
    assert linearised(documents(9), ratio_of_sums) == pytest.approx(ratio_and_error(documents(9)), rel=1e-7)


@pytest.mark.parametrize("chunk", [1000, 1])
def test_chunks_change_nothing_but_the_draws(monkeypatch, chunk):
    plain = bootstrap_interval(documents(60), ratio_of_sums, resamples=4000)
    monkeypatch.setattr(bootstrap, "CHUNK_DRAWS", chunk)
    chunked = bootstrap_interval(documents(60), ratio_of_sums, resamples=4000)
    # The generator goes on from chunk to chunk, and the sums are added up in another order.
    assert (chunked.low, chunked.high) == pytest.approx((plain.low, plain.high), rel=1e-12)


def test_defaults_are_a_level_of_95_percent_ten_thousand_resamples_and_seed_1():
    columns = documents(30)
    found = bootstrap_interval(columns, ratio_of_sums)
    assert (found.level, found.resamples) == (0.95, 10_000)
    assert found == bootstrap_interval(columns, ratio_of_sums, resamples=10_000, level=0.95, seed=1)
    assert found != bootstrap_interval(columns, ratio_of_sums, seed=2)


def test_many_documents_have_students_interval(monkeypatch):
    columns = documents(400)
    drawn = bootstrap_interval(columns, ratio_of_sums)
    monkeypatch.setattr(bootstrap, "MANY_DOCUMENTS", 399)
    value, error = ratio_and_error(columns)
    width = stats.t.ppf(0.975, 399) * error / value
    found = bootstrap_interval(columns, ratio_of_sums)
    assert (found.low, found.high) == pytest.approx((value * math.exp(-width), value * math.exp(width)), rel=1e-6)
    assert (found.low, found.high) == pytest.approx((drawn.low, drawn.high), abs=0.15 * (drawn.high - drawn.low))


POPULATIONS = {
    "skewed sums over many steps": lambda rng, n: np.column_stack(
        [(steps := rng.geometric(0.2, n) + 1) * 0.3 + 6 * rng.binomial(steps, 0.03) + rng.gamma(1, 0.2, n), steps]
    ),
    "log-normal documents": lambda rng, n: with_ones(rng.lognormal(0, 0.7, n)),
    "shares of words": lambda rng, n: np.column_stack(
        [rng.binomial(words := rng.poisson(40, n) + 1, rng.beta(0.5, 9.5, n)), words]
    ),
    "normal documents": lambda rng, n: with_ones(rng.normal(3.0, 1.0, n)),
}


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("n", [20, 60])
def test_coverage(population, n):
    """93% and more, where the percentile interval of 20 documents covers 82 to 92%; 600 sets, within 2.6 errors."""
    draw, rng = POPULATIONS[population], np.random.default_rng(3)
    truth = ratio_of_sums(draw(rng, 1_000_000).sum(axis=0))
    hits = 0
    for seed in range(600):
        found = bootstrap_interval(draw(rng, n), ratio_of_sums, resamples=400, seed=seed)
        hits += found.low <= truth <= found.high
    error = math.sqrt(0.95 * 0.05 / 600)
    assert 0.95 - 2.6 * error < hits / 600


def test_shares_of_something_rare_have_an_interval_that_ends():
    """Where too many resamples have no document with any, Student's interval on the log scale takes over."""
    columns = with_ones([0.2, 0.1, *[0.0] * 38])
    found, (value, error) = bootstrap_interval(columns, ratio_of_sums), ratio_and_error(columns)
    width = stats.t.ppf(0.975, 39) * error / value
    assert (found.low, found.high) == pytest.approx((value * math.exp(-width), value * math.exp(width)), rel=1e-6)


def test_counts_have_no_negative_ends():
    found = bootstrap_interval(with_ones([*[0.0] * 17, 1.0, 1.0, 9.0]), ratio_of_sums)
    assert 0 <= found.low < found.estimate < found.high
    assert bootstrap_interval(with_ones(np.arange(20) - 10.0), ratio_of_sums).low < 0


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (documents(19), "no interval of fewer than 20"),
        ([[3.0, 2.0]], "no interval of fewer than 20"),
        (np.array([[3.0, 2.0], [6.0, 4.0]] * 20), "no interval, as all documents have the same value"),
        (with_ones(np.zeros(30)), "no interval, as all documents have the same value"),
    ],
)
def test_a_reason_in_place_of_an_interval(columns, reason):
    found = bootstrap_interval(columns, ratio_of_sums, resamples=100)
    assert (found.low, found.high, found.reason) == (None, None, reason)
    assert np.isnan(found.ends).all()
    assert found.estimate == pytest.approx(np.sum(columns, axis=0)[0] / np.sum(columns, axis=0)[1])
    assert found.times(100).low is None


def test_a_difference_needs_twenty_documents_on_each_side():
    assert bootstrap_difference(documents(19), documents(30), ratio_of_sums, 100).reason
    assert bootstrap_difference(documents(30), documents(19), ratio_of_sums, 100).reason
    assert not bootstrap_difference(documents(20), documents(20), ratio_of_sums, 100).reason


def test_another_unit():
    found = bootstrap_interval(documents(30), ratio_of_sums, 200)
    percent = found.times(100)
    assert (percent.estimate, *percent.ends) == (100 * found.estimate, 100 * found.low, 100 * found.high)


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
    with pytest.raises(TextcriticError, match=message):
        bootstrap_difference(documents(30), columns, ratio_of_sums, **options)
