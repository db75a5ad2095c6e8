"""Real texts: the small sample of tests/data, always there, and the larger one that may be next to the checkout."""

from pathlib import Path

import pytest

SMALL = Path(__file__).parent / "data"
LARGE = Path(__file__).parents[2] / "shared" / "data"


def of_large(*values, id="large"):
    """A case of a parametrised test that needs the larger sample: conftest.py leaves it out if that is not there."""
    return pytest.param(*values, id=id, marks=pytest.mark.large)
