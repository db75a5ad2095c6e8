"""Make the figures of a study's known processes."""

from textcritic import runlog
from textcritic.report import make_synthetic_figures

with runlog.job(snakemake.log[0], f"synthetic figures {snakemake.wildcards.study}"):
    make_synthetic_figures(snakemake.params.study, snakemake.output[0])
