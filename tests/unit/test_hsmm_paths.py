"""Bad input to proposals, the k best paths, sequential Monte Carlo and annealing."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hsmm_paths import block_of
from tiny_hsmm import flat, random_model

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm.best import k_best
from textcritic.generators.hsmm.posterior import Graph, posterior
from textcritic.generators.hsmm.proposals import make_proposal, noisy
from textcritic.generators.hsmm.samplers import SegmentSteps
from textcritic.generators.hsmm.text import Text
from textcritic.generators.hsmm.truth import weigh
from textcritic.inference import particle_filter

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from annealing import WindowMoves, annealed_weights, powers_of, reversed_weights, upper_bound


@pytest.fixture(scope="module")
def block():
    model = random_model(0)
    return model, *block_of(model, [[0, 1, 2], [1, 1]])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("temperd", 1, "proposal: 'temperd' is unknown; give one of tempered, noisy"),
        ("tempered", 0, "temperature: 0 is not possible"),
        ("tempered", float("inf"), "temperature: inf is not possible"),
        ("noisy", -1, "temperature: -1 is not possible"),
        ("flattened", 1.5, "share: 1.5 is not possible"),
        ("withheld", 0, "states: 0 is not possible; keep 1 to 3"),
        ("floored", 4, "states: 4 is not possible; keep 1 to 3"),
    ],
)
def test_proposals(block, name, value, message):
    with pytest.raises(TextcriticError, match=message):
        make_proposal(name, value, *block)


def test_a_sequence_without_a_segmentation():
    model = random_model(0, holes=True)
    rows = {tuple(gram[:n]) for gram, n in zip(*model.lexicon.segments(np.arange(len(model.lexicon))), strict=True)}
    missing = next(token for token in range(3) if (token,) not in rows)
    with pytest.raises(TextcriticError, match="sequence 1: the model has no segments that it could be made of"):
        block_of(model, [[next(iter({0, 1, 2} - {missing}))], [missing]])
    with pytest.raises(TextcriticError, match="sequence 0: the model has no segments"):
        weigh(model, Text(*flat([[missing]])), [("tempered", 1)], 2, 1)


def test_draws_and_paths(block):
    model, tables, graph = block
    for call, message in [
        (lambda: posterior(tables, graph).draw(0, np.random.default_rng(1)), "samples: 0 are too few"),
        (lambda: k_best(tables, graph, 0), "k: 0 is too few"),
        (lambda: noisy(tables, -1, 1), "deviation: -1 is not possible"),
        (lambda: weigh(model, Text(*flat([[0]])), [], 2, 1), "0 proposals, 2 draws; give at least 1 of both"),
        (lambda: weigh(model, Text(*flat([[0]])), [("tempered", 1)], 0, 1), "1 proposals, 0 draws"),
        (lambda: SegmentSteps(tables, posterior(tables, graph), -1), "nats_per_token: -1 is not possible"),
        (lambda: WindowMoves(tables, posterior(tables, graph), 0), "share: 0 is not possible"),
        (lambda: WindowMoves(tables, make_proposal("blind", 0, *block), 0.5), "this proposal has no normaliser"),
    ]:
        with pytest.raises(TextcriticError, match=message):
            call()


def test_one_sequence_of_one_token():
    model = random_model(0)
    tables, graph = block_of(model, [[2]])
    assert isinstance(graph, Graph)
    paths, log_q = posterior(tables, graph).draw(3, np.random.default_rng(1))
    assert paths.arcs.shape == (1, 3, 1)
    assert (log_q <= 0).all()


@dataclass
class Given:
    """A model of two steps with given increments."""

    increments: np.ndarray
    steps: int = 2

    def begin(self, particles):
        return None

    def propose(self, step, particles, rng):
        return None, self.increments

    def select(self, particles, ancestors):
        return None


@pytest.mark.parametrize(
    ("increments", "message"),
    [
        ([[0.0, np.nan], [0, 0]], "text 0, particle 1, step 0: the log increment is nan"),
        ([[0.0, 0], [np.inf, 0]], "text 1, particle 0, step 0: the log increment is inf"),
        ([[0.0, 0], [-np.inf, -np.inf]], "text 1, step 0: all 2 particles are impossible"),
        ([[0.0, 0, 0]], r"step 0: increments of shape \(1, 3\); give \[texts, 2\]"),
    ],
)
def test_increments(increments, message):
    with pytest.raises(TextcriticError, match=message):
        particle_filter(Given(np.array(increments)), 2, np.random.default_rng(1))


def test_one_impossible_particle_is_left_behind():
    found = particle_filter(Given(np.array([[0.0, -np.inf]])), 2, np.random.default_rng(1), threshold=1)
    assert found.log_p_hat == pytest.approx(2 * np.log(0.5))
    assert found.effective[0, 0] == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"particles": 0}, "particles: 0 are too few"),
        ({"threshold": 1.5}, "threshold: 1.5 is not a share"),
        ({"scheme": "stratified"}, "scheme: 'stratified' is unknown; give systematic or multinomial"),
    ],
)
def test_settings_of_the_filter(arguments, message):
    with pytest.raises(TextcriticError, match=message):
        particle_filter(Given(np.zeros((1, 2))), **{"particles": 2, "rng": np.random.default_rng(1), **arguments})


@pytest.mark.parametrize("powers", [[0.0, 1, 1], [0.0], [0.1, 1], [0.0, 0.5], [0.0, 0.6, 0.4, 1]])
def test_powers(block, powers):
    _, tables, graph = block
    moves = WindowMoves(tables, posterior(tables, graph), 1)
    for call in (
        lambda: annealed_weights(moves, 1, np.array(powers), np.random.default_rng(1)),
        lambda: reversed_weights(moves, None, np.array(powers), np.random.default_rng(1)),
    ):
        with pytest.raises(TextcriticError, match="powers: should rise from 0 to 1"):
            call()


def test_annealing_needs_a_step_and_a_chain(block):
    _, tables, graph = block
    moves = WindowMoves(tables, posterior(tables, graph), 1)
    with pytest.raises(TextcriticError, match="steps: 0 are too few"):
        powers_of(0)
    with pytest.raises(TextcriticError, match="chains: 0 are too few"):
        annealed_weights(moves, 0, powers_of(2), np.random.default_rng(1))


def test_a_state_that_the_model_cannot_have_is_named():
    class Dead:
        kernel = "none"

        def begin(self, chains, rng):
            return None

        def log_ratio(self, states):
            return np.array([[0.0, -np.inf]])

        def move(self, states, power, rng):
            return states

    with pytest.raises(TextcriticError, match="text 0, chain 1, step 0: log p - log q is -inf"):
        annealed_weights(Dead(), 2, powers_of(3), np.random.default_rng(1))


def test_the_upper_bound_of_one_weight_is_it():
    assert upper_bound(np.array([[-3.0], [-900.0]])).tolist() == [-3, -900]
