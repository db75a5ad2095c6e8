"""Draw a synthetic process and its sequences."""

from textcritic import runlog
from textcritic.corpora import write_process_corpus
from textcritic.plan.entries import Corpus

with runlog.job(snakemake.log[0], f"draw {snakemake.wildcards.corpus}"):
    process = Corpus.restore(snakemake.params.spec).options.process
    write_process_corpus(process, dict(snakemake.output.items()))
