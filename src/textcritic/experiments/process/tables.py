"""Tables of known processes: word-level and Latent PPL (paper, Table 1), and what counts as a sequence."""

from textcritic.experiments.process.files import ProcessFiles
from textcritic.experiments.process.names import ProcessNames
from textcritic.experiments.process.rows import parsing_rows, perplexity_rows
from textcritic.experiments.process.sheets import parsing_sheet, perplexity_sheet
from textcritic.measures.material import Material
from textcritic.report.tables import Table, recipe

TEXT = ("published_note", "infinite_because", "ppl_infinite_because")


NAMES = ProcessNames.of


def perplexity(material: Material[ProcessFiles]) -> Table:
    """The exact values, and those of the test sequences and of each model."""
    rows = material.get(perplexity_rows)
    return Table(perplexity_sheet(rows, material.names, material.files.decodings), rows)


TABLES = {"process": perplexity, "parsing": recipe(parsing_rows, parsing_sheet)}
PAPER_TABLES = {"perplexity": perplexity}
