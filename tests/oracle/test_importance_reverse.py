"""Both bounds of log p, and the gap between them, against the enumeration of a small latent model."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

from textcritic.errors import TextcriticError
from textcritic.inference.importance import ExactWeights, LogWeights, gap
from textcritic.inference.importance.reverse import HINT

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import calibration_reverse

# Three texts with four states each; the proposal finds the posterior of the first one alone.
JOINT = np.array([[0.1, 0.05, 0.05, 0.2], [0.02, 0.18, 0.1, 0.1], [0.05, 0.05, 0.05, 0.05]])
PROPOSAL = np.array([[0.25, 0.125, 0.125, 0.5], [0.4, 0.1, 0.25, 0.25], [0.7, 0.1, 0.1, 0.1]])
P = JOINT.sum(axis=1)
STATES = range(4)


def of(weights, exact):
    """The gap of one text whose draws and exact states have these weights, and both bounds of it, in nats."""
    tokens = np.ones(1)
    forward = LogWeights(("x",), np.log(weights)[None], tokens)
    found = gap(forward, ExactWeights(("x",), np.log(exact)[None], tokens), resamples=1)
    above = -np.log(found.perplexity)
    return found.by_text[0], above - found.by_text[0], above


def expected(text, draws):
    """Exact means over all draws and exact states: of 1 / p-hat from above, of both bounds, and of the gap."""
    weights, posterior = JOINT[text] / PROPOSAL[text], JOINT[text] / P[text]
    total = np.zeros(4)
    for exact in STATES:
        for drawn in itertools.product(STATES, repeat=draws):
            chance = posterior[exact] * PROPOSAL[text][list(drawn)].prod()
            apart, below, above = of(weights[list(drawn)], weights[[exact]])
            total += chance * np.array([np.exp(-above), below, above, apart])
    return total


@pytest.mark.parametrize("text", range(3))
def test_both_are_bounds_in_the_mean_and_come_together_with_more_draws(text):
    gaps = []
    for draws in (1, 2, 3):
        inverse, below, above, apart = expected(text, draws)
        assert inverse == pytest.approx(1 / P[text], rel=1e-10)
        assert below <= np.log(P[text]) + 1e-12 <= above + 2e-12
        assert apart == pytest.approx(above - below, abs=1e-10)
        gaps.append(apart)
    if text == 0:  # the proposal is the posterior
        np.testing.assert_allclose(gaps, 0, atol=1e-12)
    else:
        assert gaps[0] > 1.2 * gaps[1] > 1.2**2 * gaps[2] > 0


def test_it_is_sharper_than_the_exact_state_alone():
    """That bound, log p(x, z) - log q(z | x) at the exact state, is KL(p || q) above log p, whatever K."""
    weights, posterior = JOINT[1] / PROPOSAL[1], JOINT[1] / P[1]
    alone = posterior @ np.log(weights)
    assert expected(1, 3)[2] < alone - 0.1


def test_several_exact_states_are_one_bound():
    """Their 1 / p-hat are averaged, which is unbiased, and no looser than the mean of their bounds."""
    weights, posterior = JOINT[1] / PROPOSAL[1], JOINT[1] / P[1]
    inverse, above, one_by_one = 0.0, 0.0, 0.0
    for one, two, drawn in itertools.product(STATES, repeat=3):
        chance = posterior[one] * posterior[two] * PROPOSAL[1][drawn]
        bound = of(weights[[drawn]], weights[[one, two]])[2]
        singly = [of(weights[[drawn]], weights[[state]])[2] for state in (one, two)]
        inverse, above = inverse + chance * np.exp(-bound), above + chance * bound
        one_by_one += chance * np.mean(singly)
    assert inverse == pytest.approx(1 / P[1], rel=1e-10)
    assert np.log(P[1]) < above < one_by_one - 1e-3


def test_what_the_spread_of_weights_explains_is_the_gap_of_a_proposal_that_covers():
    """chi-squared(p || q) / K to first order."""
    draws, rng = 200, np.random.default_rng(1)
    weights, posterior = JOINT[1] / PROPOSAL[1], JOINT[1] / P[1]
    forward = np.log(weights[rng.choice(4, (4000, draws), p=PROPOSAL[1])])
    exact = np.log(weights[rng.choice(4, (4000, 1), p=posterior)])
    ids, tokens = tuple(map(str, range(4000))), np.ones(4000)
    found = gap(LogWeights(ids, forward, tokens), ExactWeights(ids, exact, tokens), resamples=99)
    chi_squared = posterior @ (posterior / PROPOSAL[1]) - 1
    assert found.explained == pytest.approx(chi_squared / draws, rel=0.03)
    error = found.by_text.std() / 4000**0.5
    assert abs(found.nats.estimate - chi_squared / draws) < 4 * error + 0.02 * chi_squared / draws


def study(**changes):
    population = calibration_reverse.Population(**{"missed": 0.0, "drawn": 0.0, "spread": 0.0} | changes)
    return population.study(100, 100, np.random.default_rng(3))


def test_signs_and_words():
    assert (study().sign, study().nats.estimate) == ("none", 0.0)
    broad = study(spread=0.1)
    assert broad.sign in {"none", "small"}
    hidden = study(missed=0.1, drawn=1e-4, spread=0.1)
    assert (hidden.sign, hidden.unreached) == ("missed", ())
    assert hidden.sentences[0].startswith(
        "100 draws of the proposal miss part of the posterior on texts of the model: both bounds"
    )
    lost = study(missed=0.1, spread=0.1)
    assert (lost.sign, lost.nats.low, lost.perplexity) == ("missed", None, 0.0)
    assert lost.states == len(lost.unreached) > 0
    assert lost.reached == pytest.approx(0, abs=0.01)
    assert {found.sentences[-1] for found in (broad, hidden, lost)} == {HINT}
    few = calibration_reverse.Population(0, 0, 1.0).study(100, 5, np.random.default_rng(1))
    assert few.sign == "too few"
    assert few.sentences[0].startswith("K = 5 is too small on texts of the model")
    assert calibration_reverse.Population(0.1, 1e-4, 0.1).study(10, 100, np.random.default_rng(1)).sign == "unclear"


def test_ten_percent_missed_are_seen_and_nothing_else():
    """A short version of what docs/results/importance.md has."""
    rates = calibration_reverse.signs(calibration_reverse.Population(0.1, 1e-4, 0.5), 100, 100, 60, 199)
    assert rates["missed"] >= 0.95
    for spread in (0.0, 0.2, 0.5):
        rates = calibration_reverse.signs(calibration_reverse.Population(0.0, 0.0, spread), 100, 100, 60, 199)
        assert rates["missed"] + rates["too few"] == 0


def test_texts_and_tokens_are_the_same():
    forward = LogWeights(("a", "b"), np.zeros((2, 3)), np.ones(2))
    with pytest.raises(TextcriticError, match="reverse: text 1 is 'c', not 'b' as in the weights"):
        gap(forward, ExactWeights(("a", "c"), np.zeros((2, 1)), np.ones(2)))
    with pytest.raises(TextcriticError, match="reverse: other numbers of tokens than in the weights"):
        gap(forward, ExactWeights(("a", "b"), np.zeros((2, 1)), np.array([1, 2])))


def test_exact_weights_are_read_as_they_were_saved(tmp_path):
    given = ExactWeights.of(np.array([[-3.0], [-2.0]]), np.array([[-1.0], [-np.inf]]), [4, 5], ["a", "b"])
    np.testing.assert_array_equal(given.log_weights, [[-2.0], [np.inf]])
    given.save(tmp_path / "exact.npz")
    again = ExactWeights.read(tmp_path / "exact.npz")
    np.testing.assert_array_equal(again.log_weights, given.log_weights)
    assert (again.ids, again.tokens.tolist()) == (("a", "b"), [4, 5])
    two = again.joined([again])
    assert (type(two), two.log_weights.shape) == (ExactWeights, (2, 2))
    with pytest.raises(TextcriticError, match="log weights of exact states; give them as `reverse`"):
        LogWeights.read(tmp_path / "exact.npz")
