"""Put the shards of a Wikipedia dump together."""

from textcritic import runlog
from textcritic.corpora.wikipedia import join_shards

with runlog.job(snakemake.log[0], f"join {snakemake.wildcards.corpus}"):
    join_shards(snakemake.input.articles, snakemake.input.reports, snakemake.output.articles, snakemake.output.report)
