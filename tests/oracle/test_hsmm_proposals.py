"""Paths drawn from the posterior and from proposals, and the k best, against the enumeration of all, in fp64."""

import numpy as np
import pytest
from hsmm_paths import all_paths, block_of, fits, key_of
from scipy.special import logsumexp
from tiny_hsmm import lattice_of, random_model

from textcritic.generators.hsmm import log_marginal
from textcritic.generators.hsmm.best import k_best
from textcritic.generators.hsmm.posterior import Graph, log_potential, posterior
from textcritic.generators.hsmm.proposals import make_proposal, tempered, withheld
from textcritic.generators.hsmm.recursion import tables_of

SEQUENCE = [0, 1, 2, 1, 0]
SEQUENCES = [[0, 1, 2, 1, 0], [2], [1, 1, 1, 0], [0, 0, 2, 2]]
FULL = [("tempered", 0.5), ("tempered", 2.0), ("noisy", 1.1), ("flattened", 0.3), ("floored", 1)]
LOCAL = [("segment", 0), ("blind", 0)]
EVERY = pytest.mark.parametrize("spec", [("tempered", 1.0), *FULL, ("withheld", 2), *LOCAL])


@EVERY
@pytest.mark.parametrize("seed", [0, 1])
def test_proposals_are_normalised_and_drawn_as_they_say(spec, seed):
    model = random_model(seed)
    tables, graph = block_of(model, [SEQUENCE])
    every, probability = all_paths(model, graph, SEQUENCE)
    np.testing.assert_allclose(log_potential(tables, graph, every)[0], np.log(probability), rtol=1e-9)
    proposal = make_proposal(*spec, model, tables, graph)
    log_q = proposal.log_q(every)[0]
    assert logsumexp(log_q) == pytest.approx(0, abs=1e-9)

    drawn, of_drawn = proposal.draw(20_000, np.random.default_rng(seed))
    place = {key: number for number, key in enumerate(key_of(every))}
    numbers = np.array([place[key] for key in key_of(drawn)])
    np.testing.assert_allclose(of_drawn[0], log_q[numbers], rtol=1e-9)
    assert fits(np.bincount(numbers, minlength=len(log_q)), np.exp(log_q)) > 1e-3


@pytest.mark.parametrize("temperature", [0.5, 1, 1.1, 2, 5])
def test_tempered_is_the_power_of_the_posterior(temperature):
    model = random_model(3)
    tables, graph = block_of(model, [SEQUENCE])
    every, probability = all_paths(model, graph, SEQUENCE)
    power = probability ** (1 / temperature)
    proposal = posterior(tempered(tables, temperature), graph)
    np.testing.assert_allclose(np.exp(proposal.log_q(every)[0]), power / power.sum(), rtol=1e-8)
    assert proposal.log_normaliser == pytest.approx(np.log(power.sum()))


@pytest.mark.parametrize("holes", [False, True])
def test_the_posterior_s_normaliser_is_log_p(holes):
    model = random_model(2, holes=holes)
    sequences = [s for s in SEQUENCES if np.isfinite(float(log_marginal(model, lattice_of(model, [s]))))]
    tables, graph = block_of(model, sequences)
    proposal = posterior(tables, graph)
    np.testing.assert_allclose(proposal.log_normaliser, log_marginal(model, graph.lattice).numpy(), rtol=1e-10)
    paths, log_q = proposal.draw(50, np.random.default_rng(1))
    # A path from the exact posterior weighs p(x), whichever it is.
    weights = log_potential(tables, graph, paths) - log_q
    np.testing.assert_allclose(weights, np.broadcast_to(proposal.log_normaliser[:, None], weights.shape), rtol=1e-10)


@pytest.mark.parametrize("spec", [("tempered", 1.3), ("tempered", 0.8), ("flattened", 0.1), ("segment", 0)])
def test_importance_sampling_is_unbiased_and_its_logarithm_too_low(spec):
    model = random_model(4, sharpness=1.0)
    tables, graph = block_of(model, SEQUENCES)
    log_p = log_marginal(model, graph.lattice).numpy()
    proposal = make_proposal(*spec, model, tables, graph)
    paths, log_q = proposal.draw(60_000, np.random.default_rng(5))
    ratio = np.exp(log_potential(tables, graph, paths) - log_q - log_p[:, None])
    error = ratio.std(axis=1) / np.sqrt(ratio.shape[1])
    assert error.max() < 0.005
    assert (np.abs(ratio.mean(axis=1) - 1) <= 3 * error + 1e-9).all()
    of_four = np.log(ratio.reshape(len(log_p), -1, 4).mean(axis=2))
    assert (of_four.mean(axis=1) < 3 * of_four.std(axis=1) / np.sqrt(of_four.shape[1]) + 1e-9).all()
    assert of_four.mean(axis=1).min() < -1e-4


