"""Tables of corpora: statistics (paper, Table 11), and what was left out."""

from textcritic.experiments.corpora.files import CorporaFiles
from textcritic.experiments.corpora.rows import left_out_rows, statistics_rows
from textcritic.experiments.corpora.sheets import left_out_sheet, statistics_sheet
from textcritic.report.published import Published
from textcritic.report.tables import Table

TEXT = ("stage", "reason")


class Tables:
    """The tables of one experiment.

    Args:
        files: what they are made of.
        published: values that stand beside ours.
    """

    def __init__(self, files: CorporaFiles, published: Published) -> None:
        self.files, self.published = files, published

    def statistics(self) -> Table:
        """Articles and sections of each corpus."""
        rows = statistics_rows(self.files, self.published)
        return Table(statistics_sheet(rows), rows)

    def left_out(self) -> Table:
        """What was left out, by reason."""
        rows = left_out_rows(self.files)
        return Table(left_out_sheet(rows), rows)


TABLES = {"statistics": Tables.statistics, "left-out": Tables.left_out}
PAPER_TABLES = {"statistics": Tables.statistics}
