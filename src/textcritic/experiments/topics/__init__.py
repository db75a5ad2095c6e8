"""Topics in the report: Tables 9 and 14 of the paper, and the covariances of Figures 6, 8 and 9."""

from textcritic.report.topics.make import make_paper_covariances, make_topic_figures, make_topic_tables

__all__ = ["make_paper_covariances", "make_topic_figures", "make_topic_tables"]
