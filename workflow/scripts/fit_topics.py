"""Fit a correlated topic model."""

from pathlib import Path

from textcritic import runlog
from textcritic.critics.ctm import train_topics
from textcritic.plan.spec import restore

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"fit {w.critic} on {w.corpus}", runlog.gpus_of(snakemake.resources)):
    train_topics(
        snakemake.input.counts,
        restore(snakemake.params.spec, "critics"),
        snakemake.output.critic,
        snakemake.output.training,
        state=Path(snakemake.output.critic).with_name("checkpoints"),
        version=snakemake.params.version,
        threads=snakemake.threads,
    )
