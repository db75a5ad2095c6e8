"""Fit an n-gram critic on the chains of mentions of the train split."""

from textcritic import runlog
from textcritic.critics.mentions.job import chain_options, fit_on_mentions
from textcritic.plan.entries import Mentions, restore

w, p = snakemake.wildcards, snakemake.params
with runlog.job(snakemake.log[0], f"fit {w.critic} on {w.corpus}"):
    entry = Mentions.restore(p.spec)
    options = chain_options(entry, restore(p.resolver, "resolvers"))
    fit_on_mentions(snakemake.input.mentions, snakemake.output.critic, snakemake.output.training, entry, options)
