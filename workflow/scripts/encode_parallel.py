"""Encode the three splits of a parallel corpus."""

from textcritic import runlog
from textcritic.generators.pairs import encode_pairs

with runlog.job(snakemake.log[0], f"encode {snakemake.wildcards.corpus}"):
    for articles, out in zip(snakemake.input.articles, snakemake.output, strict=True):
        encode_pairs(articles, snakemake.input.tokenizer).save(out)
