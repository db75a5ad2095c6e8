import math

import numpy as np
import pytest

from textcritic.errors import TextcriticError
from textcritic.inference import exp_ratio_of_sums, ratio_of_sums, seed_summary, with_ones
from textcritic.inference.bootstrap import CHUNK_DRAWS, chunk_sizes
from textcritic.inference.statistics import distinct_rows


def test_statistics_by_hand():
    sums = np.array([[6.0, 3.0], [1.0, 4.0]])
    assert ratio_of_sums(sums).tolist() == [2.0, 0.25]
    assert exp_ratio_of_sums(sums).tolist() == pytest.approx([math.exp(2), math.exp(0.25)])
    assert with_ones([1, 2]).tolist() == [[1.0, 1.0], [2.0, 1.0]]


def test_summary_over_seeds():
    assert seed_summary([1.0, 2.0, 6.0]) == {"mean": 3.0, "sd": pytest.approx(math.sqrt(7)), "seeds": 3}
    assert seed_summary([4.0]) == {"mean": 4.0, "sd": None, "seeds": 1}
    with pytest.raises(TextcriticError, match="at least one seed"):
        seed_summary([])


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
