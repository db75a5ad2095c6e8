"""Tables of corpora: statistics (paper, Table 11), what was left out, and what the splits share."""

from textcritic.experiments.corpora.files import CorporaFiles
from textcritic.experiments.corpora.rows import (
    audit_rows,
    came,
    changed_characters,
    left_out_rows,
    shared_rows,
    statistics_rows,
)
from textcritic.experiments.corpora.sheets import audit_sheet, left_out_sheet, shared_sheet, statistics_sheet
from textcritic.measures.material import Material
from textcritic.report.tables import Table, recipe

TEXT = ("stage", "reason", "split", "switch", "here", "other")


def _left_out(material: Material[CorporaFiles]) -> Table:
    rows = material.get(left_out_rows)
    data = material.files.data
    return Table(left_out_sheet(rows, came(data), changed_characters(data)), rows)


STATISTICS = recipe(statistics_rows, lambda rows, _: statistics_sheet(rows))
TABLES = {
    "statistics": STATISTICS,
    "left-out": _left_out,
    "shared-text": recipe(shared_rows, lambda rows, _: shared_sheet(rows)),
    "extraction-audit": recipe(audit_rows, lambda rows, _: audit_sheet(rows)),
}
PAPER_TABLES = {"statistics": STATISTICS}
