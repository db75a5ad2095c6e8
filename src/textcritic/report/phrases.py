"""Phrases that sections of several kinds use."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from textcritic.report.numbers import number

SHOWN_REASONS = 8


def commonest_reasons(reasons: str) -> str:
    """The first of `reason: n; ...`, as there may be one for each title that real text never has."""
    parts = reasons.split("; ")
    more = len(parts) - SHOWN_REASONS
    return reasons if more <= 1 else "; ".join([*parts[:SHOWN_REASONS], f"and {more} more reasons"])


def seeds_in_words(seeds: Iterable[Any]) -> str:
    """Seeds as a list."""
    return ", ".join(str(seed) for seed in sorted(set(seeds)))


def perplexity_lines(rows: pd.DataFrame, column: str, of: str) -> list[str]:
    """The perplexities of each corpus in a line: `Perplexity on docs, body text: trigram 62.6 /word; small GPT-2 ...`.

    Args:
        rows: with `corpus`, `label`, `ppl_unit` and the column.
        column: of the perplexity.
        of: what it is of.
    """
    known = rows[rows[column].notna()]
    lines = []
    for corpus, group in known.groupby("corpus", sort=False):
        each = [
            f"{row['label']} {number(row[column])} /{row['ppl_unit'].removesuffix('s')}"
            for row in group.to_dict("records")
        ]
        lines.append(f"Perplexity on {corpus}, {of}: {'; '.join(each)}.")
    return lines
