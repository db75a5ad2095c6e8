"""Which of two models is nearer to real text: against closed forms and simulated numbers."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from textcritic.inference import ALPHA, Number, beyond, documents_apart, gap, nearest, nearness

WIDE = 1.959964


def normal(value: float, error: float) -> Number:
    """A number whose interval is the normal distribution's."""
    return Number(value, value - WIDE * error, value + WIDE * error)


def test_on_one_side_of_real_text_its_value_cancels() -> None:
    first, second = Number(5.0, 4.5, 5.7), Number(7.0, 6.0, 9.0)
    found, apart = nearness(first, second, Number(3.0, 1.0, 5.5)), gap(first, second)
    assert found is not None
    assert apart is not None
    assert (found.difference, found.low, found.high) == pytest.approx((-2.0, apart.low, apart.high))


def test_below_real_text_the_larger_is_nearer() -> None:
    first, second = Number(1.0, 0.9, 1.3), Number(2.0, 1.6, 2.2)
    found, apart = nearness(first, second, Number(3.0, 2.0, 4.0)), gap(second, first)
    assert found is not None
    assert apart is not None
    assert (found.difference, found.low, found.high) == pytest.approx((1.0, apart.low, apart.high))


def test_on_opposite_sides_an_error_of_real_text_counts_twice() -> None:
    found = nearness(normal(4.0, 0.3), normal(1.0, 0.4), normal(3.0, 0.2))
    assert found is not None
    error = math.sqrt(0.3**2 + 0.4**2 + (2 * 0.2) ** 2)
    assert found.difference == pytest.approx(1.0 - 2.0)
    assert (found.low, found.high) == pytest.approx((-1.0 - WIDE * error, -1.0 + WIDE * error))
    assert found.p == pytest.approx(2 * stats.norm.sf(1.0 / error), rel=1e-6)


def test_by_ratio_it_is_the_same_of_logarithms() -> None:
    numbers = [Number(4.0, 3.0, 6.0), Number(1.5, 1.2, 1.9), Number(2.0, 1.7, 2.4)]
    logs = [Number(*(math.log(end) for end in (n.value, n.low, n.high) if end is not None)) for n in numbers]
    ratio, plain = nearness(*numbers, by_ratio=True), nearness(*logs)
    assert ratio is not None
    assert plain is not None
    assert (ratio.difference, ratio.low, ratio.high, ratio.p) == pytest.approx(
        (plain.difference, plain.low, plain.high, plain.p)
    )


def test_turned_round_it_has_the_other_sign() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        a, b, real = (normal(value, 0.5) for value in rng.normal(0, 1, 3))
        one, other = nearness(a, b, real), nearness(b, a, real)
        assert one is not None
        assert other is not None
        assert (one.difference, one.low, one.high, one.p) == pytest.approx(
            (-other.difference, -other.high, -other.low, other.p)
        )
        assert (one.p < ALPHA) == (not one.low <= 0 <= one.high)


def test_of_two_distances_their_difference_is_the_gap() -> None:
    """Where real text is 0 by definition and exact, as of a distance from it."""
    first, second = Number(0.4, 0.3, 0.6), Number(0.9, 0.7, 1.0)
    found, apart = nearness(first, second, Number(0.0)), gap(first, second)
    assert found is not None
    assert apart is not None
    assert (found.difference, found.low, found.high) == (apart.difference, apart.low, apart.high)


@pytest.mark.parametrize("missing", [Number(None), Number(math.inf), Number(2.0)])
def test_a_sample_without_an_interval_is_not_compared(missing: Number) -> None:
    assert nearness(missing, normal(1.0, 0.1), normal(0.0, 0.1)) is None


def test_the_nearest_and_all_that_may_be_as_near() -> None:
    real = normal(10.0, 0.1)
    numbers = [normal(14.0, 0.1), normal(10.5, 0.2), normal(9.4, 0.2), Number(None), Number(math.inf), Number(30.0)]
    # The second is nearest; the third, on the other side, may be as near; of 30 nothing is known without an interval.
    assert nearest(numbers, real) == [False, True, True, False, False, True]


def test_holms_correction_counts_all_pairs() -> None:
    """One of p = 0.03 differs where there are two samples, and may be as near where there are five."""
    real, error = Number(0.0), 0.1
    step = stats.norm.isf(0.015) * error * math.sqrt(2)
    two = [normal(1.0, error), normal(1.0 + step, error)]
    assert nearest(two, real) == [True, False]
    assert nearest([*two, *(normal(1.0 + step / 2, error) for _ in range(3))], real) == [True] * 5


