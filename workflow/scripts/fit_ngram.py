"""Fit an n-gram model and measure its perplexity on the test split."""

from textcritic import runlog
from textcritic.generators.ngram.job import NgramFiles, NgramSettings, fit_ngram
from textcritic.plan.entries import Ngram

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"fit {w.generator} {w.setting}"):
    spec = Ngram.restore(snakemake.params.spec)
    fit_ngram(
        dict(zip(("train", "validation", "test"), snakemake.input, strict=True)),
        w.setting,
        NgramSettings(
            order=spec.order,
            smoothing=spec.smoothing,
            shuffle_seed=int(w.seed) if spec.shuffled else None,
            memory_mb=snakemake.resources.mem_mb / 2,  # the other half is for the words, and for reading and writing
        ),
        NgramFiles(snakemake.output.model, snakemake.output.training, snakemake.output.perplexity),
    )
