"""Sequential Monte Carlo against exact sums: a hidden semi-Markov model, and a chain written for the test."""

from dataclasses import dataclass

import numpy as np
import pytest
from hsmm_paths import block_of
from tiny_hsmm import lattice_of, random_model

from textcritic.generators.hsmm import log_marginal
from textcritic.generators.hsmm.posterior import log_potential, posterior
from textcritic.generators.hsmm.proposals import make_proposal
from textcritic.generators.hsmm.samplers import SegmentSteps
from textcritic.inference import particle_filter, resample

SEQUENCES = [[0, 1, 2, 1, 0], [2], [1, 1, 1, 0], [0, 0, 2, 2]]
RUNS = 1000


@pytest.mark.parametrize(
    ("spec", "nats", "scheme"),
    [
        (("segment", 0), 1.2, "systematic"),
        (("segment", 0), 0, "systematic"),
        (("tempered", 1.5), 1.2, "systematic"),
        (("segment", 0), 1.2, "multinomial"),
    ],
)
def test_unbiased_and_its_logarithm_too_low(spec, nats, scheme):
    model = random_model(4, sharpness=1.0)
    tables, graph = block_of(model, SEQUENCES[:1] * RUNS)
    log_p = log_marginal(model, graph.lattice).numpy()
    steps = SegmentSteps(tables, make_proposal(*spec, model, tables, graph), nats)
    found = particle_filter(steps, 400, np.random.default_rng(2), threshold=0.9, scheme=scheme)
    assert 0.01 < found.resampled.mean() < 0.99
    np.testing.assert_allclose(found.log_increments.sum(axis=1), found.log_p_hat)
    off = found.log_p_hat - log_p
    ratio = np.exp(off)
    error = ratio.std() / np.sqrt(RUNS)
    assert error < 0.005
    assert abs(ratio.mean() - 1) <= 3 * error
    assert off.mean() < 0


def test_without_resampling_it_is_importance_sampling():
    model = random_model(1)
    tables, graph = block_of(model, SEQUENCES)
    # Paths of the exact posterior all weigh p(x), so any mean of weights is p(x) itself.
    steps = SegmentSteps(tables, posterior(tables, graph), 1.0)
    found = particle_filter(steps, 5, np.random.default_rng(1), threshold=0)
    np.testing.assert_allclose(found.log_p_hat, log_marginal(model, graph.lattice).numpy(), rtol=1e-9)
    assert not found.resampled.any()

    blind = make_proposal("blind", 0, model, tables, graph)
    filtered = particle_filter(SegmentSteps(tables, blind, 0.7), 40_000, np.random.default_rng(1), threshold=0)
    paths, log_q = blind.draw(40_000, np.random.default_rng(2))
    weights = log_potential(tables, graph, paths) - log_q
    np.testing.assert_allclose(np.exp(filtered.log_p_hat), np.exp(weights).mean(axis=1), rtol=0.1)
    plain = np.exp(2 * np.logaddexp.reduce(weights, axis=1) - np.logaddexp.reduce(2 * weights, axis=1))
    np.testing.assert_allclose(filtered.effective[:, -1], plain, rtol=0.2)


def test_token_level_estimates_are_those_of_prefixes():
    # Segments of one token: then the state of a particle says nothing about tokens to come.
    model = random_model(2, longest=1, states=4, sharpness=1.0)
    sequence = [0, 2, 1, 1, 0, 2, 2, 0]
    tables, graph = block_of(model, [sequence])
    prefixes = lattice_of(model, [sequence[: length + 1] for length in range(len(sequence))])
    exact = np.diff(log_marginal(model, prefixes).numpy(), prepend=0)
    steps = SegmentSteps(tables, make_proposal("blind", 0, model, tables, graph), 0)
    found = particle_filter(steps, 100_000, np.random.default_rng(3))
    np.testing.assert_allclose(found.log_increments[0], exact, atol=0.02)


@pytest.mark.parametrize("scheme", ["systematic", "multinomial"])
def test_resampling_is_in_proportion_to_weights(scheme):
    weights = np.array([[0.5, 0.25, 0.125, 0.125, 0.0], [0.0, 0.02, 0.0, 0.9, 0.08]])
    runs = 20_000
    ancestors = resample(np.tile(weights, (runs, 1)), np.random.default_rng(1), scheme)
    counts = (ancestors[:, :, None] == np.arange(5)).sum(axis=1).reshape(runs, 2, 5)
    np.testing.assert_allclose(counts.mean(axis=0), 5 * weights, atol=0.05)
    assert counts[:, weights == 0].sum() == 0
    if scheme == "systematic":
        assert (counts >= np.floor(5 * weights)).all()
        assert (counts <= np.ceil(5 * weights)).all()


@dataclass
class Halving:
    """Two texts, of 3 and 1 steps; a particle is its sum of bits, each is 1 with p 0.25 and drawn with q 0.5."""

    steps: int = 3

    def begin(self, particles):
        return np.zeros((2, particles), np.int64)

    def propose(self, step, particles, rng):
        bits = rng.integers(0, 2, particles.shape)
        increments = np.log(np.where(bits == 1, 0.25, 0.75) / 0.5)
        going = np.array([[True], [step == 0]])
        return particles + np.where(going, bits, 0), np.where(going, increments, 0)

    def select(self, particles, ancestors):
        return np.take_along_axis(particles, ancestors, axis=1)


def test_any_model_that_says_how_it_steps():
    # The probabilities sum to 1 at each step, so p(x) is 1, and the particles' weights show their distribution.
    found = [particle_filter(Halving(), 50, np.random.default_rng(seed), threshold=1).log_p_hat for seed in range(500)]
    ratio = np.exp(found)
    np.testing.assert_array_less(np.abs(ratio.mean(axis=0) - 1), 3 * ratio.std(axis=0) / np.sqrt(500))
    assert ratio.std(axis=0).min() > 0.01
