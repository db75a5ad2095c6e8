"""The tables of the order of sentences, for reading."""

import pandas as pd

from textcritic.experiments.order.rows import ORDERED
from textcritic.measures.names import Names
from textcritic.measures.numbers import NONE, count, interval, missing, number, percent
from textcritic.report.cells import Column, by_source, left_out_cell, measure_sheet
from textcritic.report.prose import remarks_of
from textcritic.report.reader import texts_sheet
from textcritic.report.sheet import Cell, Sheet


def order_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """How much order each source has: the order of real text, and the order that its documents have in common."""
    columns: dict[str, Column] = {
        ORDERED.name: ORDERED,
        "Order in common": _own,
        "Random orders below it": lambda group: Cell(percent(group["accuracy"].mean()), (_documents(group),)),
        "Sentences": lambda group: count(group["sentences"].sum()),
        "Left out": left_out_cell,
    }
    heading = ("order", "How much of the order of sentences is that of real text")
    return measure_sheet(heading, rows, names, columns, remarks_of(__file__, "order"))


def _own(group: pd.DataFrame) -> Cell:
    """The order that documents have in common: the mean over seeds; the interval of a single one."""
    value, row = group["own"].mean(), group.iloc[0]
    has_interval = len(group) == 1 and not missing(row["own_low"])
    under = (interval(row["own_low"], row["own_high"]),) if has_interval else ()
    return Cell(NONE if missing(value) else number(value), under)


def _documents(group: pd.DataFrame) -> str:
    return f"of {count(group['documents'].sum())} documents"


def pairs_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The neighbours that belong together least, the weakest of each source first."""
    heading = ("order-pairs", "Neighbours that belong together least")
    texts = {"Document": "article", "Sentence": "first", "The next one": "second"}
    numbers = {"Evidence": lambda row: number(row["by"])}
    return texts_sheet(heading, by_source(rows, names), numbers, texts, remarks_of(__file__, "pairs"))
