"""Tables of known processes: word-level and Latent PPL (paper, Table 1), and what counts as a sequence."""

from functools import cached_property

from textcritic.experiments.process.files import ProcessFiles
from textcritic.experiments.process.names import ProcessNames
from textcritic.experiments.process.rows import parsing_rows, perplexity_rows
from textcritic.experiments.process.sheets import parsing_sheet, perplexity_sheet
from textcritic.report.published import Published
from textcritic.report.tables import Table

TEXT = ("published_note", "infinite_because", "ppl_infinite_because")


class Tables:
    """The tables of one experiment.

    Args:
        files: what they are made of.
        published: values that stand beside ours.
    """

    def __init__(self, files: ProcessFiles, published: Published) -> None:
        self.files, self.published = files, published

    @cached_property
    def names(self) -> ProcessNames:
        """What the sources are called."""
        return ProcessNames.of(self.files)

    def perplexity(self) -> Table:
        """The exact values, and those of the test sequences and of each model."""
        rows = perplexity_rows(self.files, self.published)
        return Table(perplexity_sheet(rows, self.names, self.files.decodings), rows)

    def parsing(self) -> Table:
        """What it does to the Latent PPL which texts are called sequences."""
        rows = parsing_rows(self.files)
        return Table(parsing_sheet(rows, self.names), rows)


TABLES = {"process": Tables.perplexity, "parsing": Tables.parsing}
PAPER_TABLES = {"perplexity": Tables.perplexity}
