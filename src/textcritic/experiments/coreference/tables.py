"""Tables of coreference."""

from functools import cached_property

import pandas as pd

from textcritic.experiments.coreference.files import CoreferenceFiles
from textcritic.experiments.coreference.rows import ppl_rows
from textcritic.experiments.coreference.shares import share_rows, share_sheet
from textcritic.experiments.coreference.sheets import paper_ppl_sheet, ppl_sheet
from textcritic.report.names import Names
from textcritic.report.published import Published
from textcritic.report.tables import Table

TEXT: tuple[str, ...] = ()


class Tables:
    """The tables of one experiment.

    Args:
        files: what they are made of.
        published: values that stand beside ours.
    """

    def __init__(self, files: CoreferenceFiles, published: Published) -> None:
        self.files, self.published = files, published

    @cached_property
    def names(self) -> Names:
        """What the sources are called."""
        return Names.of(self.files.samples)

    @cached_property
    def rows(self) -> pd.DataFrame:
        """Latent PPL of every source."""
        return ppl_rows(self.files, self.published)

    def ppl(self) -> Table:
        """Latent PPL of every source."""
        return Table(ppl_sheet(self.rows, self.names), self.rows)

    def shares(self) -> Table:
        """The share of unlikely mentions of every source."""
        rows = share_rows(self.files)
        return Table(share_sheet(rows, self.names), rows)

    def paper_ppl(self) -> Table:
        """The paper's Tables 7 and 8."""
        return Table(paper_ppl_sheet(self.rows, self.names), self.rows)


TABLES = {"coreference": Tables.ppl, "coreference-shares": Tables.shares}
PAPER_TABLES = {"ppl": Tables.paper_ppl}
