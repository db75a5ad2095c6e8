"""What measures of one's own say, in words."""

from collections.abc import Mapping

import pandas as pd

from textcritic.measures.card import Cell
from textcritic.measures.numbers import counted
from textcritic.measures.own import HIGHER, LOWER, REAL
from textcritic.measures.sentences import value_of

OF_SOURCE = {
    "mean": "the mean of all {of}",
    "median": "the median of all {of}",
    "ratio": "the sum of the numerators of all {of}, divided by the sum of their denominators",
}
AIMS = {
    REAL: "The aim is the value of real text.",
    HIGHER: "The aim is a high value; real text is there to compare with.",
    LOWER: "The aim is a low value; real text is there to compare with.",
}


# What is wrong with a sample by a measure that ships, by whether it is higher or lower.
CAUSES: Mapping[str, Mapping[str, str]] = {
    "order_of_words": {
        HIGHER: "its words follow one another more closely: {own} nats a word against {real}",
        LOWER: "its words follow one another less: {own} nats a word against {real}",
    },
    "repeated": {
        HIGHER: "it repeats more: {own}% of its runs of 4 words occurred before in the text, real text {real}%",
        LOWER: "it repeats less: {own}% of its runs of 4 words occurred before in the text, real text {real}%",
    },
    "unfinished": {
        HIGHER: "more of its documents end in the middle of a sentence: {own}% against {real}%",
        LOWER: "fewer of its documents end in the middle of a sentence: {own}% against {real}%",
    },
}


def cause(cell: Cell) -> str:
    """What is wrong with a sample, a clause; "" of a measure of the user's own."""
    first = cell.scores[0]
    words, real = CAUSES.get(first.key, {}).get(cell.way, ""), first.real
    return words.format(own=value_of(cell), real=counted(real.value, real.low)) if real else ""


def definition(row: Mapping[str, str]) -> tuple[str, str]:
    """A measure's name, and what it is.

    Args:
        row: of `rows.metric_rows`.
    """
    means = f"{row['means'][0].upper()}{row['means'][1:]}. " if row["means"] else ""
    needs = f" Documents without {row['needs'].replace(', ', ' or ')} are left out." if row["needs"] else ""
    of_source = OF_SOURCE[row["statistic"]].format(of=row["of"])
    name = f"{row['title']}, {row['unit']}" if row["unit"] else row["title"]
    return name, f"{means}Of a source: {of_source}, by the function {row['metric']}. {AIMS[row['aim']]}{needs}"


def definitions(rows: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    """Of all measures of a table that `rows.metric_rows` made."""
    return tuple(definition(row) for row in rows.drop_duplicates("metric").to_dict("records"))
