"""Tables, figures, published values beside ours, and the HTML report of a study."""

from textcritic.report.figures import make_error_graphs, make_figures
from textcritic.report.html import make_report
from textcritic.report.manifest import make_manifest
from textcritic.report.papers import make_paper_figure, make_paper_table
from textcritic.report.synthetic import make_synthetic_figures, make_synthetic_tables
from textcritic.report.tables import make_tables
from textcritic.report.topics import make_topic_figures, make_topic_tables

__all__ = [
    "make_error_graphs",
    "make_figures",
    "make_manifest",
    "make_paper_figure",
    "make_paper_table",
    "make_report",
    "make_synthetic_figures",
    "make_synthetic_tables",
    "make_tables",
    "make_topic_figures",
    "make_topic_tables",
]
