"""Make one shard of texts with a model of fairseq: translations, or articles of a language model."""

from textcritic import runlog
from textcritic.generators.fairseq.sample import sample_fairseq
from textcritic.generators.sample import Sampling
from textcritic.generators.shards import Shard, seed_of_draw
from textcritic.generators.translations import sources_of
from textcritic.plan.entries import Decoding
from textcritic.plan.shares import share_of

w = snakemake.wildcards
with runlog.job(
    snakemake.log[0], f"sample {w.generator} {w.setting} {w.decoding}", runlog.gpus_of(snakemake.resources)
):
    sentences = snakemake.input.get("sentences")
    spec = Decoding.restore(snakemake.params.spec)
    first, count = share_of(spec.articles, w.shard)
    sample_fairseq(
        snakemake.input.model,
        sources_of(sentences) if sentences else None,
        spec.changed(batch_size=snakemake.resources.batch_size),
        Shard(seed_of_draw(int(w.seed), int(w.draw)), first, count, snakemake.output[0]),
        Sampling(threads=snakemake.threads, version=snakemake.params.version),
    )
