"""The identity H(agg, prior) = H(agg) + KL(agg || prior), and what its terms must be where that is known."""

import math

import numpy as np
import pytest
from scipy.stats import entropy

from textcritic.critics import (
    TransitionCritic,
    decompose,
    expected_transitions,
    latent_ppl,
    score_chains,
    score_posteriors,
    scored_transitions,
)
from textcritic.errors import TextcriticError

TITLES = ["a", "b", "c", "d"]


def sample(critic, documents, seed):
    """Chains drawn from the critic's own prior."""
    rng = np.random.default_rng(seed)
    cumulative = np.exp(critic.log_probs).cumsum(axis=1)
    end = len(critic.titles)
    chains = []
    while len(chains) < documents:
        state, chain = 0, []
        while (target := int(np.searchsorted(cumulative[state], rng.random() * cumulative[state, -1]))) < end:
            chain.append(critic.titles[target])
            state = target + 1
        if chain:
            chains.append(chain)
    return chains


def critic_without_empty_chains():
    """A critic whose begin state never goes to the end, so that its samples need no rejection."""
    counts = np.random.default_rng(0).integers(1, 30, (5, 5))
    counts[0, 4] = 0
    return TransitionCritic(tuple(TITLES), counts, 0.0)


CRITIC = critic_without_empty_chains()


@pytest.mark.parametrize("delta", [0.001, 1.0])
@pytest.mark.parametrize("soft", [False, True])
def test_identity(delta, soft):
    train = sample(CRITIC, 50, 1)
    critic = TransitionCritic.fit(train, titles=TITLES, grid=[delta])
    rng = np.random.default_rng(2)
    posteriors = [rng.dirichlet(np.full(4, 0.3), size=rng.integers(1, 7)) for _ in range(200)]
    scores = score_posteriors(critic, [str(i) for i in range(200)], posteriors)
    counts = expected_transitions(posteriors, critic) if soft else scored_transitions(scores, critic)
    found = decompose(counts, critic)
    assert found.cross_entropy == pytest.approx(found.entropy + found.kl, abs=1e-12)
    assert found.cross_entropy == pytest.approx(math.log(latent_ppl(scores, "nll_soft" if soft else "nll")), abs=1e-12)
    assert found.kl >= 0
    assert (found.entropy_corrected is None) is soft


def test_terms_equal_scipy_row_by_row():
    counts = np.random.default_rng(4).integers(0, 9, (5, 5))
    counts[2] = 0  # a state that does not occur
    counts[0, 4] = 0
    prior = np.exp(CRITIC.log_probs)
    share = counts.sum(axis=1) / counts.sum()
    rows = [i for i in range(5) if share[i] > 0]
    found = decompose(counts, CRITIC)
    assert found.entropy == pytest.approx(sum(share[i] * entropy(counts[i]) for i in rows), abs=1e-12)
    assert found.kl == pytest.approx(sum(share[i] * entropy(counts[i], prior[i]) for i in rows), abs=1e-12)
    correction = ((counts > 0).sum() - 4) / (2 * counts.sum())
    assert found.entropy_corrected == pytest.approx(found.entropy + correction, abs=1e-12)
    assert found.kl_corrected == pytest.approx(found.kl - correction, abs=1e-12)


def test_divergence_of_samples_from_the_prior_vanishes_as_predicted():
    # 2 N KL is asymptotically chi-squared with (cells - rows) = 24 - 5 degrees of freedom: mean 19, sd sqrt(38).
    values = []
    for seed in range(20):
        counts = scored_transitions(
            score_chains(CRITIC, [str(i) for i in range(400)], sample(CRITIC, 400, 100 + seed)), CRITIC
        )
        found = decompose(counts, CRITIC)
        values.append(2 * found.steps * found.kl)
    assert np.mean(values) == pytest.approx(19, abs=4 * math.sqrt(38 / 20))


def test_correction_brings_the_entropy_closer_to_the_truth():
    prior = np.exp(CRITIC.log_probs)
    # Expected visits per document solve v = e_begin + v P over the states that are left.
    visits = np.linalg.solve(np.eye(5) - np.column_stack([np.zeros(5), prior[:, :4]]).T, np.eye(5)[0])
    truth = float(visits / visits.sum() @ [entropy(row) for row in prior])
    plug_in, corrected = [], []
    for seed in range(60):
        chains = sample(CRITIC, 25, 1000 + seed)
        counts = scored_transitions(score_chains(CRITIC, [str(i) for i in range(25)], chains), CRITIC)
        found = decompose(counts, CRITIC)
        plug_in.append(found.entropy)
        corrected.append(found.entropy_corrected)
    assert np.mean(plug_in) < truth
    assert abs(np.mean(corrected) - truth) < abs(np.mean(plug_in) - truth) / 2


def test_mode_seeking_set_is_seen_through():
    # Always the likeliest chain: a lower cross-entropy than the prior's own samples, no entropy, all of it divergence.
    critic = TransitionCritic.fit([["a", "b"]] * 9 + [["b", "a"]] * 3, grid=[0.1])
    mode = decompose(scored_transitions(score_chains(critic, ["1"], [["a", "b"]]), critic), critic)
    honest = decompose(critic.counts, critic)
    assert mode.cross_entropy < honest.cross_entropy
    assert mode.entropy == 0
    assert mode.kl == pytest.approx(mode.cross_entropy)
    assert mode.kl > 10 * honest.kl


def test_impossible_transition_is_infinitely_far():
    critic = TransitionCritic.fit([["a", "b"]], grid=[0])
    found = decompose(scored_transitions(score_chains(critic, ["1"], [["b", "a"]]), critic), critic)
    assert found.cross_entropy == found.kl == math.inf
    assert found.entropy == 0


def test_nothing_to_decompose():
    with pytest.raises(TextcriticError, match="no transition between known titles"):
        decompose(np.zeros((5, 5), dtype=int), CRITIC)
