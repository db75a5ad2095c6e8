from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcritic.errors import TextcriticError
from textcritic.inference import Histogram, quantile

RNG = np.random.default_rng(3)


def test_values_are_counted():
    found = Histogram.of([3, 1.5, 3, -0.0, 0, 3])
    assert found.values.tolist() == [0, 1.5, 3]
    assert found.counts.tolist() == [2, 1, 3]
    assert (found.values.dtype, found.counts.dtype) == (np.float64, np.int64)
    assert (found.total, found.mean) == (6, 1.75)
    assert found.variance == pytest.approx(np.var([3, 1.5, 3, 0, 0, 3], ddof=1), rel=1e-14)
    assert np.isnan(Histogram.of([4]).variance)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60)), min_size=1, max_size=80))
def test_equal_ratios_are_one_value(pairs):
    found = Histogram.of_ratios(*np.array(pairs).T)
    expected = [Fraction(above, below) for above, below in pairs]
    assert found.values.tolist() == [float(ratio) for ratio in sorted(set(expected))]
    assert found.counts.tolist() == [expected.count(ratio) for ratio in sorted(set(expected))]


@pytest.mark.parametrize("documents", [1, 2, 3, 50, 51])
def test_quantiles_are_those_of_numpy(documents):
    values = RNG.geometric(0.1, documents)
    shares = np.linspace(0, 1, 37)
    found = quantile(Histogram.of(values), shares)
    assert found == pytest.approx(np.quantile(values, shares), abs=1e-12)
    assert quantile(Histogram.of(values), 0.5).shape == ()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Histogram.of([]), "one value for each document"),
        (lambda: Histogram.of([[1.0]]), r"shape \(1, 1\)"),
        (lambda: Histogram.of([1, np.nan]), "infinite or missing"),
        (lambda: Histogram.of_ratios([1, 0, 0], [2, 0, 0]), "2 of 3 documents have length 0"),
        (lambda: Histogram.of_ratios([1, 2], [2]), "give as many"),
        (lambda: quantile(Histogram.of([1]), 1.5), "from 0 to 1"),
    ],
)
def test_bad_input(call, says):
    with pytest.raises(TextcriticError, match=says):
        call()
