"""Fit latent Dirichlet allocation."""

from textcritic import runlog
from textcritic.critics.lda.job import train_lda
from textcritic.plan.entries import Lda

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"fit {w.critic} on {w.corpus}"):
    entry = Lda.restore(snakemake.params.spec)
    train_lda(snakemake.input.counts, snakemake.output.critic, snakemake.output.training, entry, snakemake.threads)
