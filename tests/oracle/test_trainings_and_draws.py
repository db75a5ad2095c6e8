"""What several trainings and several draws of each say together."""

import math

import numpy as np
import pytest

from textcritic.inference import Number, by_training, over_runs, over_trainings, runs_p, trainings_p

RUNS = [
    (1, Number(4.0, 3.0, 5.0)),
    (1, Number(9.0, 8.0, 10.0)),
    (2, Number(5.0, 4.5, 5.5)),
    (2, Number(20.0, 18.0, 22.0)),
]


def test_draws_are_averaged_before_trainings_are_compared():
    """So that a training counts once: by ratio the geometric means are 6 and 10."""
    assert [number.value for number in by_training(RUNS, by_ratio=True)] == pytest.approx([6, 10])
    recipe = over_runs(RUNS, by_ratio=True)
    assert recipe == over_trainings([one.value for one in by_training(RUNS, True)], by_ratio=True)
    assert (recipe.mean, recipe.trainings) == (pytest.approx(math.sqrt(60)), 2)
    # Student's t with one degree of freedom: 12.706 standard errors, here half the distance of the logarithms.
    half = 12.7062 * math.log(10 / 6) / 2
    assert recipe.high == pytest.approx(math.sqrt(60) * math.exp(half), rel=1e-5)
    real = Number(7.0, 6.0, 8.0)
    assert runs_p(RUNS, real, True) == pytest.approx(trainings_p([6, 10], real, True))


def test_draws_of_one_training_have_an_interval_over_all_their_documents():
    """Half-widths of 1 and 1 give sqrt(2) / 2 for the mean; of another training it says nothing."""
    recipe = over_runs(RUNS[:2])
    assert (recipe.mean, recipe.trainings, recipe.sd) == (6.5, 1, None)
    assert (recipe.low, recipe.high) == pytest.approx((6.5 - math.sqrt(0.5), 6.5 + math.sqrt(0.5)))
    by_ratio = over_runs(RUNS[:2], by_ratio=True)
    width = math.hypot(math.log(5 / 4), math.log(10 / 9)) / 2
    assert (by_ratio.mean, by_ratio.high) == pytest.approx((6, 6 * math.exp(width)))
    bare = over_runs([RUNS[0], (1, Number(9.0))])
    assert (bare.mean, bare.low) == (6.5, None)
    infinite = over_runs([RUNS[0], (1, Number(math.inf))], by_ratio=True)
    assert (infinite.mean, infinite.low) == (math.inf, None)


def test_a_single_draw_is_itself_and_its_interval_is_elsewhere():
    assert over_runs(RUNS[:1]) == over_trainings([4.0])
    assert by_training(RUNS[:1]) == [RUNS[0][1]]


def test_draws_of_one_training_against_real_text():
    """The errors of both sides, of 95% intervals, in a normal test; without an interval there is none."""
    error = math.hypot(math.sqrt(0.5), 1.0) / 1.959964
    real = Number(8.0, 7.0, 9.0)
    assert runs_p(RUNS[:2], real) == pytest.approx(math.erfc(1.5 / error / math.sqrt(2)))
    assert runs_p([RUNS[0], (1, Number(9.0))], real) is None
    assert runs_p([RUNS[0], (1, Number(math.inf))], real) is None


def test_the_mean_of_draws_holds_the_truth_of_the_model():
    """3 draws of 60 documents, log-normal, 400 times: 93% or more."""
    from textcritic.inference import bootstrap_interval, ratio_of_sums

    rng, held = np.random.default_rng(5), 0
    for _ in range(400):
        draws = [rng.lognormal(0, 0.7, 60) for _ in range(3)]
        found = [bootstrap_interval(np.column_stack([d, np.ones(60)]), ratio_of_sums, 300) for d in draws]
        recipe = over_runs([(1, Number(one.estimate, one.low, one.high)) for one in found])
        held += recipe.low <= math.exp(0.245) <= recipe.high
    assert held >= 0.93 * 400
