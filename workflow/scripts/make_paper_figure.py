"""Make a figure of a paper from the part of a study that it compares."""

from textcritic import runlog
from textcritic.report import make_paper_figure

with runlog.job(snakemake.log[0], f"{snakemake.wildcards.part} of {snakemake.wildcards.study}"):
    make_paper_figure(snakemake.params.study, snakemake.output[0])
