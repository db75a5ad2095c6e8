"""What holds for a recipe: against scipy's t-tests, against the definition of Cochran's test, and under the null."""

import math

import numpy as np
import pytest
from scipy import stats
from trainings_oracle import cochran

from textcritic.errors import TextcriticError
from textcritic.inference import Number, over_trainings, recipes_p, trainings_p

VALUES = [19.6, 13.4, 15.3]
OTHERS = [37.7, 31.9, 26.3, 29.0]
Z = stats.norm.ppf(0.975)


@pytest.mark.parametrize("level", [0.95, 0.5])
@pytest.mark.parametrize("values", [VALUES, VALUES[:2], OTHERS])
def test_the_mean_over_trainings_has_students_interval(values, level):
    found = over_trainings(values, level=level)
    low, high = stats.ttest_1samp(values, 0).confidence_interval(level)
    assert (found.mean, found.low, found.high) == pytest.approx((np.mean(values), low, high), rel=1e-12)
    assert (found.sd, found.trainings) == (pytest.approx(np.std(values, ddof=1)), len(values))
    assert found.number == Number(found.mean, found.low, found.high)


@pytest.mark.parametrize("values", [VALUES, VALUES[:2], OTHERS])
def test_by_ratio_it_is_of_the_logarithms(values):
    found = over_trainings(values, by_ratio=True)
    low, high = np.exp(stats.ttest_1samp(np.log(values), 0).confidence_interval())
    assert (found.mean, found.low, found.high) == pytest.approx((stats.gmean(values), low, high), rel=1e-12)
    assert found.sd == pytest.approx(np.std(values, ddof=1)), "in the unit of the values"


@pytest.mark.parametrize("by_ratio", [False, True])
def test_one_training_says_nothing_about_the_recipe(by_ratio):
    found = over_trainings([4.2], by_ratio)
    assert (found.mean, found.low, found.high, found.sd, found.trainings) == (4.2, None, None, None, 1)
    assert trainings_p([4.2], Number(1.0), by_ratio) is recipes_p([4.2], VALUES, by_ratio) is None
    assert recipes_p(VALUES, [4.2], by_ratio) is None


@pytest.mark.parametrize(
    ("values", "by_ratio", "mean"),
    [([4.0, math.inf], True, math.inf), ([4.0, math.inf], False, math.inf), ([4.0, 0.0], True, 2.0)],
)
def test_infinite_values_and_those_without_a_logarithm_have_a_mean_alone(values, by_ratio, mean):
    found = over_trainings(values, by_ratio)
    assert (found.mean, found.low, found.high, found.sd, found.trainings) == (mean, None, None, None, 2)
    assert trainings_p(values, Number(3.0, 2.0, 4.0), by_ratio) is None
    assert recipes_p(values, VALUES, by_ratio) is recipes_p(VALUES, values, by_ratio) is None


def test_no_training_is_one_line():
    with pytest.raises(TextcriticError, match="at least one training"):
        over_trainings([])


@pytest.mark.parametrize("by_ratio", [False, True])
@pytest.mark.parametrize("values", [VALUES, VALUES[:2], OTHERS])
def test_against_an_exact_value_it_is_students_test(values, by_ratio):
    scaled, real = (np.log(values), math.log(14.0)) if by_ratio else (values, 14.0)
    expected = stats.ttest_1samp(scaled, real).pvalue
    assert trainings_p(values, Number(14.0), by_ratio) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("by_ratio", [False, True])
@pytest.mark.parametrize(("values", "width"), [(VALUES, 1.5), (VALUES[:2], 0.2), (VALUES, 9.0), (OTHERS, 2.0)])
def test_the_error_of_real_text_counts(values, width, by_ratio):
    """Of an interval that is symmetric in the unit of the test: its half-width is 1.96 standard errors."""
    scaled, real, half = np.array(values), 12.0, width
    if by_ratio:
        scaled, real, half = np.log(scaled), math.log(12.0), width / 12
    ends = [real, real - half, real + half]
    number = Number(*(np.exp(ends) if by_ratio else ends))
    variances = scaled.var(ddof=1) / len(values), (half / Z) ** 2
    expected = cochran(scaled.mean() - real, variances, (len(values) - 1, math.inf))
    assert trainings_p(values, number, by_ratio) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("by_ratio", [False, True])
