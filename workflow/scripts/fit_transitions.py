"""Fit the critic of section transitions."""

from textcritic import runlog
from textcritic.corpora import gold_chains
from textcritic.critics import TransitionCritic
from textcritic.plan.entries import Transitions

with runlog.job(snakemake.log[0], f"fit {snakemake.wildcards.critic} on {snakemake.wildcards.corpus}"):
    entry = Transitions.restore(snakemake.params.spec)
    grid = None if entry.mode == "as_released" else entry.smoothing
    TransitionCritic.fit(gold_chains(snakemake.input.train), mode=entry.mode, grid=grid).save(snakemake.output[0])
