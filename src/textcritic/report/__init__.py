"""Tables, figures and sections of experiments of any kind, and the HTML report of a study."""

from textcritic.report.make import make_figures, make_section, make_tables
from textcritic.report.manifest import make_manifest
from textcritic.report.page import make_report

__all__ = ["make_figures", "make_manifest", "make_report", "make_section", "make_tables"]
