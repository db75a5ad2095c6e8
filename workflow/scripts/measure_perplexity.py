"""Perplexity of a causal transformer on the test split."""

from textcritic import runlog
from textcritic.generators.perplexity import Windowing, perplexity
from textcritic.plan.entries import Causal

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"perplexity {w.generator} {w.setting}", runlog.gpus_of(snakemake.resources)):
    training = Causal.restore(snakemake.params.spec).training
    matmul = training.float32_matmul_precision
    perplexity(
        snakemake.input.model,
        snakemake.input.tokens[0].removesuffix(".tokens.npy"),
        Windowing(training.context, snakemake.params.windows, float32_matmul_precision=matmul),
        snakemake.output[0],
        threads=snakemake.threads,
    )
