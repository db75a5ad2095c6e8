"""Phrases that sections of several kinds use."""

from collections.abc import Iterable

import pandas as pd

from textcritic.inference import LEAST_UNITS
from textcritic.measures.labels import corpus_name
from textcritic.measures.numbers import count, number, plural
from textcritic.values import JsonObject

SHOWN_REASONS = 8
SPREAD = "its 95% interval (of several trainings: Student's interval of their mean)"
"""Describes the line under a value of one or several trainings, see `cells.interval_note`."""


def with_n(n: float | None, words: str) -> str:
    """A verdict in words; if there are too few documents for an interval, n comes first: `n = 6: differs`."""
    return f"n = {n:.0f}: {words}" if words and n is not None and n < LEAST_UNITS else words


def commonest_reasons(reasons: str) -> str:
    """The first few of `reason: n; ...`: there may be one reason for each title that real text never has."""
    parts = reasons.split("; ")
    more = len(parts) - SHOWN_REASONS
    return reasons if more <= 1 else "; ".join([*parts[:SHOWN_REASONS], f"and {more} more reasons"])


def seeds_in_words(seeds: Iterable[int]) -> str:
    """Seeds as a list."""
    return ", ".join(str(seed) for seed in sorted(set(seeds)))


def vocabulary_facts(vocabulary: JsonObject, where: str) -> list[tuple[str, str]]:
    """What vocabulary.json says: the words that are kept, and those that are left out by reason.

    Args:
        vocabulary: what the file says.
        where: words after the names of the facts, e.g. " (docs)".

    Raises:
        KeyError, TypeError: it says something else.
    """
    kept = f"{plural(vocabulary['words'], 'word')}, {count(vocabulary['tokens'])} tokens of the training text."
    left_out = [
        f"{reason}: {plural(removed['words'], 'word')}, {count(removed['tokens'])} tokens"
        for reason, removed in vocabulary["removed"].items()
        if removed["words"]
    ]
    return [(f"Vocabulary{where}", kept), (f"Left out of it{where}", f"{'; '.join(left_out) or 'nothing'}.")]


def perplexity_lines(rows: pd.DataFrame, column: str, of: str) -> list[str]:
    """The perplexities of each corpus in a line: `Perplexity on docs, body text: trigram 62.6 /word; small GPT-2 ...`.

    Args:
        rows: with `corpus`, `label`, `ppl_unit` and the column.
        column: of the perplexity.
        of: what it is of.
    """
    with_value = rows[rows[column].notna()]
    lines = []
    for corpus, group in with_value.groupby("corpus", sort=False):
        each = [
            f"{row['label']} {number(row[column])} /{row['ppl_unit'].removesuffix('s')}"
            for row in group.to_dict("records")
        ]
        lines.append(f"Perplexity on {corpus_name(corpus)}, {of}: {'; '.join(each)}.")
    return lines