def test_what_is_withheld_is_missing_from_p_and_no_weight_shows_it():
    model = random_model(5)
    tables, graph = block_of(model, [SEQUENCE])
    every, probability = all_paths(model, graph, SEQUENCE)
    proposal = make_proposal("withheld", 1, model, tables, graph)
    log_q = proposal.log_q(every)[0]
    inside = np.isfinite(log_q)
    assert 0 < inside.sum() < len(inside)
    reached = probability[inside].sum() / probability.sum()
    assert reached < 0.9
    paths, of_drawn = proposal.draw(100, np.random.default_rng(1))
    weights = np.exp(log_potential(tables, graph, paths) - of_drawn)[0]
    np.testing.assert_allclose(weights, reached * probability.sum(), rtol=1e-9)
    everywhere = posterior(withheld(tables, 1, 1e-3), graph).log_q(every)[0]
    assert np.isfinite(everywhere).all()


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("count", [1, 5, 60, 5000])
def test_k_best(holes, count):
    model = random_model(3, holes=holes)
    for sequence in SEQUENCES:
        if holes and not np.isfinite(float(log_marginal(model, lattice_of(model, [sequence])))):
            continue
        tables, graph = block_of(model, [sequence])
        probability = all_paths(model, graph, sequence)[1]
        expected = np.sort(probability[probability > 0])[::-1][:count]
        best = k_best(tables, graph, count)
        found = np.isfinite(best.log_prob[0])
        np.testing.assert_allclose(np.exp(best.log_prob[0, found]), expected, rtol=1e-9)
        assert len(set(np.array(key_of(best.paths))[found])) == len(expected)
        np.testing.assert_allclose(log_potential(tables, graph, best.paths)[0, found], np.log(expected), rtol=1e-9)
        bound = np.logaddexp.reduce(best.log_prob[0])  # the paths are distinct (paper, section 4)
        assert bound <= np.log(probability.sum()) + 1e-12
        assert bound == pytest.approx(np.log(expected.sum()))


def test_k_best_of_many_sequences_is_that_of_each():
    model = random_model(6)
    together = k_best(*block_of(model, SEQUENCES), 7)
    for number, sequence in enumerate(SEQUENCES):
        alone = k_best(*block_of(model, [sequence]), 7)
        np.testing.assert_allclose(together.log_prob[number], alone.log_prob[0], rtol=1e-12)


def test_paths_pay_for_their_end_where_the_model_has_one():
    model = random_model(1)
    lattice = lattice_of(model, SEQUENCES)
    graph = Graph(lattice)
    with_end, without = (tables_of(model, lattice, end=end) for end in (True, False))
    paths, log_q = posterior(with_end, graph).draw(200, np.random.default_rng(1))
    ends = np.log(model.end.numpy())
    more = log_potential(with_end, graph, paths) - log_potential(without, graph, paths)
    for text, tokens in enumerate(graph.tokens):
        for sample in range(200):
            states = [int(state) for state in paths.states[text, sample, :tokens] if state >= 0]
            goes_on = np.log1p(-model.end.numpy()[states[:-1]]).sum()
            assert more[text, sample] == pytest.approx(goes_on + ends[states[-1]], abs=1e-9)
    # The posterior's own normaliser is of the same potentials.
    normaliser = posterior(with_end, graph).log_normaliser
    np.testing.assert_allclose(log_potential(with_end, graph, paths) - normaliser[:, None], log_q, rtol=1e-9)


@pytest.mark.parametrize("spec", [("tempered", 1.0), ("segment", 0)])
def test_log_q_of_parts_adds_up_to_that_of_the_path(spec):
    """A segment belongs to the part that its first token is in, and to no other."""
    model = random_model(0)
    tables, graph = block_of(model, [SEQUENCE])
    proposal = make_proposal(*spec, model, tables, graph)
    paths, log_q = proposal.draw(300, np.random.default_rng(2))
    arcs, states = paths.arcs[0], paths.states[0]
    for border in range(len(SEQUENCE) + 1):
        at, none = (np.full(300, value) for value in (border, 0))
        parts = proposal.log_q_between(arcs, states, none, at) + proposal.log_q_between(arcs, states, at)
        np.testing.assert_allclose(parts, log_q[0], rtol=1e-9)
    assert not proposal.log_q_between(arcs, states, none, none).any()
