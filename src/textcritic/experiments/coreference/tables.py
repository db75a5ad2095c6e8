"""Tables of coreference: Latent PPL (paper, Tables 7 and 8), and the windows behind it (Tables 6 and 15 to 17)."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pandas as pd

from textcritic.experiments.coreference.audit import TEXT as AUDIT_TEXT
from textcritic.experiments.coreference.audit import audit_rows, audit_sheet
from textcritic.experiments.coreference.decomposition import decomposition_rows, decomposition_sheet
from textcritic.experiments.coreference.files import CoreferenceFiles
from textcritic.experiments.coreference.ngram_sheets import contributions_sheet, ratios_sheet, unlikely_sheet
from textcritic.experiments.coreference.ngrams import (
    ALTERNATIVE,
    LESS,
    LOG_PROB,
    MORE,
    PERCENT,
    PROBABILITY,
    contribution_rows,
    ratio_rows,
    unlikely_rows,
)
from textcritic.experiments.coreference.power import STUDY, exchange_rows
from textcritic.experiments.coreference.resolver import TEXT as RESOLVER_TEXT
from textcritic.experiments.coreference.resolver import error_rows, error_sheet, resolver_rows, resolver_sheet
from textcritic.experiments.coreference.rows import ppl_rows
from textcritic.experiments.coreference.shares import share_rows, share_sheet
from textcritic.experiments.coreference.sheets import paper_ppl_sheet, ppl_sheet
from textcritic.measures.material import Material
from textcritic.report.power import power_sheet
from textcritic.report.sheet import Sheet
from textcritic.report.tables import Table, recipe

PAPER = "one run of each, with the resolver neuralcoref and the released code's discount"
TEXT = ("window", "direction", "alternative", "published_alternative", "kind", *AUDIT_TEXT, *RESOLVER_TEXT)


def with_notes(
    rows_of: Callable[[Material[CoreferenceFiles]], pd.DataFrame], sheet_of: Callable[..., Sheet], *metrics: str
) -> Callable[[Material[CoreferenceFiles]], Table]:
    """A recipe whose table has a remark with the notes about its published values.

    Args:
        rows_of: makes the rows.
        sheet_of: makes the sheet.
        metrics: the beginnings of the metrics of its published values.
    """

    def table(material: Material[CoreferenceFiles]) -> Table:
        rows = material.get(rows_of)
        sheet = sheet_of(rows, material.names)
        published = [name for name in rows if "published" in name and name not in TEXT]
        if rows[published].isna().all(axis=None):
            return Table(sheet, rows)
        corpora, generators = set(rows["corpus"]), {"data", *rows["generator"]}
        notes = [
            note
            for cell, notes_of_cell in material.published.notes.items()
            if cell in material.published.values
            and cell[0] in corpora
            and cell[2] in generators
            and cell[-1].startswith(metrics)
            for note in notes_of_cell.split("; ")
        ]
        remark = f"Published values: {'; '.join(dict.fromkeys((PAPER, *notes)))}."
        return Table(replace(sheet, remarks=[*sheet.remarks, remark]), rows)

    return table


def direction(of: str) -> Callable[[Material[CoreferenceFiles]], Table]:
    """Only the windows that are likelier in samples, or only those likelier in real text (paper, Tables 16 and 17)."""

    def rows(material: Material[CoreferenceFiles]) -> pd.DataFrame:
        every = material.get(ratio_rows)
        return every[every["direction"].isin((of, ""))]

    return with_notes(rows, partial(ratios_sheet, directions=(of,)), PROBABILITY[of])


CONTRIBUTIONS = with_notes(contribution_rows, contributions_sheet, PERCENT)
UNLIKELY = with_notes(unlikely_rows, unlikely_sheet, LOG_PROB, ALTERNATIVE)
TABLES = {
    "coreference": with_notes(ppl_rows, ppl_sheet, "latent_ppl"),
    "coreference-shares": recipe(share_rows, share_sheet),
    "coreference-ngrams": CONTRIBUTIONS,
    "coreference-unlikely": UNLIKELY,
    "coreference-ratios": with_notes(ratio_rows, ratios_sheet, *PROBABILITY.values()),
    "coreference-decomposition": recipe(decomposition_rows, decomposition_sheet),
    STUDY.name: recipe(exchange_rows, lambda rows, _: power_sheet(rows, STUDY)),
    "coreference-audit": recipe(audit_rows, audit_sheet),
    "coreference-resolvers": recipe(resolver_rows, lambda rows, _: resolver_sheet(rows)),
    "coreference-resolver-error": recipe(error_rows, lambda rows, _: error_sheet(rows)),
}
PAPER_TABLES = {
    "ppl": with_notes(ppl_rows, paper_ppl_sheet, "latent_ppl"),
    "contributions": CONTRIBUTIONS,
    "unlikely": UNLIKELY,
    "more": direction(MORE),
    "less": direction(LESS),
}
