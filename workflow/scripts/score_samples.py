"""Score sampled documents by their inferred titles; carry along those that did not parse."""

from textcritic import runlog
from textcritic.corpora import article_groups
from textcritic.critics import TransitionCritic, score_latents, with_groups
from textcritic.critics.scores import unread
from textcritic.files import read_table, write_table

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"score {w.generator} {w.setting} {w.decoding}"):
    scores = score_latents(
        TransitionCritic.load(snakemake.input.critic),
        read_table(snakemake.input.latents),
        "inferred",
        unread(snakemake.input.rejected),
    )
    write_table(snakemake.output[0], with_groups(scores, article_groups(snakemake.input.articles)))
