"""Read the first articles of a Wikipedia dump in several ways, and say how they differ."""

from textcritic import runlog
from textcritic.corpora.wikipedia import audit_extraction
from textcritic.plan.checks.corpora import WIKIPEDIA_LINES
from textcritic.plan.entries import Corpus

with runlog.job(snakemake.log[0], f"audit {snakemake.wildcards.corpus}"):
    corpus = Corpus.restore(snakemake.params.spec)
    lines = corpus.extractor == WIKIPEDIA_LINES
    audit_extraction(list(snakemake.input), corpus.options, lines, snakemake.output[0])
