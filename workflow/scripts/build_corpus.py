"""Standardise titles, filter and split a corpus."""

from pathlib import Path

from textcritic import runlog
from textcritic.corpora.build import build_corpus, length_in_words
from textcritic.spec import restore

with runlog.job(snakemake.log[0], f"build {snakemake.wildcards.corpus}"):
    length_of = length_in_words
    if snakemake.input.tokenizer:
        from textcritic.generators.load import length_in_tokens

        length_of = length_in_tokens(snakemake.input.tokenizer)
    build_corpus(
        snakemake.input.articles, Path(snakemake.output[0]).parent, restore(snakemake.params.spec, "corpora"), length_of
    )
