"""Make the standing figures of an experiment, or a numbered one."""

from textcritic import runlog
from textcritic.report import make_figures

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"{w.part} of {w.experiment}, {w.study}"):
    make_figures(dict(snakemake.params.items()), snakemake.params.tables, snakemake.output[0])
