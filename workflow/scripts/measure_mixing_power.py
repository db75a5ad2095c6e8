"""Measure what is recovered of known mixing in artificial languages, and how often the test notices it."""

from textcritic import runlog
from textcritic.critics.lda.power import PowerFiles, measure_mixing_power
from textcritic.plan.entries import Corpus, Lda

w, given, made = snakemake.wildcards, snakemake.input, snakemake.output
with runlog.job(snakemake.log[0], f"power of {w.critic} on {w.corpus}"):
    files = PowerFiles(given.articles, given.vocabulary, given.critic, made.power, made.summary)
    languages = Corpus.restore(snakemake.params.corpus).options.languages
    measure_mixing_power(files, languages, Lda.restore(snakemake.params.spec))
