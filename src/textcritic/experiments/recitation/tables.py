"""Tables of recitation: how much occurs in the training text, the same by n, and the longest passages."""

from textcritic.experiments.recitation.rows import PASSAGE_TEXT, length_rows, passage_rows, recitation_rows
from textcritic.experiments.recitation.sheets import lengths_sheet, passages_sheet, recitation_sheet
from textcritic.report.tables import recipe

TEXT = PASSAGE_TEXT

LENGTHS = recipe(length_rows, lengths_sheet)
TABLES = {
    "recitation": recipe(recitation_rows, recitation_sheet),
    "recitation-lengths": LENGTHS,
    "recitation-passages": recipe(passage_rows, passages_sheet),
}
PAPER_TABLES = {"lengths": LENGTHS}
