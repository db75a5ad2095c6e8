"""Tables of coherence: the paper's Tables 2, 3, 5, 12 and 13, and what stands behind them."""

from dataclasses import replace
from functools import cached_property

import pandas as pd

from textcritic.experiments.coherence.audit import audit_rows, audit_sheet
from textcritic.experiments.coherence.errors import error_rows, errors_sheet
from textcritic.experiments.coherence.examples import example_rows, examples_sheet, repetition_examples
from textcritic.experiments.coherence.files import CoherenceFiles
from textcritic.experiments.coherence.names import names_of
from textcritic.experiments.coherence.repetitions import rates_sheet, repetition_rows, with_rates
from textcritic.experiments.coherence.rows import classifier_rows, coherence_rows, decomposition_rows, titles_rows
from textcritic.experiments.coherence.sheets import (
    classifier_sheet,
    coherence_sheet,
    decomposition_sheet,
    paper_sheet,
    perplexity_sheet,
    titles_sheet,
)
from textcritic.report.decodings import stride_remarks
from textcritic.report.names import GROUP, SAMPLE, Names
from textcritic.report.published import Published
from textcritic.report.tables import Table

TEXT = ("from", "to", "article", "title", "text")


class Tables:
    """The tables of one experiment; what several of them share is computed once.

    Args:
        files: what they are made of.
        published: values that stand beside ours.
    """

    def __init__(self, files: CoherenceFiles, published: Published) -> None:
        self.files, self.published = files, published

    @cached_property
    def names(self) -> Names:
        """What the sources are called."""
        return names_of(self.files)

    @cached_property
    def rows(self) -> pd.DataFrame:
        """Latent PPL and perplexity of every source."""
        return coherence_rows(self.files, self.published)

    def coherence(self) -> Table:
        """Latent PPL and perplexity (paper, Table 2)."""
        return Table(coherence_sheet(self.rows, self.names), self.rows)

    def perplexity(self) -> Table:
        """Perplexity over all tokens and body tokens."""
        columns = [*GROUP, "seed", *(column for column in self.rows if column.startswith("ppl_"))]
        rows = self.rows.loc[self.rows["source"] == SAMPLE, columns]
        return Table(perplexity_sheet(self.rows, self.names), rows)

    def titles(self) -> Table:
        """What titles in the training text change."""
        rows = titles_rows(self.files)
        return Table(titles_sheet(rows, self.names), rows)

    def decomposition(self) -> Table:
        """Cross-entropy as entropy and divergence."""
        rows = decomposition_rows(self.files)
        return Table(decomposition_sheet(rows, self.names), rows)

    def errors(self) -> Table:
        """Unlikely steps (paper, Table 12)."""
        rows = error_rows(self.files, self.published)
        return Table(errors_sheet(rows, self.names), rows)

    def repetition_rates(self) -> Table:
        """How often a section repeats the one before."""
        rows = repetition_rows(self.files, self.published)
        return Table(rates_sheet(rows, self.names), rows)

    def repetitions(self) -> Table:
        """Articles that repeat a section."""
        examples = repetition_examples(self.files)
        return Table(examples_sheet(examples, self.names), example_rows(examples))

    def classifier(self) -> Table:
        """How often the section classifier is right (paper, appendix E)."""
        rows = classifier_rows(self.files, self.published)
        return Table(classifier_sheet(rows), rows)

    def audit(self) -> Table:
        """What each disputed detail does to the Latent PPL."""
        rows = audit_rows(self.files)
        return Table(audit_sheet(rows, self.names), rows)

    def paper_coherence(self) -> Table:
        """Tables 2, 3 and 5 in the paper's shape."""
        sheet = paper_sheet(self.rows, self.names)
        remarks = [*sheet.remarks, *stride_remarks(self.rows, self.files.decodings)]
        return Table(replace(sheet, remarks=remarks), self.rows)

    def paper_repetitions(self) -> Table:
        """Table 13, with the shares of all sources among its remarks."""
        table, rates = self.repetitions(), repetition_rows(self.files, self.published)
        return Table(with_rates(table.sheet, rates, self.names), table.rows)


TABLES = {
    "coherence": Tables.coherence,
    "perplexity": Tables.perplexity,
    "titles": Tables.titles,
    "decomposition": Tables.decomposition,
    "transition-errors": Tables.errors,
    "repetition-rates": Tables.repetition_rates,
    "repetitions": Tables.repetitions,
    "classifier": Tables.classifier,
    "audit": Tables.audit,
}
PAPER_TABLES = {
    "coherence": Tables.paper_coherence,
    "errors": Tables.errors,
    "repetitions": Tables.paper_repetitions,
}
