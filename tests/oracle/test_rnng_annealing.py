"""Annealing of an RNNG's trees against the exact distribution over all of them."""

import sys
from pathlib import Path

import numpy as np
import torch
from tree_annealing import TreeAnnealing, TreeChains
from tree_oracle import all_trees, crf, rnng, text

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from annealing import annealed_weights, powers_of

TEXTS = [text(("a", "b", "a", "b", "b")), text(("b", "a", "a"))]


TEMPERATURE = 1.5


def annealing():
    return TreeAnnealing(rnng(), crf(), TEXTS, TEMPERATURE)


def numbers(trees, n):
    rows = {tuple(tree): row for row, tree in enumerate(all_trees(n).tolist())}
    return np.array([rows[tuple(tree)] for tree in trees.tolist()])


def test_moves_are_reversible_with_respect_to_the_distribution_in_between():
    chains, power, rng = 15_000, 0.6, np.random.default_rng(1)
    kernel = annealing()
    trees, ratios = [], []
    for one in TEXTS:  # exact draws
        some = all_trees(len(one.tokens))
        log_p, log_q = kernel.model.log_joint(one, some), kernel.proposal.log_q(one, some, TEMPERATURE)
        wanted = ((1 - power) * log_q + power * log_p).softmax(0).numpy()
        rows = rng.choice(len(some), chains, p=wanted / wanted.sum())
        trees.append(some[rows])
        ratios.append((log_p - log_q).numpy()[rows])
    before = TreeChains(tuple(trees), np.stack(ratios))
    after = kernel.move(before, power, rng)
    for number, one in enumerate(TEXTS):
        n = len(one.tokens)
        pairs = np.zeros((len(all_trees(n)),) * 2)
        np.add.at(pairs, (numbers(before.trees[number], n), numbers(after.trees[number], n)), 1)
        there, back = pairs[np.triu_indices(len(pairs), 1)], pairs.T[np.triu_indices(len(pairs), 1)]
        common = there + back > 20
        assert there.sum() > 500  # chains do move
        assert (np.abs(there - back) / np.sqrt(there + back + 1e-9))[common].max() < 4
        some = after.trees[number][:50]
        expected = kernel.model.log_joint(one, some) - kernel.proposal.log_q(one, some, TEMPERATURE)
        np.testing.assert_allclose(kernel.log_ratio(after)[number, :50], expected.numpy(), atol=1e-9)


def test_annealed_weights_are_unbiased_and_narrower():
    kernel = annealing()
    exact = np.array([float(kernel.model.log_joint(one, all_trees(len(one.tokens))).logsumexp(0)) for one in TEXTS])
    spread = []
    for steps in (1, 8):
        weights = annealed_weights(kernel, 4_000, powers_of(steps), np.random.default_rng(2))
        ratios = np.exp(weights - exact[:, None])
        error = ratios.std(axis=1) / ratios.shape[1] ** 0.5
        assert (np.abs(ratios.mean(axis=1) - 1) < 3.5 * error).all()
        spread.append(ratios.std(axis=1))
    assert (spread[1] < 0.9 * spread[0]).all()


def test_own_trees_are_those_of_the_texts():
    own = [text(one.tokens, all_trees(len(one.tokens))[1].tolist()) for one in TEXTS]
    states = TreeAnnealing(rnng(), crf(), own).own(3)
    assert states.log_ratio.shape == (2, 3)
    for trees, one in zip(states.trees, own, strict=True):
        assert torch.equal(trees, torch.tensor([one.actions] * 3, dtype=torch.int8))
