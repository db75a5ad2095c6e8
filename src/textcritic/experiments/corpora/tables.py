"""Tables of corpora: statistics (paper, Table 11), what was left out, and what the splits share."""

from textcritic.experiments.corpora.rows import audit_rows, left_out_rows, shared_rows, statistics_rows
from textcritic.experiments.corpora.sheets import audit_sheet, left_out_sheet, shared_sheet, statistics_sheet
from textcritic.report.tables import recipe

TEXT = ("stage", "reason", "split", "switch", "here", "other")


STATISTICS = recipe(statistics_rows, lambda rows, _: statistics_sheet(rows))
TABLES = {
    "statistics": STATISTICS,
    "left-out": recipe(left_out_rows, lambda rows, _: left_out_sheet(rows)),
    "shared-text": recipe(shared_rows, lambda rows, _: shared_sheet(rows)),
    "extraction-audit": recipe(audit_rows, lambda rows, _: audit_sheet(rows)),
}
PAPER_TABLES = {"statistics": STATISTICS}
