"""Fit a critic of the order of sentences on the train split of a corpus."""

from textcritic import runlog
from textcritic.critics.order import fit_order

with runlog.job(snakemake.log[0], f"order of sentences {snakemake.wildcards.corpus}"):
    fit_order(snakemake.input[0], snakemake.output[0])
