"""Tables of what people say: the paper's Tables 4 and 18, and what stands behind them."""

from textcritic.experiments.people import annotators, orders, rows, sheets
from textcritic.experiments.people.planning import planning_rows
from textcritic.measures.material import Material
from textcritic.measures.published import KEYS as SOURCE_KEYS
from textcritic.report.tables import Table, recipe

KEYS = (*SOURCE_KEYS, "order")
"""What a published value belongs to; `order` is that of section types, of a rank in Table 18."""
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


def paper_metrics(material: Material) -> Table:
    """Table 4, with how far the metrics agree with people among its remarks."""
    table = TABLES["people-metrics"](material)
    correlations = sheets.correlation_remarks(material.get(rows.correlation_rows))[1:]
    return Table(sheets.with_remarks(table.sheet, correlations), table.rows)


PAPER_TABLES = {"metrics": paper_metrics, "orders": TABLES["people-orders"]}
