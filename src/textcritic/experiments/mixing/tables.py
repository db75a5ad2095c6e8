"""Tables of mixed languages: how much each source mixes, the topics (paper, Table 10), what the test notices."""

from functools import cached_property

from textcritic.experiments.mixing.files import MixingFiles
from textcritic.experiments.mixing.known import known_rows
from textcritic.experiments.mixing.rows import REAL, Compared, language_rows, mixing_rows, pair_rows, word_rows
from textcritic.experiments.mixing.sheets import languages_sheet, mixing_sheet, pairs_sheet, power_sheet, words_sheet
from textcritic.report.names import Names
from textcritic.report.published import Published
from textcritic.report.tables import Table

TEXT = ("more", "less", "language", "words")
"""Columns that are text."""


class Tables:
    """The tables of one experiment.

    Args:
        files: what they are made of.
        published: values that stand beside ours: the paper has the sizes of its models.
    """

    def __init__(self, files: MixingFiles, published: Published) -> None:
        self.files, self.published = files, published

    @cached_property
    def names(self) -> Names:
        """What the sources are called."""
        return Names.of(self.files.samples, REAL)

    @cached_property
    def compared(self) -> list[Compared]:
        """The posteriors of every corpus and its samples, which all tables but the last read."""
        return [Compared.of(real, self.files) for real in self.files.data]

    def mixing(self) -> Table:
        """How much each source mixes."""
        rows = mixing_rows(self.compared, self.files, self.names, self.published)
        return Table(mixing_sheet(rows, self.names), rows)

    def pairs(self) -> Table:
        """Which of two samples mixes more."""
        rows = pair_rows(self.compared, self.files, self.names)
        return Table(pairs_sheet(rows), rows)

    def languages(self) -> Table:
        """Topics and languages."""
        rows = language_rows(self.compared, self.files, self.names)
        return Table(languages_sheet(rows, self.names), rows)

    def words(self) -> Table:
        """The likeliest words of each topic."""
        rows = word_rows(self.compared)
        return Table(words_sheet(rows, self.names), rows)

    def power(self) -> Table:
        """What is recovered of a known rate of mixing."""
        rows = known_rows(self.files)
        return Table(power_sheet(rows), rows)


TABLES = {
    "mixing": Tables.mixing,
    "mixing-pairs": Tables.pairs,
    "mixing-languages": Tables.languages,
    "mixing-words": Tables.words,
    "mixing-power": Tables.power,
}
PAPER_TABLES = {"words": Tables.words}
