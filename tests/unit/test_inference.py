import math

import numpy as np
import pytest
from scipy.stats import binomtest

from textcritic.errors import TextcriticError
from textcritic.inference import exp_ratio_of_sums, ratio_of_sums, share_interval, with_ones
from textcritic.inference.bootstrap import CHUNK_DRAWS, chunk_sizes
from textcritic.inference.statistics import distinct_rows


def test_statistics_by_hand():
    sums = np.array([[6.0, 3.0], [1.0, 4.0]])
    assert ratio_of_sums(sums).tolist() == [2.0, 0.25]
    assert exp_ratio_of_sums(sums).tolist() == pytest.approx([math.exp(2), math.exp(0.25)])
    assert with_ones([1, 2]).tolist() == [[1.0, 1.0], [2.0, 1.0]]


def test_distinct_rows_are_counted():
    columns = np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0], [-0.0, 2.0], [1.0, 3.0]])
    rows, counts = distinct_rows(columns)
    found = {tuple(row): count for row, count in zip(rows.tolist(), counts.tolist(), strict=True)}
    assert found == {(1.0, 2.0): 2, (0.0, 2.0): 2, (1.0, 3.0): 1}


@pytest.mark.parametrize(("resamples", "draws"), [(10, 1), (7, CHUNK_DRAWS // 3), (3, 10 * CHUNK_DRAWS)])
def test_chunks_add_up_and_are_bounded(resamples, draws):
    sizes = list(chunk_sizes(resamples, draws))
    assert sum(sizes) == resamples
    assert all(size == 1 or size * draws <= CHUNK_DRAWS for size in sizes)


@pytest.mark.parametrize("trials", [1, 7, 200])
@pytest.mark.parametrize("level", [0.95, 0.5])
def test_the_interval_of_a_share_is_scipys_exact_one(trials, level):
    hits = np.unique([0, 1, trials // 2, trials])
    low, high = share_interval(hits, trials, level)
    for k, *ends in zip(hits.tolist(), low, high, strict=True):
        exact = binomtest(k, trials).proportion_ci(level, method="exact")
        assert ends == pytest.approx([exact.low, exact.high], abs=1e-12)


@pytest.mark.parametrize("wrong", [(1, 0, 0.95), (3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0)])
def test_the_interval_of_no_share(wrong):
    with pytest.raises(TextcriticError, match="at least 1 trial"):
        share_interval(*wrong)
