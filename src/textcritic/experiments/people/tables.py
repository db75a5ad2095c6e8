"""Tables of what people say: the paper's Tables 4 and 18, and the numbers behind them."""

from dataclasses import replace

import pandas as pd

from textcritic.experiments.people import annotators, orders, rows, sheets
from textcritic.experiments.people.files import PeopleFiles
from textcritic.inference.annotation_plan import Design, articles_for_power, articles_for_width
from textcritic.measures.material import Material
from textcritic.measures.published import KEYS as SOURCE_KEYS
from textcritic.report.tables import Table, recipe

SHARE, GAPS = 0.7, ((0.71, 0.88), (0.7, 0.8))
"""A usual share of coherent answers, and pairs of shares to distinguish; the first pair is the paper's."""


WIDTHS = (0.1, 0.05)
ANNOTATORS, ANSWERS = (5, 8, 12, 20), (1, 3)
COLUMNS = ("aim", "annotators", "answers_each", "articles", "hours")


def planning_rows(_: Material[PeopleFiles]) -> pd.DataFrame:
    """For each aim, number of annotators and of answers an article: articles of one system, and hours of all people.

    Columns: `aim`, `annotators`, `answers_each`, `articles` and `hours`, both empty if no number of articles is enough.
    For a difference the hours are of both systems.
    """
    rows = []
    for number in ANNOTATORS:
        for each in ANSWERS:
            design = Design(answers=each, annotators=number)
            for width in WIDTHS:
                aim = f"a share of {SHARE:.0%}, to ±{100 * width:.0f} points"
                rows.append(_row(aim, design, articles_for_width(design, SHARE, width), 1))
            for first, second in GAPS:
                aim = f"{first:.0%} against {second:.0%}, with a power of 80%"
                rows.append(_row(aim, design, articles_for_power(design, first, second), 2))
    table = pd.DataFrame(rows, columns=list(COLUMNS)).sort_values(["aim", "annotators", "answers_each"], kind="stable")
    return table.astype({"articles": "Int64"}).reset_index(drop=True)


def _row(aim: str, design: Design, articles: int | None, systems: int) -> dict[str, object]:
    hours = None if articles is None else systems * replace(design, articles=articles).hours
    about = {"aim": aim, "annotators": design.annotators, "answers_each": design.answers}
    return about | {"articles": articles, "hours": hours}


KEYS = (*SOURCE_KEYS, "order")
"""The keys of a published value; `order` is the order of section types with a rank in Table 18."""
TEXT = (
    *rows.TEXTS,
    *rows.CORRELATION_TEXT,
    *orders.TEXT,
    *("first", "second", "about", "measure", "annotator", "flagged", "score", "why", "aim"),
)

TABLES = {
    "people-metrics": recipe(rows.metric_rows, sheets.metrics_sheet),
    "people-correlations": recipe(rows.correlation_rows, sheets.correlations_sheet),
    "people-orders": recipe(orders.order_rows, sheets.orders_sheet),
    "people-differences": recipe(rows.difference_rows, sheets.differences_sheet),
    "people-agreement": recipe(annotators.agreement_rows, sheets.agreement_sheet),
    "people-labels": recipe(annotators.label_rows, sheets.labels_sheet),
    "people-annotators": recipe(annotators.annotator_rows, sheets.annotators_sheet),
    "people-articles": recipe(annotators.article_rows, sheets.articles_sheet),
    "people-planning": recipe(planning_rows, sheets.planning_sheet),
}


def paper_metrics(material: Material[PeopleFiles]) -> Table:
    """Table 4, with how far the metrics agree with people among its remarks."""
    table = TABLES["people-metrics"](material)
    correlations = sheets.correlation_remarks(material.get(rows.correlation_rows))[1:]
    return Table(sheets.with_remarks(table.sheet, correlations), table.rows)


PAPER_TABLES = {"metrics": paper_metrics, "orders": TABLES["people-orders"]}
