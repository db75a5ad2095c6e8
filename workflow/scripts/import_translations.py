"""Read translations that somebody else's model made."""

from textcritic import runlog
from textcritic.generators.collect import SampleFiles
from textcritic.generators.translations import import_translations, sources_of

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"import {w.generator}"):
    files = SampleFiles(snakemake.output.kept, snakemake.output.rejected, snakemake.output.counts)
    import_translations(snakemake.input.given[0], sources_of(snakemake.input.sentences), files)
