"""Turn raw text into articles with sections."""

from textcritic import runlog
from textcritic.corpora.extract import extract_corpus
from textcritic.corpora.titles import require_wordnet
from textcritic.plan.entries import Corpus

with runlog.job(snakemake.log[0], f"extract {snakemake.wildcards.corpus}"):
    if snakemake.params.lemmatised:
        require_wordnet()
    corpus = Corpus.restore(snakemake.params.spec)
    extract_corpus(corpus, list(snakemake.input), snakemake.output.articles, snakemake.output.report)
