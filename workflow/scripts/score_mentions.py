"""Score the chains of mentions of real text or of a sample."""

from textcritic import runlog
from textcritic.critics.mentions.job import chain_options, score_file
from textcritic.plan.entries import Mentions, restore

w, p = snakemake.wildcards, snakemake.params
with runlog.job(snakemake.log[0], f"score {w.get('generator', 'real text')} of {w.corpus}"):
    options = chain_options(Mentions.restore(p.spec), restore(p.resolver, "resolvers"))
    files = (snakemake.input.mentions, snakemake.input.articles, snakemake.input.critic, snakemake.output[0])
    score_file(*files, options)
