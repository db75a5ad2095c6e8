"""Make a figure of a paper from the part of a study that it compares."""

from textcritic import runlog
from textcritic.report import make_error_graphs

with runlog.job(snakemake.log[0], f"{snakemake.wildcards.part} of {snakemake.wildcards.study}"):
    make_error_graphs(snakemake.params.study, snakemake.output[0])
