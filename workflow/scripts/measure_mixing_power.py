"""Measure what is recovered of known mixing in artificial languages, and how often the test notices it."""

from textcritic import runlog
from textcritic.critics.lda.job import posterior_options
from textcritic.critics.lda.power import PowerFiles, measure_mixing_power
from textcritic.plan.entries import Corpus, restore

w, given, made = snakemake.wildcards, snakemake.input, snakemake.output
with runlog.job(snakemake.log[0], f"power of {w.critic} on {w.corpus}"):
    files = PowerFiles(given.articles, given.vocabulary, given.critic, made.power, made.summary)
    corpus = Corpus.restore(snakemake.params.corpus)
    posterior = posterior_options(restore(snakemake.params.spec, "critics"))
    measure_mixing_power(files, corpus.options.languages, posterior)
