"""Perplexity of a model of fairseq on the test split."""

from textcritic import runlog
from textcritic.generators.fairseq.score import measure_fairseq
from textcritic.plan.entries import Fairseq

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"perplexity {w.generator} {w.setting}", runlog.gpus_of(snakemake.resources)):
    spec = Fairseq.restore(snakemake.params.spec)
    measure_fairseq(
        snakemake.input.model,
        snakemake.input.split[0].removesuffix(".tokens.npy"),
        snakemake.output[0],
        spec.training.max_tokens,
        threads=snakemake.threads,
    )
