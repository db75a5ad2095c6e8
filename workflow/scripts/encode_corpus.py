"""Encode the three splits of a corpus in one setting."""

from textcritic import runlog
from textcritic.generators.encode import encode_split
from textcritic.plan.entries import Encoding

with runlog.job(snakemake.log[0], f"encode {snakemake.wildcards.corpus} {snakemake.wildcards.setting}"):
    boundary = Encoding.restore(snakemake.params.spec).boundary
    for articles, tokens in zip(snakemake.input.articles, snakemake.output[::2], strict=True):
        shuffle = 1234 if articles.endswith("train.parquet") else None  # the released code's seed, train only
        prefix = tokens.removesuffix(".tokens.npy")
        encode_split(articles, snakemake.input.tokenizer, snakemake.wildcards.setting, boundary, prefix, shuffle)
