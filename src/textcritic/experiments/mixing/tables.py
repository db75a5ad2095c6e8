"""Tables of mixed languages: how much each source mixes, the topics (paper, Table 10), what the test notices."""

from functools import partial

from textcritic.experiments.mixing.known import known_rows
from textcritic.experiments.mixing.rows import REAL, language_rows, mixing_rows, pair_rows, word_rows
from textcritic.experiments.mixing.sheets import languages_sheet, mixing_sheet, pairs_sheet, power_sheet, words_sheet
from textcritic.measures.names import names_of
from textcritic.report.tables import recipe

TEXT = ("more", "less", "language", "words", "published_words")
"""Columns that are text."""


NAMES = partial(names_of, real=REAL)
WORDS = recipe(word_rows, words_sheet)
TABLES = {
    "mixing": recipe(mixing_rows, mixing_sheet),
    "mixing-pairs": recipe(pair_rows, lambda rows, _: pairs_sheet(rows)),
    "mixing-languages": recipe(language_rows, languages_sheet),
    "mixing-words": WORDS,
    "mixing-power": recipe(known_rows, lambda rows, _: power_sheet(rows)),
}
PAPER_TABLES = {"words": WORDS}
