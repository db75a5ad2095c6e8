"""Tables, figures, published values beside ours, and the HTML report of a study."""

from textcritic.report.figures import make_figures
from textcritic.report.html import make_report
from textcritic.report.manifest import make_manifest
from textcritic.report.published import read_published
from textcritic.report.tables import (
    make_audit_table,
    make_coherence_table,
    make_decomposition_table,
    make_errors_table,
    make_statistics_table,
    make_tables,
)

__all__ = [
    "make_audit_table",
    "make_coherence_table",
    "make_decomposition_table",
    "make_errors_table",
    "make_figures",
    "make_manifest",
    "make_report",
    "make_statistics_table",
    "make_tables",
    "read_published",
]
