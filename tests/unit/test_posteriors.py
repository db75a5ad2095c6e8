import numpy as np
import pytest
from titles_file import read_posteriors

from textcritic.latents.titles.posteriors import Posteriors, write_posteriors


@pytest.fixture
def posteriors():
    return Posteriors(
        titles=("a", "b", "c"),
        ids=["one", "none", "two"],
        gold=[["a", "z"], [], [None]],
        probabilities=[
            np.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]], np.float32),
            np.zeros((0, 3), np.float32),
            np.array([[0.0, 1.0, 0.0]], np.float32),
        ],
    )


def test_what_is_written_is_read(posteriors, tmp_path):
    write_posteriors(tmp_path / "x.parquet", posteriors)
    read = read_posteriors(tmp_path / "x.parquet")
    assert (read.titles, read.ids, read.gold) == (posteriors.titles, posteriors.ids, posteriors.gold)
    for left, right in zip(read.probabilities, posteriors.probabilities, strict=True):
        np.testing.assert_array_equal(left, right)
    assert read.inferred == [["a", "c"], [], ["b"]]
    assert [list(c) for c in read.confidence] == [[0.5, 0.75], [], [1.0]]
