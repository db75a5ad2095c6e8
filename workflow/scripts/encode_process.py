"""Make the tokenizer of a synthetic process and encode the three splits of its sequences."""

from textcritic import runlog
from textcritic.corpora import Process
from textcritic.generators.symbols import encode_process_split, make_symbol_tokenizer, require_symbols
from textcritic.plan.entries import Encoding

with runlog.job(snakemake.log[0], f"encode {snakemake.wildcards.corpus}"):
    require_symbols(Encoding.restore(snakemake.params.spec), snakemake.wildcards.encoding)
    tokenizer, tokens = snakemake.output.tokenizer, snakemake.output.tokens
    make_symbol_tokenizer(tokenizer, Process.load(snakemake.input.process).letters)
    for articles, out in zip(snakemake.input.articles, tokens[::2], strict=True):
        shuffle = 1234 if articles.endswith("train.parquet") else None  # as for other corpora: train only
        encode_process_split(articles, tokenizer, out.removesuffix(".tokens.npy"), shuffle)
