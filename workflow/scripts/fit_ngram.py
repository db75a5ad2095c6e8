"""Fit an n-gram model and measure its perplexity on the test split."""

from textcritic import runlog
from textcritic.generators.ngram.job import NgramFiles, fit_ngram
from textcritic.plan.entries import Ngram

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"fit {w.generator} {w.setting}"):
    fit_ngram(
        dict(zip(("train", "validation", "test"), snakemake.input, strict=True)),
        w.setting,
        Ngram.restore(snakemake.params.spec),
        NgramFiles(snakemake.output.model, snakemake.output.training, snakemake.output.perplexity),
        int(w.seed),
        memory_mb=snakemake.resources.mem_mb / 2,  # the other half is for the words, and for reading and writing
    )