@pytest.mark.parametrize(("first", "second"), [(VALUES, OTHERS), (VALUES, [*VALUES[:2], 14.0]), (OTHERS, VALUES)])
def test_two_recipes_by_welchs_test(first, second, by_ratio):
    scaled = [np.log(values) if by_ratio else values for values in (first, second)]
    expected = stats.ttest_ind(*scaled, equal_var=False).pvalue
    assert recipes_p(first, second, by_ratio) == pytest.approx(expected, rel=1e-9)


def test_two_trainings_against_more_have_cochrans_critical_value():
    """Welch's test finds a difference in 12% there; with two on each side it does not."""
    two = [22.0, 23.0]
    variances = [np.var(values, ddof=1) / len(values) for values in (two, OTHERS)]
    expected = cochran(np.mean(two) - np.mean(OTHERS), variances, (1, 3))
    assert recipes_p(two, OTHERS) == pytest.approx(recipes_p(OTHERS, two)) == pytest.approx(expected, rel=1e-6)
    other = [37.7, 31.9]
    assert recipes_p(two, other) == pytest.approx(stats.ttest_ind(two, other, equal_var=False).pvalue, rel=1e-9)


def test_three_trainings_against_three_can_be_told_apart():
    """Which no exchange of them could do below p = 0.1, as there are 20 splits."""
    assert recipes_p(VALUES, [value + 30 for value in VALUES]) < 0.01


def test_nothing_varies():
    assert trainings_p([2.0, 2.0], Number(1.0)) is recipes_p([2.0, 2.0], [3.0, 3.0]) is None
    # Then the error of real text is all there is.
    assert trainings_p([2.0, 2.0], Number(1.0, 0.5, 1.5)) == pytest.approx(2 * stats.norm.sf(2 * Z), rel=1e-5)
    assert trainings_p([2.0, 2.1], Number(None)) is None
    assert trainings_p([2.0, 2.1], Number(math.inf)) is None
    assert trainings_p([2.0, 2.1], Number(0.0), by_ratio=True) is None


def test_far_apart_is_a_small_p_value_and_not_0():
    assert 0 < trainings_p([1e6, 1e6 + 1], Number(1.0, 0.9, 1.1)) < 1e-5
    assert 0 < trainings_p([1e6, 1e6], Number(1.0, 0.9, 1.1)) < 1e-100


RUNS = 1000


@pytest.mark.parametrize("error", [0.0, 0.2, 0.5, 2.0])
@pytest.mark.parametrize("trainings", [2, 3, 5])
def test_level_against_real_text(trainings, error):
    """Real text's error in standard deviations of a training; Welch's test has 12.6% at two trainings and 0.2."""
    rng = np.random.default_rng(5)
    values = np.exp(rng.normal(3.0, 0.1, (RUNS, trainings)))
    real = np.exp(3.0 + np.array([[0.0, -Z, Z]]) * 0.1 * error + rng.normal(0, 0.1 * error, (RUNS, 1)))
    marked = sum(
        trainings_p(own, Number(*ends) if error else Number(ends[0]), by_ratio=True) < 0.05
        for own, ends in zip(values.tolist(), real.tolist(), strict=True)
    )
    assert 0.01 < marked / RUNS <= 0.075


@pytest.mark.parametrize("spread", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("sizes", [(2, 2), (3, 3), (5, 5), (2, 5), (3, 5)])
def test_level_between_recipes(sizes, spread):
    """Under 2.5% where both spread alike and have few trainings: conservative."""
    rng = np.random.default_rng(6)
    sets = zip(rng.normal(0, 1, (RUNS, sizes[0])), rng.normal(0, spread, (RUNS, sizes[1])), strict=True)
    assert sum(recipes_p(*pair) < 0.05 for pair in sets) / RUNS <= 0.075
