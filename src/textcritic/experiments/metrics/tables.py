"""Tables of measures of one's own: the values of all sources, and the most extreme documents."""

from textcritic.experiments.metrics.rows import TEXTS, document_rows, metric_rows
from textcritic.experiments.metrics.sheets import document_sheet, metric_sheet
from textcritic.report.tables import recipe

TEXT = TEXTS
VALUES = recipe(metric_rows, metric_sheet)
TABLES = {"metrics": VALUES, "metrics-documents": recipe(document_rows, document_sheet)}
PAPER_TABLES = {"values": VALUES}
