"""Distances of two sets of counts against scipy, by loops, and in chunks."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import chebyshev, cityblock

from textcritic.errors import TextcriticError
from textcritic.inference import chi_square, half_l1, max_difference

RNG = np.random.default_rng(5)
ONE, TWO = RNG.negative_binomial(0.5, 0.02, 400), RNG.negative_binomial(0.5, 0.03, 400)


def test_they_are_scipys():
    p, q = ONE / ONE.sum(), TWO / TWO.sum()
    seen = ONE + TWO > 0
    assert not seen.all()
    assert max_difference(ONE, TWO) == pytest.approx(chebyshev(p, q), rel=1e-12)
    assert half_l1(ONE, TWO) == pytest.approx(cityblock(p, q) / 2, rel=1e-12)
    expected = stats.chi2_contingency(np.stack([ONE, TWO])[:, seen], correction=False)
    assert chi_square(ONE, TWO) == pytest.approx(expected.statistic, rel=1e-12)


def test_bounds_are_reached():
    disjoint = [5, 0, 3], [0, 2, 0]
    assert (max_difference(*disjoint), half_l1(*disjoint)) == pytest.approx((1, 1), rel=1e-14)
    assert chi_square(*disjoint) == pytest.approx(10)  # the tokens of both
    for distance in (max_difference, half_l1, chi_square):
        assert distance([2, 4, 6], [1, 2, 3]) == pytest.approx(0, abs=1e-15)
        assert distance(ONE, TWO) == pytest.approx(distance(TWO, ONE), rel=1e-12)
    assert max_difference(ONE, TWO) < half_l1(ONE, TWO) < 1


@pytest.mark.parametrize("distance", [max_difference, half_l1, chi_square])
def test_many_pairs_at_once(distance):
    first, second = RNG.poisson(3, (4, 5, 30)), RNG.poisson(2, (4, 5, 30))
    found = distance(first, second)
    assert found.shape == (4, 5)
    expected = [[distance(a, b) for a, b in zip(*some, strict=True)] for some in zip(first, second, strict=True)]
    assert found == pytest.approx(np.array(expected), rel=1e-12)


@pytest.mark.parametrize(
    ("one", "two", "says"),
    [
        ([1, 2], [1, 2, 3], "the same words"),
        (1, 1, "the same words"),
        ([1, -1], [1, 2], "negative"),
        ([1, np.nan], [1, 2], "not finite"),
        ([0, 0], [1, 2], "no tokens"),
    ],
)
def test_bad_input(one, two, says):
    for distance in (max_difference, half_l1, chi_square):
        with pytest.raises(TextcriticError, match=says):
            distance(one, two)
