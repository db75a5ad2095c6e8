"""Put shards of a latent language model together: texts with the states that were drawn with them."""

from textcritic import runlog
from textcritic.generators.collect import Limit, SampleFiles
from textcritic.generators.latent.draws import collect_latent
from textcritic.plan.entries import Decoding

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"collect {w.generator} {w.decoding}"):
    limit = Limit.of(Decoding.restore(snakemake.params.spec))
    files = SampleFiles(snakemake.output.kept, snakemake.output.rejected, snakemake.output.counts)
    collect_latent(snakemake.input, limit, w.generator, files)
