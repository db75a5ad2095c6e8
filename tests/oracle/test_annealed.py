"""Annealed importance sampling, forwards and backwards, against the enumeration of a small semi-Markov model."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hsmm_paths import all_paths, block_of, fits, key_of
from scipy.stats import chi2
from tiny_hsmm import random_model

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm import log_marginal
from textcritic.generators.hsmm.posterior import Paths, posterior
from textcritic.generators.hsmm.proposals import make_proposal, tempered

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from annealing import WindowMoves, annealed_weights, powers_of, reversed_weights, upper_bound

SEQUENCES = [[0, 1, 2, 1, 0], [2], [1, 1, 1, 0], [0, 0, 2, 2]]
RUNS = 2000


@pytest.mark.parametrize("share", [0.05, 0.5, 1])
@pytest.mark.parametrize("power", [0.0, 0.4, 1.0])
def test_a_move_is_reversible(share, power):
    model, sequence, temperature = random_model(0, states=2, vocabulary=2), [0, 1, 1, 0], 2.0
    tables, graph = block_of(model, [sequence])
    moves = WindowMoves(tables, posterior(tempered(tables, temperature), graph), share)
    # q^(1 - power) p^power, q being the posterior at a temperature, is the posterior at another one.
    between = posterior(tempered(tables, 1 / ((1 - power) / temperature + power)), graph)
    every, _ = all_paths(model, graph, sequence)
    place = {key: number for number, key in enumerate(key_of(every))}
    rng = np.random.default_rng(7)
    before = between.draw(40_000, rng)[0]
    states = moves.move(moves.of_paths(before), power, rng)
    first, second = (np.array([place[key] for key in key_of(paths)]) for paths in (before, states.paths))
    assert (first != second).mean() > 0.05
    assert fits(np.bincount(second, minlength=len(place)), np.exp(between.log_q(every)[0])) > 1e-3

    # There and back are equally likely (Bowker's test of symmetry).
    pairs = np.zeros((len(place), len(place)))
    np.add.at(pairs, (first, second), 1)
    both = np.triu(pairs + pairs.T, 1)
    often = both >= 10
    statistic = ((pairs - pairs.T)[often] ** 2 / both[often]).sum()
    assert often.sum() >= 5
    assert chi2.sf(statistic, often.sum()) > 1e-3
    again = moves.of_paths(states.paths)
    np.testing.assert_allclose(states.log_p, again.log_p, rtol=1e-9)
    np.testing.assert_allclose(states.log_q, again.log_q, rtol=1e-9)


@pytest.mark.parametrize(("spec", "steps"), [(("tempered", 1.4), 1), (("tempered", 1.6), 5), (("noisy", 1.0), 5)])
def test_between_two_bounds(spec, steps):
    model = random_model(4, sharpness=1.0)
    tables, graph = block_of(model, [sequence for sequence in SEQUENCES[2:] for _ in range(RUNS)])
    log_p = log_marginal(model, graph.lattice).numpy()
    moves = WindowMoves(tables, make_proposal(*spec, model, tables, graph), 0.5)
    rng, chains, powers = np.random.default_rng(6), 8, powers_of(steps)
    weights = annealed_weights(moves, chains, powers, rng)
    below = np.logaddexp.reduce(weights, axis=1) - np.log(chains)
    one = posterior(tables, graph).draw(1, rng)[0]
    start = Paths(np.repeat(one.arcs, chains, axis=1), np.repeat(one.states, chains, axis=1))
    above = upper_bound(reversed_weights(moves, moves.of_paths(start), powers, rng))
    # p-hat / p from below, and p / p-hat from above, are 1 in the mean.
    for off in (below - log_p, log_p - above):
        off = off.reshape(2, RUNS)
        ratio = np.exp(off)
        error = ratio.std(axis=1) / np.sqrt(RUNS)
        assert error.max() < 0.03
        assert (np.abs(ratio.mean(axis=1) - 1) <= 3 * error + 1e-9).all()
        assert (off.mean(axis=1) <= 3 * off.std(axis=1) / np.sqrt(RUNS) + 1e-9).all()
        assert off.mean(axis=1).min() < -1e-3


def test_unbiased_to_half_a_percent():
    model = random_model(4, sharpness=1.0)
    runs = 40_000
    tables, graph = block_of(model, [[0, 1, 2, 1, 0]])
    moves = WindowMoves(tables, make_proposal("tempered", 1.5, model, tables, graph), 0.5)
    weights = annealed_weights(moves, runs, powers_of(4), np.random.default_rng(1))[0]
    ratio = np.exp(weights - float(log_marginal(model, graph.lattice)))
    error = ratio.std() / np.sqrt(runs)
    assert error < 0.005
    assert abs(ratio.mean() - 1) <= 3 * error


def test_more_steps_bring_both_bounds_together():
    model = random_model(1)
    tables, graph = block_of(model, [[0, 1, 2, 1, 0]] * 300)
    moves = WindowMoves(tables, make_proposal("tempered", 2, model, tables, graph), 1)
    rng, truth = np.random.default_rng(3), posterior(tables, graph)
    gaps = []
    for steps in (1, 10, 100):
        below = annealed_weights(moves, 1, powers_of(steps), rng)[:, 0]
        start = moves.of_paths(truth.draw(1, rng)[0])
        gaps.append((upper_bound(reversed_weights(moves, start, powers_of(steps), rng)) - below).mean())
    assert gaps[0] > 1.5 * gaps[1] > 1.5**2 * gaps[2] > 0


def test_one_step_is_importance_sampling():
    model = random_model(1)
    tables, graph = block_of(model, SEQUENCES)
    proposal = make_proposal("tempered", 2, model, tables, graph)
    moves = WindowMoves(tables, proposal, 1)
    found = annealed_weights(moves, 9, powers_of(1), np.random.default_rng(1))
    paths, log_q = proposal.draw(9, np.random.default_rng(1))
    np.testing.assert_allclose(found, moves.of_paths(paths).log_p - log_q, rtol=1e-9)
    np.testing.assert_allclose(upper_bound(found[:, :1]), found[:, 0])


def test_powers():
    for steps in (1, 2, 7, 100):
        powers = powers_of(steps)
        assert (len(powers), powers[0], powers[-1]) == (steps + 1, 0, 1)
        assert (np.diff(powers) > 0).all()
        np.testing.assert_allclose(powers + powers[::-1], 1)


def test_exact_draws_that_the_proposal_never_draws_are_infinite():
    """With one step; chains that move cannot leave them."""
    model = random_model(1)
    tables, graph = block_of(model, SEQUENCES * 20)
    moves = WindowMoves(tables, make_proposal("withheld", 1, model, tables, graph), 1)
    exact = moves.of_paths(posterior(tables, graph).draw(3, np.random.default_rng(1))[0])
    weights = reversed_weights(moves, exact, powers_of(1), np.random.default_rng(1))
    lost = np.isposinf(weights)
    assert 0 < lost.mean() < 1
    assert np.array_equal(np.isposinf(upper_bound(weights)), lost.all(axis=1))
    with pytest.raises(TextcriticError, match="log p - log q is inf"):
        reversed_weights(moves, exact, powers_of(3), np.random.default_rng(1))
