"""Draw one shard of sequences from a hidden semi-Markov language model."""

from textcritic import runlog
from textcritic.generators.hsmm.sample import sample_hsmm
from textcritic.generators.shards import Shard, seed_of_draw
from textcritic.plan.entries import Decoding
from textcritic.plan.shares import share_of

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"sample {w.generator} {w.decoding}"):
    spec = Decoding.restore(snakemake.params.spec)
    first, count = share_of(spec.articles, w.shard)
    segments = snakemake.params.steps if spec.stop == "given" else None
    shard = Shard(seed_of_draw(int(w.seed), int(w.draw)), first, count, snakemake.output[0])
    sample_hsmm(snakemake.input.model, shard, segments, spec.max_tokens, snakemake.threads)
