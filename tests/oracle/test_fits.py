"""Intervals over documents and starts: by hand, and their coverage of what other starts give."""

import math

import numpy as np
import pytest
from scipy import stats

from textcritic.inference import bootstrap_difference, ratio_of_sums, with_fits, with_ones


def test_half_widths_add_up_as_squares():
    values = [1.0, 1.4, 0.9, 1.1]
    low, high = with_fits(1.1, (0.8, 1.6), values)
    starts = stats.t.ppf(0.975, 3) * np.std(values, ddof=1) * math.sqrt(2 / 4)
    assert low == pytest.approx(1.1 - math.sqrt(0.3**2 + starts**2), rel=1e-12)
    assert high == pytest.approx(1.1 + math.sqrt(0.5**2 + starts**2), rel=1e-12)
    assert with_fits(1.1, (0.8, 1.6), [1.1]) == (0.8, 1.6)
    assert with_fits(1.1, (0.8, 1.6), [1.1, 1.1]) == pytest.approx((0.8, 1.6), rel=1e-12)
    assert all(map(math.isnan, with_fits(1.1, (math.nan, math.nan), values)))


@pytest.mark.parametrize("between", [0.0, 0.1, 1.0])
def test_covers_what_another_set_of_starts_gives_in_other_documents(between):
    """Documents differ by 1, fits of the same documents by `between`; each document has its own reaction to a fit."""
    rng, held, alone = np.random.default_rng(int(10 * between)), [], []
    for run in range(400):
        fits = between * rng.normal(size=8)
        one, two = (rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=(n, 8)) for n in (50, 60))
        one += fits
        gaps = (one.mean(axis=0) - two.mean(axis=0))[:4]
        columns = with_ones(one[:, :4].mean(axis=1)), with_ones(two[:, :4].mean(axis=1))
        found = bootstrap_difference(*columns, ratio_of_sums, 200, seed=run)
        low, high = with_fits(found.estimate, (found.low, found.high), gaps)
        truth = fits[4:].mean()
        held.append(low <= truth <= high)
        alone.append(found.low <= truth <= found.high)
    assert np.mean(held) >= 0.93
    if between == 1.0:
        assert np.mean(alone) < 0.6
