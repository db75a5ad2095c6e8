"""Put the counts of the shards of a set of documents, or of draws, together."""

from pathlib import Path

from textcritic import runlog
from textcritic.critics.tendencies.job import merge_counts, merge_draws

with runlog.job(snakemake.log[0], f"merge counts of {snakemake.wildcards.corpus}"):
    (merge_draws if Path(snakemake.input[0]).is_dir() else merge_counts)(snakemake.input, snakemake.output[0])
