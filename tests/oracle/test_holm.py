"""Holm's adjusted p-values: by hand, by the closed test of all subsets, and under the null hypothesis."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from textcritic.errors import TextcriticError
from textcritic.inference import holm, twice_median


def test_values_by_hand() -> None:
    """Sorted: 4 x 0.005, 3 x 0.01, 2 x 0.03, and 0.04, which may not be below the 0.06 before it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_closed_test_gives_the_same() -> None:
    """A hypothesis is rejected if each set of hypotheses with it is, by Bonferroni (Marcus, Peritz, Gabriel 1976)."""
    rng = np.random.default_rng(1)
    for tests in (1, 2, 5):
        p = rng.uniform(size=tests) ** 2
        sets = [chosen for size in range(1, tests + 1) for chosen in combinations(range(tests), size)]
        closed = [max(min(1, len(s) * min(p[list(s)])) for s in sets if place in s) for place in range(tests)]
        assert holm(p) == pytest.approx(closed)


def test_what_was_not_tested_does_not_count() -> None:
    assert holm([0.02, np.nan, 0.5]) == pytest.approx([0.04, np.nan, 0.5], nan_ok=True)
    assert holm([]).shape == (0,)


def test_one_false_call_in_at_most_5_percent() -> None:
    p = np.random.default_rng(2).uniform(size=(2000, 8))
    assert 0.03 < np.mean([holm(row).min() < 0.05 for row in p]) < 0.065


@pytest.mark.parametrize("bad", [[0.1, 1.2], [-0.1], [[0.1, 0.2]]])
def test_bad_p_values_are_named(bad: object) -> None:
    with pytest.raises(TextcriticError, match="from 0 to 1"):
        holm(bad)


def test_twice_the_median_is_at_most_one() -> None:
    assert twice_median([0.01, 0.04, 0.3]) == 0.08
    assert twice_median([0.01, 0.02, 0.03, 0.9]) == pytest.approx(0.05)
    assert twice_median([0.7]) == 1.0


@pytest.mark.parametrize("shared", [0.0, 0.5, 0.95])
def test_twice_the_median_of_dependent_p_values_keeps_the_level(shared: float) -> None:
    rng = np.random.default_rng(2)
    values = np.sqrt(shared) * rng.normal(size=(4000, 1)) + np.sqrt(1 - shared) * rng.normal(size=(4000, 20))
    below = sum(twice_median(p) < 0.05 for p in stats.norm.sf(values))
    assert stats.binom.sf(below - 1, 4000, 0.05) > 1e-4
