"""Tables of corpora: statistics (paper, Table 11), what was left out, and what the splits share."""

from textcritic.experiments.corpora.rows import left_out_rows, shared_rows, statistics_rows
from textcritic.experiments.corpora.sheets import left_out_sheet, shared_sheet, statistics_sheet
from textcritic.report.tables import recipe

TEXT = ("stage", "reason", "split")


STATISTICS = recipe(statistics_rows, lambda rows, _: statistics_sheet(rows))
TABLES = {
    "statistics": STATISTICS,
    "left-out": recipe(left_out_rows, lambda rows, _: left_out_sheet(rows)),
    "shared-text": recipe(shared_rows, lambda rows, _: shared_sheet(rows)),
}
PAPER_TABLES = {"statistics": STATISTICS}
