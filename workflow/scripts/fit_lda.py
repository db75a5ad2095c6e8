"""Fit latent Dirichlet allocation."""

from textcritic import runlog
from textcritic.critics.lda.job import train_lda
from textcritic.plan.entries import restore

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"fit {w.critic} on {w.corpus}"):
    entry = restore(snakemake.params.spec, "critics")
    train_lda(snakemake.input.counts, snakemake.output.critic, snakemake.output.training, entry, snakemake.threads)
