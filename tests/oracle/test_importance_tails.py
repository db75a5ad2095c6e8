"""k-hat and smoothed weights against arviz 0.23.4 (its results: importance_tails.json); effective sample sizes."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import genpareto

from textcritic.inference.importance import LogWeights, effective_sample_sizes, pareto_k, pareto_smoothed

ROWS = json.loads(Path(__file__).with_name("importance_tails.json").read_text("utf-8"))["rows"]


def made(name, draws):
    """Log weights without random numbers: quantiles in a scattered order."""
    u = (np.arange(draws) * 0.6180339887498949 + 0.25) % 1
    return {
        "normal 0.5": 0.5 * ndtri(u),
        "normal 2": 2 * ndtri(u),
        "pareto 0.3": -0.3 * np.log(1 - u),
        "pareto 0.9": -0.9 * np.log(1 - u) - 500,
        "pareto 1.5": -1.5 * np.log(1 - u),
        "ties": np.round(2 * ndtri(u) * 2) / 2,
        "dead": np.where(u < 0.4, -np.inf, ndtri(u)),
        "bounded": np.log(u),
    }[name]


def weights_of(rows):
    return LogWeights(tuple(map(str, range(len(rows)))), np.asarray(rows), np.ones(len(rows)))


@pytest.mark.parametrize("draws", [25, 100, 1000, 10_000])
def test_as_arviz_has_it(draws):
    """All rows at once: their tails have different sizes."""
    rows = [row for row in ROWS if row["draws"] == draws]
    weights = weights_of([made(row["weights"], draws) for row in rows])
    wanted = [np.nan if row["k_hat"] is None else row["k_hat"] for row in rows]
    np.testing.assert_allclose(pareto_k(weights), wanted, rtol=0, atol=1e-10)
    smoothed = pareto_smoothed(weights)
    normalised = smoothed - np.log(np.exp(smoothed - smoothed.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True))
    normalised -= smoothed.max(axis=1, keepdims=True)
    largest = np.sort(normalised, axis=1)[:, [-1, -2, -5]]
    np.testing.assert_allclose(largest, [row["largest"] for row in rows], rtol=0, atol=1e-10)


def test_smoothed_weights_are_in_their_places_and_not_above_the_largest():
    weights = weights_of([made("pareto 0.9", 1000), made("normal 2", 1000)])
    smoothed = pareto_smoothed(weights)
    raw = weights.log_weights
    assert (np.argsort(smoothed, axis=1) == np.argsort(raw, axis=1)).all()
    assert (smoothed.max(axis=1) <= raw.max(axis=1)).all()
    assert ((smoothed == raw).sum(axis=1) == 1000 - 95).all(), "3 sqrt(1000) are the tail"


@pytest.mark.parametrize("shape", [0.2, 0.5, 0.9])
def test_the_shape_of_a_long_tail_is_found(shape):
    drawn = genpareto.rvs(shape, size=(40, 20_000), random_state=3)
    found = pareto_k(weights_of(np.log(drawn)))
    # The prior pulls towards 0.5 by 10 in 435.
    assert found.mean() == pytest.approx(shape, abs=4 * found.std() / np.sqrt(40) + 0.02)


def test_no_tail_no_k_hat():
    draws = 20
    assert np.isnan(pareto_k(weights_of([made("normal 2", draws)]))).all()
    even = weights_of([np.zeros(100), np.r_[np.zeros(97), 3.0, 4.0, 5.0]])
    assert np.isnan(pareto_k(even)).all()
    np.testing.assert_array_equal(pareto_smoothed(even), even.log_weights)


def test_many_rows_are_fitted_in_chunks(monkeypatch):
    weights = weights_of(np.random.default_rng(1).standard_normal((50, 200)))
    whole = pareto_k(weights)
    monkeypatch.setattr("textcritic.inference.importance.tails.CHUNK", 5000)
    np.testing.assert_array_equal(pareto_k(weights), whole)


def test_effective_sample_sizes():
    weights = weights_of([np.full(50, -700.0), np.r_[0.0, np.full(49, -np.inf)], np.log(np.arange(1, 51)) + 900])
    of_ramp = np.arange(1, 51).sum() ** 2 / (np.arange(1, 51) ** 2).sum()
    np.testing.assert_allclose(effective_sample_sizes(weights), [50, 1, of_ramp], rtol=1e-12)
