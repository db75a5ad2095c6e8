"""Tables of corpora: statistics (paper, Table 11), and what was left out."""

from textcritic.experiments.corpora.rows import left_out_rows, statistics_rows
from textcritic.experiments.corpora.sheets import left_out_sheet, statistics_sheet
from textcritic.report.tables import recipe

TEXT = ("stage", "reason")


STATISTICS = recipe(statistics_rows, lambda rows, _: statistics_sheet(rows))
TABLES = {"statistics": STATISTICS, "left-out": recipe(left_out_rows, lambda rows, _: left_out_sheet(rows))}
PAPER_TABLES = {"statistics": STATISTICS}
