"""Weigh the states that were drawn at several temperatures as draws from all of them together."""

from textcritic import runlog
from textcritic.generators.latent.mixture import weigh_mixture
from textcritic.generators.latent.weigh import Draws, Weighed

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"weigh {w.generator}, mixed", runlog.gpus_of(snakemake.resources)):
    weighed = Weighed(texts=given.texts, model=given.model, proposal=given.proposal, knowledge=given.knowledge or None)
    temperatures = [float(temperature) for temperature in w.temperatures.split("-")]
    draws = Draws(int(w.samples), temperatures[0], int(w.seed), int(w.shard))
    shards = list(zip(temperatures, given.shards, strict=True))
    weigh_mixture(weighed, shards, draws, snakemake.output[0], snakemake.threads)
