"""The tables of measures of one's own, for reading."""

import pandas as pd

from textcritic.experiments.metrics.rows import measures_of
from textcritic.measures.measure import Measure
from textcritic.measures.names import Names
from textcritic.measures.numbers import NONE, number, plural
from textcritic.plan.sources import GROUP
from textcritic.report.cells import left_out_cell, measure_cell
from textcritic.report.sheet import Cell, Sheet

REMARK = (
    "Under each value: its 95% interval (of several trainings: Student's interval of their mean) and the p-value "
    "against real text. Noticed: the smallest difference from real text that would be noticed in 80% of cases, with "
    "as many documents as here."
)


def metric_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """A row for each source; of each measure its value, what would be noticed, and what was left out."""
    measures = measures_of(rows)
    header = [
        [Cell("Source"), *(Cell(measure.name, span=3) for measure in measures.values())],
        [Cell(""), *(Cell(head) for _ in measures for head in ("value", "noticed", "left out"))],
    ]
    body = []
    for _, group in rows.groupby(["source", *GROUP], sort=False):
        cells = [cell for name, one in measures.items() for cell in _cells(group[group["metric"] == name], one)]
        body.append([Cell(names.source(group.iloc[0].to_dict(), seed=False), heading=True), *cells])
    return Sheet("metrics", "Own measures", header, body, remarks=[REMARK])


def document_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The documents with the highest and the lowest values of each measure and source."""
    body = []
    for (title, *_), group in rows.groupby(["title", "source", *GROUP], sort=False):
        source = names.source(group.iloc[0].to_dict(), seed=False)
        body.append([Cell(f"{title}: {source}", span=4, heading=True)])
        for row in group.to_dict("records"):
            words = [Cell(row["article"], words=True), Cell(row["beginning"], words=True)]
            body.append([Cell(f"{row['which']} {row['rank']}"), Cell(number(row["value"])), *words])
    header = [[Cell(""), Cell("Value"), Cell("Document", words=True), Cell("Beginning of its text", words=True)]]
    caption = "Documents with the highest and the lowest values"
    remarks = ["Of samples with several seeds, the first. The value of a document with several sections is their mean."]
    return Sheet("metrics-documents", caption, header, body, remarks=remarks, prose=True)


def _cells(group: pd.DataFrame, measure: Measure) -> list[Cell]:
    least = group["noticeable"].dropna()
    noticed = number(float(least.mean())) if len(least) else NONE
    lost, left_out = group["sections_left_out"].fillna(0).sum(), left_out_cell(group)
    more = (f"and {plural(int(lost), 'section')}",) if lost else ()
    return [measure_cell(group, measure), Cell(noticed), Cell(left_out.text, (*left_out.notes, *more))]
