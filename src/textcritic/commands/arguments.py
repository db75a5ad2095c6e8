"""What the commands' arguments may be; each refuses anything else in one line."""

import argparse
import math

DIGITS = 16  # fewer than these: whole numbers below 10^15 are enough for every option
SHOWN = 20  # characters of a bad value that a message repeats


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


def add_resamples(parser: argparse.ArgumentParser) -> None:
    """Add `--resamples` to a command with a bootstrap."""
    parser.add_argument(
        "--resamples", metavar="N", type=positive, default=10_000, help="of the bootstrap (default 10000)"
    )


def positive(text: str) -> int:
    """A whole number from 1 upwards."""
    return _whole(text, 1)


def seed(text: str) -> int:
    """A whole number from 0 upwards."""
    return _whole(text, 0)


def _whole(text: str, least: int) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text[:SHOWN]!r} is not a whole number from {least} upwards")
    number = int(text[:DIGITS])  # Python reads no more than 4,300 digits
    if len(text) >= DIGITS or number < least:
        raise argparse.ArgumentTypeError(
            f"{text[:SHOWN]!r} is not a whole number from {least} to {10 ** (DIGITS - 1) - 1:,}"
        )
    return number
