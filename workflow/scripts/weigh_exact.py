"""Log p of each test text by a model without latent states."""

from textcritic import runlog
from textcritic.generators.latent.weigh import Weighed, weigh_exact

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"weigh {w.generator}", runlog.gpus_of(snakemake.resources)):
    weigh_exact(Weighed(texts=given.texts, model=given.model), snakemake.output[0], snakemake.threads)
