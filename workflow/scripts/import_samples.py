"""Read articles that somebody else's model wrote."""

from textcritic import runlog
from textcritic.generators.collect import SampleFiles, import_samples
from textcritic.plan.entries import Corpus

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"import {w.generator}"):
    corpus = Corpus.restore(snakemake.params.spec)
    files = SampleFiles(snakemake.output.kept, snakemake.output.rejected, snakemake.output.counts)
    import_samples(snakemake.input[0], w.setting, corpus, files)
