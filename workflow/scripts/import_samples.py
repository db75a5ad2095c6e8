"""Read articles that somebody else's model wrote."""

from textcritic import runlog
from textcritic.generators.collect import import_samples

with runlog.job(snakemake.log[0], f"import {snakemake.wildcards.generator}"):
    import_samples(snakemake.input[0], snakemake.output.kept, snakemake.output.rejected, snakemake.output.counts)
