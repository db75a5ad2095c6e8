"""A short version of benchmarks/calibration.py: where nothing differs, p < 0.05 in about 5%, intervals cover 93%."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import calibration

REPETITIONS, RESAMPLES = 150, 149
# Four Monte Carlo errors of a rate of 5% in so many repetitions.
ABOVE = 4 * 100 * (0.05 * 0.95 / REPETITIONS) ** 0.5


@pytest.mark.parametrize("sizes", [(50, 50), (40, 400), (400, 40)])
@pytest.mark.parametrize("measure", ["sequences", "perplexity"])
def test_nothing_differs(measure, sizes):
    found = calibration.rates(getattr(calibration, measure)(), sizes, REPETITIONS, RESAMPLES)
    assert found["p"] < 5 + ABOVE
    assert found["same"] < 5 + ABOVE
    assert min(found["value"], found["difference"]) > 95 - ABOVE


def test_fewer_than_twenty_documents_have_no_interval_and_are_never_the_same():
    found = calibration.rates(calibration.perplexity(number=1000), (19, 200), 20, RESAMPLES)
    assert "value" not in found
    assert found["same"] == 0
