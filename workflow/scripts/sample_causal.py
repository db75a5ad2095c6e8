"""Draw one shard of articles from a causal transformer."""

from textcritic import runlog
from textcritic.generators.decoding import Decoding, shard_range
from textcritic.generators.sample import sample_articles
from textcritic.spec import restore

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"sample {w.generator} {w.setting} {w.decoding}"):
    spec = restore(snakemake.params.spec, "decodings")
    first, count = shard_range(spec["articles"], spec["shards"], int(w.shard))
    sample_articles(
        snakemake.input.model,
        Decoding.from_entry(spec),
        snakemake.params.boundary,
        int(w.seed),
        first,
        count,
        snakemake.output[0],
        threads=snakemake.threads,
    )
