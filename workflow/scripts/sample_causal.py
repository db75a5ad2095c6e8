"""Draw one shard of articles from a causal transformer."""

from textcritic import runlog
from textcritic.generators.sample import Openings, Sampling, sample_articles
from textcritic.generators.shards import Shard, seed_of_draw
from textcritic.plan.entries import Decoding
from textcritic.plan.shares import share_of

w = snakemake.wildcards
with runlog.job(
    snakemake.log[0], f"sample {w.generator} {w.setting} {w.decoding}", runlog.gpus_of(snakemake.resources)
):
    spec = Decoding.restore(snakemake.params.spec)
    first, count = share_of(spec.articles, w.shard)
    openings = Openings(snakemake.input.openings, w.setting, spec.opening) if spec.opening else None
    sample_articles(
        snakemake.input.model,
        spec.changed(batch_size=snakemake.resources.batch_size),
        snakemake.params.boundary,
        Shard(seed_of_draw(int(w.seed), int(w.draw)), first, count, snakemake.output[0]),
        Sampling(snakemake.params.context, snakemake.threads, snakemake.params.version, openings),
    )
