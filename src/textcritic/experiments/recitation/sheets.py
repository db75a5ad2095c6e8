"""The tables of recitation, for reading."""

import pandas as pd

from textcritic.critics.recitation.scoring import MAIN_LENGTH
from textcritic.experiments.recitation.rows import OF_LENGTH, RECITED
from textcritic.measures.labels import of_corpus
from textcritic.measures.names import Names
from textcritic.measures.numbers import count
from textcritic.plan.sources import GROUP
from textcritic.report.cells import Column, by_source, left_out_cell, matching, measure_cell, measure_sheet
from textcritic.report.prose import remarks_of
from textcritic.report.reader import texts_sheet
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet

SHARE = "Share of n-grams that occur word for word in the training text"


def recitation_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """How much of each source occurs in the training text, and its longest passages."""

    def longest(group: pd.DataFrame) -> Cell:
        return Cell(count(group["longest"].max()), (f"median {group['longest_median'].mean():,.0f}",))

    columns: dict[str, Column] = {
        RECITED.name: RECITED,
        f"{MAIN_LENGTH}-grams": lambda group: count(group["ngrams"].sum()),
        "Longest passage, words": longest,
        "Left out": left_out_cell,
    }
    heading = ("recitation", "How much occurs in the training text")
    return measure_sheet(heading, rows, names, columns, remarks_of(__file__, "recitation"))


def lengths_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The share for each n, one column a source."""
    sources = rows.drop_duplicates(["source", *GROUP[1:]])[["source", *GROUP[1:]]].to_dict("records")
    body: list[Line] = []
    for (corpus, n), group in rows.groupby(["corpus", "n"], sort=False):
        by_column = [matching(group, source) for source in sources]
        body.append([of_corpus(rows, corpus, str(n)), *(measure_cell(seeds, OF_LENGTH) for seeds in by_column)])
    heads = ["n", *(names.source({"corpus": "", **source}, corpus=False, seed=False) for source in sources)]
    remarks = ["Under each share: its 95% interval (with several seeds: their standard deviation)."]
    return plain_sheet("recitation-lengths", SHARE, heads, body, remarks)


def passages_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The longest passages of each source, and a training document that has them."""
    heading = ("recitation-passages", "The longest passages that occur in the training text")
    texts = {"Document": "article", "Training document": "train_article", "Passage": "passage"}
    numbers = {"Words": lambda row: count(row["words"])}
    remarks = ["Of samples with several seeds, the first. Several training documents may have a passage; one is named."]
    return texts_sheet(heading, by_source(rows, names), numbers, texts, remarks)
