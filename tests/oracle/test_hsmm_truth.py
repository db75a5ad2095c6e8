"""Importance weights of a small semi-Markov model: they lead to its exact value, which stands beside them."""

import numpy as np
import pytest
from tiny_hsmm import flat, lattice_of, random_model

from textcritic.generators.hsmm import log_marginal
from textcritic.generators.hsmm.text import Text
from textcritic.generators.hsmm.truth import BLOCK, curve_rows, weigh
from textcritic.inference.importance import for_truth, instance_perplexity, log_likelihoods

SEQUENCES = [[0, 1, 2, 1, 0], [2, 2], [1, 1, 1, 0], [0, 0, 2, 2]] * 6
SPECS = (("tempered", 0.8), ("tempered", 1.4), ("withheld", 1), ("segment", 0))


@pytest.fixture(scope="module")
def weighed():
    assert len(SEQUENCES) > BLOCK
    return weigh(random_model(1), Text(*flat(SEQUENCES)), SPECS, 400, 3, across=True)


def test_exact_value_and_shapes(weighed):
    model = random_model(1)
    np.testing.assert_allclose(weighed.exact, log_marginal(model, lattice_of(model, SEQUENCES)).numpy(), rtol=1e-10)
    tokens = sum(map(len, SEQUENCES))
    assert weighed.exact_perplexity == pytest.approx(np.exp(-weighed.exact.sum() / tokens))
    assert weighed.log_p.shape == (24, 4, 400)
    assert np.isfinite(weighed.log_p).all()


def test_weights_come_near_the_exact_value_but_for_what_is_withheld(weighed):
    for number in (0, 1, 3):
        weights = weighed.weights(number)
        assert instance_perplexity(weights) == pytest.approx(weighed.exact_perplexity, rel=0.03)
        assert for_truth(weights).perplexity > weighed.exact_perplexity
    # Every weight is the same: p(x) times the share that can be reached.
    np.testing.assert_allclose(log_likelihoods(weighed.weights(2)), weighed.exact + weighed.reached[:, 2], rtol=1e-9)
    assert weighed.reached[:, 2].max() < -1e-3
    assert not weighed.reached[:, [0, 1, 3]].any()


def test_log_q_under_other_temperatures(weighed):
    # q at temperature t has log q = log p(x, z) / t - a normaliser of the text.
    for under, temperature in enumerate((0.8, 1.4)):
        for drawn in (0, 1):
            normaliser = weighed.log_p[:, drawn] / temperature - weighed.log_q[:, drawn, :, under]
            np.testing.assert_allclose(normaliser, normaliser[:, :1].repeat(400, axis=1), rtol=1e-9)
    assert np.isnan(weighed.log_q[:, 3, :, 0]).all()
    assert np.isnan(weighed.log_q[:, 0, :, 3]).all()
    mixture = weighed.mixture([0, 1])
    assert mixture.draws == 800
    assert instance_perplexity(mixture) == pytest.approx(weighed.exact_perplexity, rel=0.01)


def test_rows_of_the_curves(weighed):
    rows = curve_rows({0.8: weighed.weights(0), 1.4: weighed.weights(1)}, weighed.exact_perplexity, [1, 20, 400], 30)
    assert [(row["temperature"], row["level"], row["draws"]) for row in rows] == [
        (t, level, k) for t in (0.8, 1.4) for level in ("instance", "corpus") for k in (1, 20, 400)
    ]
    for row in rows:
        assert row["low"] <= row["mean"] * (1 + 1e-12)
        assert row["mean"] <= row["high"] * (1 + 1e-12)
        assert row["exact"] == weighed.exact_perplexity
    means = [row["mean"] for row in rows]
    assert means[2] == pytest.approx(instance_perplexity(weighed.weights(0)))
    # Of the flatter proposal, whose weights are bounded.
    assert means[6] > means[7] > means[8]
    assert means[9] == pytest.approx(means[6], rel=0.05)  # levels agree at K = 1
    assert means[10] > means[7]
