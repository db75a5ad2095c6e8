"""Fit a correlated topic model."""

from pathlib import Path

from textcritic import runlog
from textcritic.critics.ctm import FitFiles, train_topics
from textcritic.plan.entries import Ctm

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"fit {w.critic} on {w.corpus}"):
    critic, starts, training = (snakemake.output[name] for name in ("critic", "starts", "training"))
    train_topics(
        FitFiles(snakemake.input.counts, critic, starts, training, state=Path(critic).with_name("checkpoints")),
        Ctm.restore(snakemake.params.spec),
        version=snakemake.params.version,
        threads=snakemake.threads,
    )
