"""Score chains of mentions under every variant of a critic."""

from textcritic import runlog
from textcritic.critics.mentions.variants import vary_mentions
from textcritic.plan.entries import Mentions, restore

w, p = snakemake.wildcards, snakemake.params
with runlog.job(snakemake.log[0], f"variants of {w.critic} on {w.get('generator', 'real text')} of {w.corpus}"):
    entries = Mentions.restore(p.spec), restore(p.resolver, "resolvers")
    vary_mentions(snakemake.input.train, snakemake.input.mentions, snakemake.output[0], *entries)
