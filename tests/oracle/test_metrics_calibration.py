"""A short version of benchmarks/calibration_metrics.py: p < 0.05 in about 5%, intervals hold the truth in about 95%."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import calibration_metrics as calibration

from textcritic.inference import share_interval

REPETITIONS, RESAMPLES = 200, 99


@pytest.fixture(scope="module")
def documents():
    return calibration.corpus()


@pytest.mark.parametrize(("sizes", "grouped"), [((40, 200), False), ((40, 200), True)], ids=["alone", "groups"])
@pytest.mark.parametrize("name", calibration.MEASURES)
def test_nothing_differs(documents, name, sizes, grouped):
    """The 95% interval of the level does not lie above 5%, and those of coverage do not lie below 95%."""
    counts = calibration.rates(calibration.population(name, *documents), sizes, grouped, REPETITIONS, RESAMPLES)
    assert share_interval(*counts["p"])[0] < 0.05
    for side in ("sample", "real"):
        assert share_interval(*counts[side])[1] > 0.95
        assert counts[side][1] == REPETITIONS
