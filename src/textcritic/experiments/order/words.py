"""What the numbers of the order of sentences say, in words."""

from collections.abc import Callable

import pandas as pd

from textcritic.measures.card import Cell
from textcritic.measures.numbers import counted
from textcritic.measures.score import HIGHER, LOWER
from textcritic.plan.sources import GROUP, RUN
from textcritic.report.cells import matching

LEAST_NAMED = 100
"""A sample with fewer texts is never called out of order."""
OUT_OF_ORDER = "its sentences are out of order"
OTHER_WORDS = "its words differ from real text’s, so whether its sentences are in order cannot be judged"
TOO_FEW = f"whether its sentences are out of order cannot be judged by fewer than {LEAST_NAMED} texts"
HIGHER_SAYS = "its sentences follow the rules of real text’s order more strictly than real text itself"


def causes(rows: pd.DataFrame) -> Callable[[Cell], str]:
    """What is wrong with a sample, a clause.

    A sample with less of real text's order than real text may have an order of its own in other words. It is called
    out of order only if its documents have little order in common (`is_without_order`) and there are `LEAST_NAMED`.

    Args:
        rows: as `rows.order_rows` makes them.
    """

    def cause(cell: Cell) -> str:
        first, value = cell.scores[0], cell.number.value
        real = None if first.real is None else first.real.value
        if value is None or real is None or cell.way not in (LOWER, HIGHER):
            return ""
        numbers = f"{counted(value, cell.number.low)} against {counted(real, first.real.low if first.real else None)}"
        if cell.way == HIGHER:
            return f"{HIGHER_SAYS}: {numbers}"
        if min(score.n or 0 for score in cell.scores) < LEAST_NAMED:
            return f"less of real text’s order of sentences: {numbers}; {TOO_FEW}"
        of_corpus = rows[rows["corpus"] == first.corpus]
        wanted = [{key: getattr(score, key) for key in (*GROUP[1:], *RUN)} for score in cell.scores]
        seeds = [matching(of_corpus, keys).iloc[0] for keys in wanted]
        named = all(is_without_order(row["own_low"], row["own_high"], real) for row in seeds)
        return (
            f"{OUT_OF_ORDER}: {numbers}"
            if named
            else f"less of real text’s order of sentences: {numbers}; {OTHER_WORDS}"
        )

    return cause


def is_without_order(own_low: float | None, own_high: float | None, real: float) -> bool:
    """Whether no order in common is found in a sample, and it has less than half as much as real text has.

    Args:
        own_low: the lower end of the interval of `own`; None or NaN without one.
        own_high: the upper end.
        real: the value of real text.
    """
    return own_low is not None and own_high is not None and own_low <= 0 and own_high < real / 2  # NaN is neither
