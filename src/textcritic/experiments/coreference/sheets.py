"""The tables of coreference, for reading."""

from collections.abc import Callable

import pandas as pd

from textcritic.experiments.coreference.rows import PPL
from textcritic.measures.names import Names
from textcritic.measures.numbers import NONE, count, number
from textcritic.measures.rows import in_groups
from textcritic.report.cells import Column, left_out_cell, measure_cell, measure_sheet
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Sheet


def ppl_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """Latent PPL of real text and of each sample, how long chains are, and what was left out."""

    def mean(column: str) -> Callable[[pd.DataFrame], str]:
        return lambda group: number(group.loc[group["latent_ppl"].notna(), column].mean())

    columns: dict[str, Column] = {
        "Latent PPL": _ppl,
        "Mentions a document": mean("mentions_per_document"),
        "People a document": mean("people_per_document"),
        "Documents": _documents,
        "Left out": left_out_cell,
    }
    heading = ("coreference", "Latent PPL of chains of mentions")
    return measure_sheet(heading, rows, names, columns, remarks_of(__file__, "step", "ppl"))


def paper_ppl_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The same in the paper's shape (Tables 7 and 8): one row a corpus and setting, real text first."""

    def cell(group: pd.DataFrame) -> Cell:
        ppl = measure_cell(group, PPL)
        return Cell(ppl.text, (*ppl.notes, f"{count(group['documents'].sum())} documents{in_groups(group)}"))

    remarks = remarks_of(__file__, "step", "paper")
    return measure_sheet(("coreference", ""), rows, names, {"Latent PPL": cell}, remarks, first="Model")


def _ppl(group: pd.DataFrame) -> Cell:
    cell = measure_cell(group, PPL)
    return Cell(NONE, ("nothing could be scored",)) if cell.text == NONE else cell


def _documents(group: pd.DataFrame) -> Cell:
    without = group["without_people"].sum()
    return Cell(count(group["documents"].sum()), (f"{count(without)} without people",) if without else ())
