"""Phrases that sections of several kinds use."""

from collections.abc import Iterable
from typing import Any

SHOWN_REASONS = 8


def commonest_reasons(reasons: str) -> str:
    """The first of `reason: n; ...`, as there may be one for each title that real text never has."""
    parts = reasons.split("; ")
    more = len(parts) - SHOWN_REASONS
    return reasons if more <= 1 else "; ".join([*parts[:SHOWN_REASONS], f"and {more} more reasons"])


def seeds_in_words(seeds: Iterable[Any]) -> str:
    """Seeds as a list."""
    return ", ".join(str(seed) for seed in sorted(set(seeds)))
