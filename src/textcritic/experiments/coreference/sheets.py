"""The tables of coreference, for reading."""

import pandas as pd

from textcritic.experiments.coreference.rows import PPL
from textcritic.measures.names import Names
from textcritic.measures.numbers import NONE, count, number
from textcritic.measures.phrases import SPREAD
from textcritic.measures.rows import in_groups
from textcritic.plan.sources import GROUP
from textcritic.report.cells import left_out_cell, measure_cell, unique
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Sheet

STEP = "Latent PPL is per token of a chain: a mention of a person, or the mark of a sentence's start."


def ppl_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """Latent PPL of real text and of each sample, how long chains are, and what was left out."""
    heads = ("Source", "Latent PPL", "Mentions a document", "People a document", "Documents", "Left out")
    body = []
    for _, group in rows.groupby(["source", *GROUP], sort=False):
        name = Cell(names.source(group.iloc[0].to_dict(), seed=False), heading=True)
        known = group[group["latent_ppl"].notna()]
        means = [Cell(NONE if known.empty else number(known[column].mean())) for column in PER_DOCUMENT]
        ppl = measure_cell(group, PPL) if len(known) else Cell(NONE, ("nothing could be scored",))
        body.append([name, ppl, *means, _documents(group), left_out_cell(group)])
    remarks = [*remarks_of(__file__, "ppl")]
    return Sheet(
        "coreference", "Latent PPL of chains of mentions", [[Cell(head) for head in heads]], body, remarks=remarks
    )


PER_DOCUMENT = ("mentions_per_document", "people_per_document")


def paper_ppl_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The same in the paper's shape (Tables 7 and 8): one row a corpus and setting, real text first."""
    corpora = unique(rows["corpus"])
    body = []
    for _, group in rows.groupby(["source", *GROUP], sort=False):
        first = group.iloc[0].to_dict()
        documents = f"{count(group['documents'].sum())} documents{in_groups(group)}"
        cell = measure_cell(group, PPL)
        name = Cell(names.source(first, corpus=len(corpora) > 1, seed=False), heading=True)
        body.append([name, Cell(cell.text, (*cell.notes, documents))])
    remarks = [f"{STEP} Under each value: {SPREAD}, and the p-value against real text."]
    return Sheet("coreference", "", [[Cell("Model"), Cell("Latent PPL")]], body, remarks=remarks)


def _documents(group: pd.DataFrame) -> Cell:
    without = group["without_people"].sum()
    return Cell(count(group["documents"].sum()), (f"{count(without)} without people",) if without else ())
