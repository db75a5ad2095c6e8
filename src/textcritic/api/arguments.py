"""Arguments of the functions; each refuses anything else in one line that names it."""

import math
from typing import Any

from textcritic.errors import TextcriticError


def whole(value: Any, name: str, least: int) -> int:
    """A whole number from `least` upwards."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise TextcriticError(f"{name}: {value!r} is not a whole number from {least} upwards")
    return int(value)


def from_zero(value: Any, name: str) -> float:
    """A finite number from 0 upwards."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value >= 0):
        raise TextcriticError(f"{name}: {value!r} is not a finite number from 0 upwards")
    return float(value)


def share(value: Any, name: str) -> float:
    """A number above 0 and below 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise TextcriticError(f"{name}: {value!r} is not a number above 0 and below 1")
    return float(value)
