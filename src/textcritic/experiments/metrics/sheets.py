"""The tables of measures of one's own, for reading."""

import pandas as pd

from textcritic.experiments.metrics.rows import measures_of
from textcritic.measures.measure import Measure
from textcritic.measures.names import Names
from textcritic.measures.numbers import NONE, number, plural
from textcritic.plan.sources import GROUP
from textcritic.report.cells import by_source, left_out_cell, measure_cell
from textcritic.report.reader import texts_sheet
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
    for source, group in by_source(rows, names):
        cells = [cell for name, one in measures.items() for cell in _cells(group[group["metric"] == name], one)]
        body.append([Cell(source, heading=True), *cells])
    return Sheet("metrics", "Own measures", header, body, remarks=[REMARK])


def document_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The documents with the highest and the lowest values of each measure and source."""
    by_measure = rows.groupby(["title", "source", *GROUP], sort=False)
    groups = (
        (f"{title}: {names.source(group.iloc[0].to_dict(), seed=False)}", group) for (title, *_), group in by_measure
    )
    numbers = {"": lambda row: f"{row['which']} {row['rank']}", "Value": lambda row: number(row["value"])}
    texts = {"Document": "article", "Beginning of its text": "beginning"}
    heading = ("metrics-documents", "Documents with the highest and the lowest values")
    remarks = ["Of samples with several seeds, the first. The value of a document with several sections is their mean."]
    return texts_sheet(heading, groups, numbers, texts, remarks)


def _cells(group: pd.DataFrame, measure: Measure) -> list[Cell]:
    least = group["noticeable"].dropna()
    noticed = number(float(least.mean())) if len(least) else NONE
    lost, left_out = group["sections_left_out"].fillna(0).sum(), left_out_cell(group)
    more = (f"and {plural(int(lost), 'section')}",) if lost else ()
    return [measure_cell(group, measure), Cell(noticed), Cell(left_out.text, (*left_out.notes, *more))]
