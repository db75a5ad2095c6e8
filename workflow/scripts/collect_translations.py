"""Put shards together and make an article of each translation."""

from textcritic import runlog
from textcritic.generators.collect import Limit, SampleFiles
from textcritic.generators.translations import collect_translations, sources_of
from textcritic.plan.entries import Decoding

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"collect {w.generator} {w.decoding}"):
    limit = Limit.of(Decoding.restore(snakemake.params.spec))
    files = SampleFiles(snakemake.output.kept, snakemake.output.rejected, snakemake.output.counts)
    sources = sources_of(snakemake.input.sentences)
    collect_translations(snakemake.input.shards, sources, limit, w.generator, files)
