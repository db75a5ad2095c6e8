"""Tables of coreference: Latent PPL (paper, Tables 7 and 8), and the windows behind it (Tables 6 and 15 to 17)."""

from dataclasses import replace
from functools import cached_property

import pandas as pd

from textcritic.experiments.coreference.audit import TEXT as AUDIT_TEXT
from textcritic.experiments.coreference.audit import audit_rows, audit_sheet
from textcritic.experiments.coreference.decomposition import decomposition_rows, decomposition_sheet
from textcritic.experiments.coreference.files import CoreferenceFiles
from textcritic.experiments.coreference.ngram_sheets import contributions_sheet, ratios_sheet, unlikely_sheet
from textcritic.experiments.coreference.ngrams import (
    ALTERNATIVE,
    LESS,
    LOG_PROB,
    MORE,
    PERCENT,
    PROBABILITY,
    contribution_rows,
    ratio_rows,
    unlikely_rows,
)
from textcritic.experiments.coreference.power import power_rows, power_sheet
from textcritic.experiments.coreference.resolver import TEXT as RESOLVER_TEXT
from textcritic.experiments.coreference.resolver import error_rows, error_sheet, resolver_rows, resolver_sheet
from textcritic.experiments.coreference.rows import ppl_rows
from textcritic.experiments.coreference.shares import share_rows, share_sheet
from textcritic.experiments.coreference.sheets import paper_ppl_sheet, ppl_sheet
from textcritic.report.names import Names
from textcritic.report.published import Published
from textcritic.report.sheet import Sheet
from textcritic.report.tables import Table

PAPER = "one run of each, with the resolver neuralcoref and the released code's discount"
TEXT = ("window", "direction", "alternative", "published_alternative", "kind", *AUDIT_TEXT, *RESOLVER_TEXT)


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
        return self._with_notes(ppl_sheet(self.rows, self.names), self.rows, "latent_ppl")

    def contributions(self) -> Table:
        """What makes each sample differ from real text (paper, Table 6)."""
        rows = contribution_rows(self.files, self.published)
        return self._with_notes(contributions_sheet(rows, self.names), rows, PERCENT)

    def unlikely(self) -> Table:
        """Unlikely windows and what would be likelier (paper, Table 15)."""
        rows = unlikely_rows(self.files, self.published)
        return self._with_notes(unlikely_sheet(rows, self.names), rows, LOG_PROB, ALTERNATIVE)

    def ratios(self) -> Table:
        """Windows likelier in a sample than in real text, and the reverse."""
        rows = ratio_rows(self.files, self.published)
        return self._with_notes(ratios_sheet(rows, self.names), rows, *PROBABILITY.values())

    def more(self) -> Table:
        """The paper's Table 16."""
        return self._direction(MORE)

    def less(self) -> Table:
        """The paper's Table 17."""
        return self._direction(LESS)

    def decomposition(self) -> Table:
        """Cross-entropy as entropy and divergence."""
        rows = decomposition_rows(self.files)
        return Table(decomposition_sheet(rows, self.names), rows)

    def _direction(self, direction: str) -> Table:
        rows = ratio_rows(self.files, self.published)
        rows = rows[rows["direction"].isin((direction, ""))]
        return self._with_notes(ratios_sheet(rows, self.names, (direction,)), rows, PROBABILITY[direction])

    def _with_notes(self, sheet: Sheet, rows: pd.DataFrame, *metrics: str) -> Table:
        """A table with what is to be said of the published values in it, whose metrics begin with one of `metrics`."""
        beside = [name for name in rows if "published" in name and name not in TEXT]
        if rows[beside].isna().all(axis=None):
            return Table(sheet, rows)
        corpora, generators = set(rows["corpus"]), {"data", *rows["generator"]}
        shown = [
            cell
            for cell in self.published.values
            if cell[0] in corpora and cell[2] in generators and cell[-1].startswith(metrics)
        ]
        notes = dict.fromkeys(note for cell in shown for note in self.published.notes.get(cell, "").split("; ") if note)
        remark = f"Published values: {'; '.join((PAPER, *notes))}."
        return Table(replace(sheet, remarks=[*sheet.remarks, remark]), rows)

    def shares(self) -> Table:
        """The share of unlikely mentions of every source."""
        rows = share_rows(self.files)
        return Table(share_sheet(rows, self.names), rows)

    def power(self) -> Table:
        """How often the test notices exchanged pronouns."""
        rows = power_rows(self.files)
        return Table(power_sheet(rows), rows)

    def audit(self) -> Table:
        """Latent PPL under every variant of the critic."""
        rows = audit_rows(self.files)
        return Table(audit_sheet(rows, self.names), rows)

    def resolvers(self) -> Table:
        """How good the resolver is."""
        rows = resolver_rows(self.files)
        return Table(resolver_sheet(rows), rows)

    def resolver_error(self) -> Table:
        """How much of a Latent PPL is errors of the resolver."""
        rows = error_rows(self.files)
        return Table(error_sheet(rows), rows)

    def paper_ppl(self) -> Table:
        """The paper's Tables 7 and 8."""
        return self._with_notes(paper_ppl_sheet(self.rows, self.names), self.rows, "latent_ppl")


TABLES = {
    "coreference": Tables.ppl,
    "coreference-shares": Tables.shares,
    "coreference-ngrams": Tables.contributions,
    "coreference-unlikely": Tables.unlikely,
    "coreference-ratios": Tables.ratios,
    "coreference-decomposition": Tables.decomposition,
    "coreference-power": Tables.power,
    "coreference-audit": Tables.audit,
    "coreference-resolvers": Tables.resolvers,
    "coreference-resolver-error": Tables.resolver_error,
}
PAPER_TABLES = {
    "ppl": Tables.paper_ppl,
    "contributions": Tables.contributions,
    "unlikely": Tables.unlikely,
    "more": Tables.more,
    "less": Tables.less,
}
