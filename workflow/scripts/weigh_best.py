"""The likeliest latent states of each test text by a proposal, and their log p."""

from textcritic import runlog
from textcritic.generators.latent.weigh import Weighed, weigh_best

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"beam of {w.generator}", runlog.gpus_of(snakemake.resources)):
    weighed = Weighed(texts=given.texts, model=given.model, proposal=given.proposal, knowledge=given.knowledge or None)
    weigh_best(weighed, int(w.samples), snakemake.output[0], snakemake.threads)
