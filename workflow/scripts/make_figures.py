"""Make the standing figures of an experiment, or a numbered one."""

from textcritic import runlog
from textcritic.report import make_figures

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"{w.part} of {w.experiment}, {w.study}"):
    params = snakemake.params
    make_figures(dict(params.items()), params.tables, snakemake.output[0], params.pdf)
