"""Score real documents, by their gold titles and by inferred ones."""

from textcritic import runlog
from textcritic.critics import TransitionCritic, score_latents
from textcritic.files import read_table, write_table

with runlog.job(snakemake.log[0], f"score {snakemake.wildcards.corpus}"):
    critic = TransitionCritic.load(snakemake.input.critic)
    latents = read_table(snakemake.input.latents)
    for which in ("gold", "inferred"):
        write_table(snakemake.output[which], score_latents(critic, latents, which))
