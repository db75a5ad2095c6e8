"""Fit an n-gram model and measure its perplexity on the test split."""

from textcritic import runlog
from textcritic.generators.ngram import fit_ngram
from textcritic.plan.spec import restore

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"fit {w.generator} {w.setting}"):
    spec = restore(snakemake.params.spec, "generators")
    fit_ngram(
        *snakemake.input,
        w.setting,
        spec["order"],
        spec["smoothing"],
        snakemake.output.model,
        snakemake.output.training,
        snakemake.output.perplexity,
        int(w.seed) if spec["shuffled"] else None,
    )
