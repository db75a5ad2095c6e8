"""Draw latent states of each test text from a proposal, and weigh them."""

from textcritic import runlog
from textcritic.generators.latent.weigh import Draws, Weighed, weigh

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"weigh {w.generator} at {w.temperature}", runlog.gpus_of(snakemake.resources)):
    weighed = Weighed(texts=given.texts, model=given.model, proposal=given.proposal, knowledge=given.knowledge or None)
    draws = Draws(int(w.samples), float(w.temperature), int(w.seed), int(w.shard))
    weigh(weighed, draws, snakemake.output[0], snakemake.threads)