def test_without_a_value_of_real_text_none_is_nearest() -> None:
    assert nearest([normal(1.0, 0.1), normal(2.0, 0.1)], Number(None)) == [False, False]


@pytest.mark.parametrize("second", [1.3, 0.7])
def test_of_equally_near_models_few_are_told_apart(second: float) -> None:
    rng, significant = np.random.default_rng(1), 0
    for _ in range(2000):
        values = [rng.normal(1.3, 0.05), rng.normal(second, 0.02), rng.normal(1.0, 0.03)]
        found = nearness(*map(normal, values, (0.05, 0.02, 0.03)))
        assert found is not None
        significant += found.p < ALPHA
    assert abs(significant / 2000 - 0.05) < 4 * math.sqrt(0.05 * 0.95 / 2000)


def test_the_nearest_to_what_is_beyond_all_is_the_highest_or_the_lowest() -> None:
    """An error of the point beyond does not count: the difference is that of the two values alone."""
    numbers = [Number(1.0, 0.8, 1.2), Number(1.1, 0.9, 1.3), Number(3.0, 2.9, 3.1), Number(3.05, 2.9, 3.2)]
    assert nearest(numbers, beyond(numbers, above=True)) == [False, False, True, True]
    assert nearest(numbers, beyond(numbers, above=False)) == [True, True, False, False]
    apart = nearness(numbers[0], numbers[2], beyond(numbers, above=True))
    assert apart is not None
    assert apart.difference == pytest.approx(2.0)
    assert apart.high - apart.difference == pytest.approx(math.hypot(0.2, 0.1))
    assert beyond([Number(None)], above=True).value == 1


def student(value: float, sd: float, documents: int) -> Number:
    """A mean of documents with this standard deviation, and Student's interval."""
    half = stats.t.ppf(0.975, documents - 1) * sd / math.sqrt(documents)
    return Number(value, value - half, value + half)


@pytest.mark.parametrize(
    ("values", "factors"), [((1.6, 2.0, 1.0), (1, 1, 0)), ((0.0, -0.4, 1.0), (1, 1, 0)), ((1.6, -0.1, 1.0), (1, 1, 2))]
)
def test_documents_that_tell_two_apart_are_those_of_students_t(
    values: tuple[float, float, float], factors: tuple[int, int, int]
) -> None:
    """On one side of real text its error does not count; on opposite sides twice. Sets may have other sizes."""
    sds, sizes = (1.0, 1.2, 0.7), (50, 80, 200)
    numbers = [student(*each) for each in zip(values, sds, sizes, strict=True)]
    needed = documents_apart(numbers[0], numbers[1], numbers[2], sizes)
    apart = abs(abs(values[0] - values[2]) - abs(values[1] - values[2]))
    variance = sum((factor * sd) ** 2 for factor, sd in zip(factors, sds, strict=True))

    def excess(n: float) -> float:
        return apart / math.sqrt(variance / n) - stats.t.ppf(0.975, n - 1) - stats.t.ppf(0.8, n - 1)

    assert needed == pytest.approx(optimize.brentq(excess, 3, 1e6), rel=1e-6)


def test_an_exact_yardstick_has_no_documents() -> None:
    numbers = student(1.0, 1.0, 40), student(1.4, 1.0, 40)
    assert documents_apart(*numbers, Number(0.0), (40, 40, None)) == pytest.approx(100, rel=0.03)
    assert documents_apart(numbers[0], Number(1.4), Number(0.0), (40, 40, None)) is None, "without an interval"
    assert documents_apart(numbers[0], student(1.2, 1.0, 40), Number(0.0), (40, 40, None)) is None, "within an error"
    assert documents_apart(numbers[0], numbers[0], Number(0.0), (40, 40, None)) is None


@pytest.mark.parametrize("second", [1.4, 0.4])
def test_so_many_documents_tell_two_apart_in_80_percent(second: float) -> None:
    values, sizes = (1.2, second, 1.0), (5000, 5000, 5000)
    numbers = [student(value, 1.0, 5000) for value in values]
    needed = documents_apart(numbers[0], numbers[1], numbers[2], sizes)
    assert needed is not None
    rng, n, found = np.random.default_rng(4), round(needed), 0
    for _ in range(3000):
        drawn = [rng.normal(value, 1.0, n) for value in values]
        compared = nearness(*(student(float(one.mean()), float(one.std(ddof=1)), n) for one in drawn))
        found += compared is not None and compared.p < ALPHA
    assert found / 3000 == pytest.approx(0.8, abs=0.03)
