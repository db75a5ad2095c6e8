"""Make the figures of a study."""

from textcritic import runlog
from textcritic.report import make_figures

with runlog.job(snakemake.log[0], f"figures {snakemake.wildcards.study}"):
    make_figures(snakemake.params.study, snakemake.output)
