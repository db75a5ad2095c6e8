"""Learn the byte-pair encoding of a parallel corpus."""

from textcritic import runlog
from textcritic.generators.pairs import make_subword_tokenizer
from textcritic.plan.entries import Encoding

with runlog.job(snakemake.log[0], f"tokenizer {snakemake.wildcards.encoding}"):
    vocabulary = Encoding.restore(snakemake.params.spec).vocabulary
    make_subword_tokenizer(snakemake.input.train, snakemake.output[0], vocabulary)
