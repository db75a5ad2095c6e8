"""Put shards together and parse each text into titled sections."""

from textcritic import runlog
from textcritic.generators.collect import Limit, SampleFiles, collect_samples
from textcritic.plan.entries import Decoding

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"collect {w.generator} {w.setting} {w.decoding}"):
    limit = Limit.of(Decoding.restore(snakemake.params.spec))
    files = SampleFiles(snakemake.output.kept, snakemake.output.rejected, snakemake.output.counts)
    collect_samples(snakemake.input, w.setting, limit, w.generator, files)
