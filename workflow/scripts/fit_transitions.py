"""Fit the critic of section transitions."""

from textcritic import runlog
from textcritic.corpora import gold_chains
from textcritic.critics import AS_RELEASED_GRID, TransitionCritic
from textcritic.plan.entries import restore

with runlog.job(snakemake.log[0], f"fit {snakemake.wildcards.critic} on {snakemake.wildcards.corpus}"):
    spec = restore(snakemake.params.spec, "critics")
    train = gold_chains(snakemake.input.train)
    grid = AS_RELEASED_GRID if spec["mode"] == "as_released" else spec["smoothing"]
    TransitionCritic.fit(train, mode=spec["mode"], grid=grid).save(snakemake.output[0])
