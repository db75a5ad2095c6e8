"""Draw one shard of texts from a latent language model."""

from textcritic import runlog
from textcritic.generators.latent.sample import Drawn, sample_latent
from textcritic.generators.shards import Shard, seed_of_draw
from textcritic.plan.entries import Decoding
from textcritic.plan.shares import share_of

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"sample {w.generator} {w.decoding}", runlog.gpus_of(snakemake.resources)):
    spec = Decoding.restore(snakemake.params.spec)
    first, count = share_of(spec.articles, w.shard)
    shard = Shard(seed_of_draw(int(w.seed), int(w.draw)), first, count, snakemake.output[0])
    drawn = Drawn(
        model=given.model,
        knowledge=given.knowledge or None,
        longest=spec.max_tokens,
        lengths=given.lengths or None,
        version=snakemake.params.version,
    )
    sample_latent(drawn, shard, snakemake.threads)
