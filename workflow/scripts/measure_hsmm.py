"""Perplexity of a hidden semi-Markov language model on the test split."""

from textcritic import runlog
from textcritic.generators.hsmm.measure import measure_hsmm

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"perplexity {w.generator}", runlog.gpus_of(snakemake.resources)):
    prefix = snakemake.input.tokens[0].removesuffix(".tokens.npy")
    measure_hsmm(snakemake.input.model, prefix, snakemake.output[0], threads=snakemake.threads)
