"""Put the counts of the shards of a set of documents together."""

from textcritic import runlog
from textcritic.tendencies.job import merge_counts

with runlog.job(snakemake.log[0], f"merge counts of {snakemake.wildcards.corpus}"):
    merge_counts(snakemake.input, snakemake.output[0])
