"""Count a split or a sample, or draws from a split, or one shard of them."""

from textcritic import runlog
from textcritic.critics.tendencies.job import count_articles, count_draws
from textcritic.critics.tendencies.options import with_stop_words
from textcritic.plan.entries import Tendencies

w, given, params, threads = snakemake.wildcards, snakemake.input, snakemake.params, snakemake.threads
shard = int(w.get("shard", 0)), params.get("shards", 1)
with runlog.job(snakemake.log[0], f"count {w.get('texts', 'draws')} {w.corpus} shard {shard[0]}"):
    entry = with_stop_words(Tendencies.restore(params.spec), given.get("stop_words", []))
    if of := params.get("draws"):
        count_draws(given.articles, entry, (of, given.like), snakemake.output[0], shard, threads)
    else:
        count_articles(given.articles, entry, shard, threads=threads).save(snakemake.output[0])
