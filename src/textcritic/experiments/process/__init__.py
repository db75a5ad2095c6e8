"""Known processes in the report: Table 1 of the paper, its audit, and the sequences of Figure 3."""

from textcritic.report.synthetic.make import make_synthetic_figures, make_synthetic_tables

__all__ = ["make_synthetic_figures", "make_synthetic_tables"]
