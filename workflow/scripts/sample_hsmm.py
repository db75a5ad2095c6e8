"""Draw one shard of sequences from a hidden semi-Markov language model."""

from textcritic import runlog
from textcritic.critics.hsmm.shard import sample_hsmm
from textcritic.generators.decoding import shard_range
from textcritic.plan.spec import restore

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"sample {w.generator} {w.decoding}"):
    spec = restore(snakemake.params.spec, "decodings")
    first, count = shard_range(spec["articles"], spec["shards"], int(w.shard))
    segments = snakemake.params.steps if spec["stop"] == "given" else None
    sample_hsmm(
        snakemake.input.model,
        int(w.seed),
        first,
        count,
        snakemake.output[0],
        segments,
        max_tokens=spec["max_tokens"],
        threads=snakemake.threads,
    )
