"""Tables of topics: Latent NLL (paper, Table 9), the topics, the least usual documents (Table 14), and power."""

from dataclasses import replace

from textcritic.experiments.topics.files import TopicsFiles
from textcritic.experiments.topics.outliers import outlier_rows, published_examples
from textcritic.experiments.topics.power import STUDY, foreign_rows
from textcritic.experiments.topics.rows import nll_rows, topic_rows, word_rows
from textcritic.experiments.topics.sheets import outliers_sheet, paper_topics_sheet, topics_sheet, words_sheet
from textcritic.measures.material import Material
from textcritic.report.power import power_sheet
from textcritic.report.tables import Table, recipe

TEXT = ("article", "text")


def paper_outliers(material: Material[TopicsFiles]) -> Table:
    """The paper's Table 14: ranked by the Latent NLL at the mean, as there."""
    rows = outlier_rows(material, "nll_at_mean")
    sheet = outliers_sheet(rows, material.names, at_mean=True)
    return Table(replace(sheet, remarks=[*sheet.remarks, *published_examples(material)]), rows)


TABLES = {
    "topics": recipe(topic_rows, topics_sheet),
    "topic-words": recipe(word_rows, words_sheet),
    "topic-outliers": recipe(outlier_rows, outliers_sheet),
    STUDY.name: recipe(foreign_rows, lambda rows, _: power_sheet(rows, STUDY)),
}
PAPER_TABLES = {"nll": recipe(nll_rows, paper_topics_sheet), "outliers": paper_outliers}
