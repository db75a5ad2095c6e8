"""Count a split or a sample, or draws from a split, or one shard of them."""

from textcritic import runlog
from textcritic.critics.tendencies.job import count_articles, count_draws, count_options
from textcritic.plan.entries import restore

w, given, params = snakemake.wildcards, snakemake.input, snakemake.params
shard = int(w.get("shard", 0)), params.get("shards", 1)
with runlog.job(snakemake.log[0], f"count {w.get('texts', 'draws')} {w.corpus} shard {shard[0]}"):
    entry = restore(params.spec, "critics")
    options = count_options(entry, next(iter(given.get("stop_words", [])), None))
    seed, threads = entry["seed"], snakemake.threads
    if of := params.get("draws"):
        count_draws(given.articles, options, (of, given.like, seed), snakemake.output[0], shard, threads)
    else:
        count_articles(given.articles, options, seed, shard, threads=threads).save(snakemake.output[0])
