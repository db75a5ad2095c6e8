"""Draw latent states of each test text from a proposal, and weigh them."""

from textcritic import runlog
from textcritic.generators.latent.weigh import Draws, Weighed, weigh
from textcritic.plan.shares import shards_of

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"weigh {w.generator} at {w.temperature}", runlog.gpus_of(snakemake.resources)):
    weighed = Weighed(texts=given.texts, model=given.model, proposal=given.proposal, knowledge=given.knowledge or None)
    shards = shards_of(w.shard)
    draws = Draws(int(w.samples), float(w.temperature), int(w.seed), shards.start, len(shards))
    weigh(weighed, draws, snakemake.output[0], snakemake.threads)
