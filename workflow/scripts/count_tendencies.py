"""Count one shard of a split, of a draw from a split, or of a sample."""

from textcritic import runlog
from textcritic.plan.spec import restore
from textcritic.tendencies.job import Draw, count_articles, count_options

w, given, params = snakemake.wildcards, snakemake.input, snakemake.params
with runlog.job(snakemake.log[0], f"count {w.get('generator', 'real text')} {w.corpus} shard {w.shard}"):
    entry = restore(params.spec, "critics")
    draw = Draw(int(w.draw), params.draws, given.like) if w.get("draw") else None
    counts = count_articles(
        given.articles,
        count_options(entry, next(iter(given.get("stop_words", [])), None)),
        entry["seed"],
        (int(w.shard), params.shards),
        draw,
        snakemake.threads,
    )
    counts.save(snakemake.output[0])
