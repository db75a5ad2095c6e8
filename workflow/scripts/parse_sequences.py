"""Put shards together and look up the state of each sub-sequence."""

from textcritic import runlog
from textcritic.latents.lookup import parse_sequences
from textcritic.plan.entries import Decoding

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"parse {w.generator} {w.decoding}"):
    parse_sequences(
        snakemake.input.shards,
        snakemake.input.process,
        Decoding.restore(snakemake.params.spec).max_tokens,
        w.generator,
        snakemake.output.kept,
        snakemake.output.rejected,
        snakemake.output.counts,
    )
