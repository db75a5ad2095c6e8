"""Tables of topics: Latent NLL (paper, Table 9), the topics, and the least usual documents (Table 14)."""

from dataclasses import replace
from functools import cached_property

import pandas as pd

from textcritic.experiments.topics.files import TopicsFiles
from textcritic.experiments.topics.outliers import outlier_rows, published_examples
from textcritic.experiments.topics.rows import nll_rows, topic_rows, word_rows
from textcritic.experiments.topics.sheets import outliers_sheet, paper_topics_sheet, topics_sheet, words_sheet
from textcritic.report.names import Names
from textcritic.report.published import Published
from textcritic.report.tables import Table

TEXT = ("article", "text")


class Tables:
    """The tables of one experiment.

    Args:
        files: what they are made of.
        published: values that stand beside ours.
    """

    def __init__(self, files: TopicsFiles, published: Published) -> None:
        self.files, self.published = files, published

    @cached_property
    def names(self) -> Names:
        """What the sources are called."""
        return Names.of(self.files.samples)

    def topics(self) -> Table:
        """Latent NLL of every source, and how far its covariances are from those of real text."""
        rows = topic_rows(self.files, self.published)
        return Table(topics_sheet(rows, self.names), rows)

    def words(self) -> Table:
        """Every topic's words and shares."""
        rows = word_rows(self.files)
        return Table(words_sheet(rows, self.names), rows)

    def outliers(self) -> Table:
        """The least usual documents of each source."""
        rows = outlier_rows(self.files)
        return Table(outliers_sheet(rows, self.names), rows)

    def paper_nll(self) -> Table:
        """The paper's Table 9: Latent NLL alone."""
        rows = nll_rows(self.files, self.published)
        return Table(paper_topics_sheet(rows, self.names), rows)

    def paper_outliers(self) -> Table:
        """The paper's Table 14: ranked by the Latent NLL at the mean, as there."""
        rows: pd.DataFrame = outlier_rows(self.files, "nll_at_mean")
        sheet = outliers_sheet(rows, self.names, at_mean=True)
        remarks = [*sheet.remarks, *published_examples(self.files, self.published)]
        return Table(replace(sheet, remarks=remarks), rows)


TABLES = {
    "topics": Tables.topics,
    "topic-words": Tables.words,
    "topic-outliers": Tables.outliers,
}
PAPER_TABLES = {"nll": Tables.paper_nll, "outliers": Tables.paper_outliers}
