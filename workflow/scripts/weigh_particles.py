"""Log p of each test text by a particle filter."""

from textcritic import runlog
from textcritic.generators.latent.particles import weigh_particles
from textcritic.generators.latent.weigh import Weighed

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"particles of {w.generator}", runlog.gpus_of(snakemake.resources)):
    weighed = Weighed(texts=given.texts, model=given.model, proposal=given.proposal, knowledge=given.knowledge or None)
    weigh_particles(weighed, int(w.samples), int(w.seed), snakemake.output[0], snakemake.threads)
