"""Standardise titles, filter and split a corpus."""

import os
from pathlib import Path

from textcritic import runlog
from textcritic.corpora.build import build_corpus, words_of
from textcritic.plan.entries import Corpus

os.environ["RAYON_NUM_THREADS"] = str(snakemake.threads)  # for the tokenizer, which reads it at its first use
with runlog.job(snakemake.log[0], f"build {snakemake.wildcards.corpus}"):
    length_of = words_of
    if snakemake.input.tokenizer:
        from textcritic.training.load import tokens_of

        length_of = tokens_of(snakemake.input.tokenizer)
    corpus = Corpus.restore(snakemake.params.spec)
    build_corpus(snakemake.input.articles, Path(snakemake.output[0]).parent, corpus, length_of)
