"""What the commands' arguments may be; each refuses anything else in one line."""

import argparse
import math


def tolerance(text: str) -> float:
    """A finite number from 0 upwards."""
    value = from_zero(text)
    if value is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number from 0 upwards")
    return value


def from_zero(text: str) -> float | None:
    """A finite number from 0 upwards; None if it is not one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def positive(text: str) -> int:
    """A whole number from 1 upwards."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 upwards")
    return int(text)


def seed(text: str) -> int:
    """A whole number from 0 upwards."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 upwards")
    return int(text)
