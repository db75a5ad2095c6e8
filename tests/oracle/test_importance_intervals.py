"""The three intervals hold what they say, and not what another one does; the advice where the truth is known."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from textcritic.inference import bootstrap_interval, exp_ratio_of_sums
from textcritic.inference.importance import (
    COVERS,
    LogWeights,
    advice,
    for_truth,
    instance_perplexity,
    intervals,
    log_likelihoods,
    over_draws,
    over_instances,
)
from textcritic.inference.importance.advice import CAVEAT

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import calibration_importance

RUNS = 200
# Four Monte Carlo errors of a rate of 95% in so many runs.
ALLOWED = 4 * 100 * (0.05 * 0.95 / RUNS) ** 0.5


def normal(sigma, texts=100, draws=100, tokens=20.0, seed=1):
    """Weights of texts whose log p is -4 a token."""
    w = sigma * np.random.default_rng(seed).standard_normal((texts, draws)) - sigma**2 / 2 - 4 * tokens
    return LogWeights(tuple(f"text {n}" for n in range(texts)), w, np.full(texts, tokens))


@pytest.mark.parametrize(
    ("population", "texts", "draws"),
    [(calibration_importance.Lognormal(1.0), 60, 30), (calibration_importance.Discrete(3.0), 40, 20)],
)
def test_each_interval_holds_its_own_target(population, texts, draws, monkeypatch):
    monkeypatch.setattr(calibration_importance, "SIMULATED", 50_000)
    found, bias = calibration_importance.coverage(population, texts, draws, RUNS, 149)
    assert min(found["texts"], found["draws"], found["truth"]) > 95 - ALLOWED
    assert max(found["texts"], found["draws"]) < 100
    assert bias > 0
    assert found["draws, truth"] < found["draws"], "other draws are too low in the mean, all of them"


def test_over_instances_is_the_interval_of_perplexity():
    weights = normal(1, texts=50)
    columns = np.column_stack([-log_likelihoods(weights), weights.tokens])
    assert over_instances(weights, 300, seed=3) == bootstrap_interval(columns, exp_ratio_of_sums, 300, seed=3)
    assert over_instances(normal(1, texts=19), 300).reason == "no interval of fewer than 20"
    total = LogWeights(weights.ids, weights.log_weights, np.array(1000.0))
    assert over_instances(total).reason == "the tokens of each text are not known, only their sum"
    assert over_instances(total).estimate == instance_perplexity(total) == instance_perplexity(weights)


def test_over_draws_is_as_wide_as_the_spread_of_runs():
    """The variance of log perplexity over 400 runs with other draws, against the mean of what one run says of it."""
    runs = [normal(0.7, texts=10, draws=50, seed=seed) for seed in range(400)]
    spread = np.var([np.log(instance_perplexity(run)) for run in runs], ddof=1)
    ends = np.log([over_draws(run).ends for run in runs])
    said = np.mean(((ends[:, 1] - ends[:, 0]) / 2 / 1.96) ** 2)
    # A variance of 400 values has a relative error of 7%; Student's t is a little wider.
    assert 0.8 < said / spread < 1.3


def test_over_draws_is_the_jackknife_of_plain_loops():
    """Each draw of each text is left out by itself; variances and degrees of freedom are by their formulas."""
    draws, rng = 5, np.random.default_rng(2)
    rows, tokens = rng.normal(-20, 1, (3, draws)), np.array([6.0, 9.0, 4.0])
    variances = []
    for row in rows:
        without = [logsumexp(np.delete(row, k)) - np.log(draws - 1) for k in range(draws)]
        mean = sum(without) / draws
        variances.append((draws - 1) / draws * sum((value - mean) ** 2 for value in without))
    freedom = sum(variances) ** 2 / sum(value**2 / (draws - 1) for value in variances)
    half = stats.t.ppf(0.95, freedom) * np.sqrt(sum(variances))
    total = sum(logsumexp(row) - np.log(draws) for row in rows)
    found = over_draws(LogWeights(("a", "b", "c"), rows, tokens), 0.9)
    assert found.low == pytest.approx(np.exp(-(total + half) / tokens.sum()), rel=1e-10)
    assert found.high == pytest.approx(np.exp(-(total - half) / tokens.sum()), rel=1e-10)


def test_an_interval_over_draws_needs_draws_that_differ():
    assert "one draw" in over_draws(normal(1, draws=1)).reason
    alone = LogWeights(("a", "b"), np.array([[0.0, -np.inf], [0.0, 0.0]]), np.ones(2))
    assert over_draws(alone).reason == "a single draw has all the weight in 1 of 2 texts"
    assert over_draws(normal(0.0)).reason == "all weights of each text are equal"


def test_the_bound_for_the_truth_subtracts_log_20_once():
    weights = normal(1, texts=30)
    bound = for_truth(weights)
    assert bound.log_likelihood == pytest.approx(log_likelihoods(weights).sum() - np.log(20), rel=1e-14)
    assert bound.perplexity == pytest.approx(instance_perplexity(weights) * 20 ** (1 / 600), rel=1e-12)
    assert for_truth(weights, 0.9).log_likelihood == pytest.approx(bound.log_likelihood + np.log(2), rel=1e-12)


def test_the_bound_holds_for_a_proposal_that_misses_nearly_all():
    """Two states; one has 99% of p and is drawn in 1 of 1,000. Each interval but this one may be far off."""
    rng = np.random.default_rng(2)
    held = []
    for _ in range(400):
        rare = rng.random((1, 20)) < 0.001
        w = np.where(rare, np.log(0.99 / 0.001), np.log(0.01 / 0.999))
        held.append(for_truth(LogWeights(("a",), w, np.ones(1))).log_likelihood <= 0.0)
    assert np.mean(held) >= 0.95


def test_all_three_are_apart_and_say_what_they_cover():
    found = intervals(normal(1), resamples=99)
    assert {*COVERS} == {*found.__slots__}
    assert len({found.over_instances.ends, found.over_draws.ends}) == 2


# The advice.


NO_SIGN = (
    "There is no sign of too few draws: by what was drawn, more than K = 100 would change perplexity by less than 1%."
)


def test_even_weights_show_no_sign_and_the_bias_is_that_of_the_delta_method():
    weights = normal(0.3, tokens=5.0)
    found = advice(weights)
    assert (found.verdict, found.sentences[:2]) == ("no sign", (NO_SIGN, CAVEAT))
    expected = (np.exp(0.3**2) - 1) / (2 * 100) / 5
    assert found.bias == pytest.approx(expected, rel=0.1)
    assert found.draws_needed == pytest.approx(100 * expected / np.log(1.01), abs=1)
    assert sum(share for _, share in found.worst) < 0.2


def test_even_weights_are_told_from_100_draws_although_single_k_hats_are_noisy():
    """The bias of a log-normal weight of sd 1 is (e - 1) / 2 K nats a text, to first order."""
    said = [advice(normal(1.0, texts=50, seed=seed)) for seed in range(10)]
    even = [one for one in said if one.verdict == "no sign"]
    assert len(even) >= 8
    assert {one.verdict for one in said} <= {"no sign", "unclear"}
    biases = [one.bias for one in even if one.bias is not None]
    assert len(biases) >= 8
    assert np.mean(biases) == pytest.approx((np.e - 1) / 200 / 20, rel=0.4)


def test_the_number_of_draws_that_is_needed_gives_one_percent():
    """Texts of one token, so that perplexity is about 1% too high only with many draws."""
    found = advice(normal(0.8, texts=3000, draws=400, tokens=1.0))
    needed = found.draws_needed
    again = [np.log(instance_perplexity(normal(0.8, 3000, needed, 1.0, seed))) - 4 for seed in range(2, 12)]
    assert np.mean(again) == pytest.approx(np.log(1.01), rel=0.25)


def test_a_curve_that_falls_shows_too_few_draws():
    found = advice(normal(4, tokens=3.0))
    assert (found.verdict, found.draws_needed, found.bias) == ("too few", None, None)
    assert found.fall > 0.01
    assert any("a k-hat of 0.7 or more" in sentence for sentence in found.sentences)
    assert "unclear" in found.sentences[-2]


def test_uneven_weights_of_long_texts_cannot_be_told():
    found = advice(normal(3, tokens=2000.0))
    assert found.verdict == "unclear"
    assert found.sentences[1] == CAVEAT


def test_the_text_that_makes_the_error_is_named():
    weights = normal(0.2, texts=30)
    weights.log_weights[7] = normal(2.5, texts=1, seed=5).log_weights[0]
    name, share = advice(weights).worst[0]
    assert name == "text 7"
    assert share > 0.5


def test_one_draw_and_few_draws_say_so():
    one = advice(normal(1, draws=1))
    assert (one.verdict, one.bias, one.draws_needed, one.fall, one.worst) == ("unclear", None, None, None, ())
    assert "There is one draw for each text" in one.sentences[0]
    few = advice(normal(0.1, draws=5))
    assert few.verdict == "unclear"
    assert any("k-hat needs at least 21 draws" in sentence for sentence in few.sentences)
    assert advice(normal(0.0, draws=5)).verdict == "no sign"


def test_a_missed_support_shows_no_sign():
    """What the caveat says: a proposal that never draws where 99% of p is looks perfect."""
    found = advice(LogWeights(("a", "b"), np.full((2, 100), np.log(0.01)), np.ones(2)))
    assert found.verdict == "no sign"
    assert "none of these numbers would show it" in found.sentences[1]
    assert "--reverse" in found.sentences[-1]


def test_numbers_in_words():
    """One text or draw is singular, and a share of all is 100%, not 1e+02%."""
    uneven = np.full((3, 200), -60.0)
    uneven[0, 0] = -30
    said = " ".join(advice(LogWeights(("a", "b", "c"), uneven, np.full(3, 20.0))).sentences)
    assert "The text that makes most of the error: 'a' (100%)." in said
    assert "e+" not in said
    alone = " ".join(advice(normal(0.01, texts=1)).sentences)
    assert "for each of 1 text: its weights have a tail" in alone
    assert "one draw would have made it 1%" in alone
    assert "about 1 draws" not in alone
