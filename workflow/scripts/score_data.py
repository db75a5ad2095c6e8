"""Score real documents, by their gold titles and by inferred ones."""

from textcritic import runlog
from textcritic.corpora import article_groups
from textcritic.critics import TransitionCritic, score_latents, with_groups
from textcritic.files import read_table, write_table

with runlog.job(snakemake.log[0], f"score {snakemake.wildcards.corpus}"):
    critic = TransitionCritic.load(snakemake.input.critic)
    latents, groups = read_table(snakemake.input.latents), article_groups(snakemake.input.articles)
    for which in ("gold", "inferred"):
        write_table(snakemake.output[which], with_groups(score_latents(critic, latents, which), groups))
