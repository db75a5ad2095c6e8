"""Draw one shard of articles from an n-gram model."""

from textcritic import runlog
from textcritic.generators.ngram.job import sample_ngram
from textcritic.generators.shards import Shard, seed_of_draw
from textcritic.plan.entries import Decoding
from textcritic.plan.shares import share_of

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"sample {w.generator} {w.setting} {w.decoding}"):
    spec = Decoding.restore(snakemake.params.spec)
    first, count = share_of(spec.articles, w.shard)
    shard = Shard(seed_of_draw(int(w.seed), int(w.draw)), first, count, snakemake.output[0])
    sample_ngram(snakemake.input.model, spec, shard)
