"""R-hat by its definition, on chains that are at rest and on such as still move; and fits that wait for it."""

import math

import numpy as np
import pytest

from textcritic.critics.lda.convergence import LIMIT, Convergence, convergence, drift, split_r_hat


def chains(number, values, seed, slope=0.0, apart=0.0):
    """Autoregressive chains, rho 0.5, of variance 1: with a trend over all values, each about a level of its own."""
    rng = np.random.default_rng(seed)
    made = np.zeros((number, values))
    made[:, 0] = rng.normal(size=number)
    for place in range(1, values):
        made[:, place] = 0.5 * made[:, place - 1] + math.sqrt(0.75) * rng.normal(size=number)
    return made + slope * np.linspace(0, 1, values) + apart * np.arange(number)[:, None]


def by_definition(traces):
    """Gelman et al. (2013), equations 11.1 to 11.4, in loops."""
    n = len(traces[0]) // 2
    halves = [half for trace in traces for half in (trace[:n], trace[-n:])]
    means = [sum(half) / n for half in halves]
    grand = sum(means) / len(means)
    between = n / (len(means) - 1) * sum((mean - grand) ** 2 for mean in means)
    within = sum(sum((x - mean) ** 2 for x in half) / (n - 1) for half, mean in zip(halves, means, strict=True))
    within /= len(means)
    return math.sqrt(((n - 1) / n * within + between / n) / within)


@pytest.mark.parametrize(("number", "values"), [(1, 20), (4, 31), (3, 8)])
def test_split_r_hat_is_that_of_the_definition(number, values):
    traces = chains(number, values, 1, slope=1.0)
    assert split_r_hat(traces) == pytest.approx(by_definition(traces), rel=1e-12)
    assert drift(traces[:1]) == pytest.approx(split_r_hat(traces[:1]), rel=1e-12)


def test_drift_does_not_see_that_chains_are_apart_and_split_r_hat_does():
    traces = chains(4, 60, 2, apart=5.0)
    assert drift(traces) == pytest.approx(drift(traces - 5.0 * np.arange(4)[:, None]), rel=1e-9)
    assert split_r_hat(traces) > 3
    assert drift(np.ones((2, 10))) == split_r_hat(np.ones((2, 10))) == 1
    assert drift(np.repeat([[0.0, 1.0]], 5, axis=1)) == math.inf


def test_chains_at_rest_are_found_so_and_moving_ones_are_not():
    at_rest = [drift(chains(4, 40, seed)) <= LIMIT for seed in range(200)]
    moving = [drift(chains(4, 40, seed, slope=4.0)) <= LIMIT for seed in range(200)]
    assert np.mean(at_rest) > 0.8
    assert np.mean(moving) < 0.02


def test_too_few_values_say_nothing():
    traces, alphas = chains(2, 39, 1), np.exp(chains(2, 39, 2))
    assert math.isnan(convergence(traces[:, :38], alphas[:, :38], 10, (10, 50)).drift)
    assert not convergence(traces[:, :38], alphas[:, :38], 10, (10, 50)).converged
    assert convergence(traces, alphas, 10, (10, 50)).sweeps == 390
    assert not math.isnan(convergence(traces, alphas, 10, (10, 190)).drift)
    assert math.isnan(convergence(traces, alphas, 10, (10, 200)).drift), "alpha is not optimised in all of the window"
    assert math.isnan(convergence(traces, alphas, 10, (100, 0)).drift), "two optimisations in the window"
    assert not math.isnan(convergence(traces, alphas, 10, (0, 200)).drift), "alpha is not optimised at all"


def test_alpha_counts_as_the_log_likelihood_does():
    still, falling = chains(2, 80, 1), np.exp(chains(2, 80, 2, slope=-20.0))
    assert convergence(still, np.ones((2, 80)), 10, (10, 50)).converged
    found = convergence(still, falling, 10, (10, 50))
    assert not found.converged
    assert found.drift == pytest.approx(drift(np.log(falling[:, 40:])), rel=1e-12)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Convergence(np.nan, np.nan, 60), "60 sweeps are too few to say whether"),
        (Convergence(1.3, 1.4, 1400), "Not converged after 1,400 sweeps (R-hat 1.30"),
        (Convergence(1.05, 1.06, 400), "and the chains agree (R-hat 1.06)."),
        (Convergence(1.05, 2.0, 400), "another seed can give another model."),
        (Convergence(1.05, np.nan, 400), "Converged after 400 sweeps (R-hat 1.05 between the halves of the chains)."),
    ],
)
def test_what_is_said_of_it(found, words):
    assert words in found.words
    assert found.record()["words"] == found.words
    assert found.record()["agreement"] is None or found.record()["agreement"] == found.agreement
