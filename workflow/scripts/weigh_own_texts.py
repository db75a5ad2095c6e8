"""Draw texts from a latent language model with their states, and weigh these and states from a proposal."""

from textcritic import runlog
from textcritic.generators.latent.own import weigh_own
from textcritic.generators.latent.weigh import Draws, Weighed

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"own texts of {w.generator}", runlog.gpus_of(snakemake.resources)):
    weighed = Weighed(texts=given.texts, model=given.model, proposal=given.proposal, knowledge=given.knowledge or None)
    draws = Draws(int(w.samples), 1.0, int(w.seed))
    weigh_own(weighed, draws, int(w.texts), tuple(snakemake.output), snakemake.threads)
