"""MAUVE of two files of features."""

from textcritic import runlog
from textcritic.critics.mauve import MauveOptions, compare_features
from textcritic.latents.points import Features
from textcritic.plan.entries import restore

with runlog.job(snakemake.log[0], f"mauve {snakemake.wildcards.corpus}"):
    options = MauveOptions.from_entry(restore(snakemake.params.spec, "critics"))
    real, other = (Features.load(snakemake.input[name]) for name in ("real", "other"))
    compare_features(real, other, options).save(snakemake.output[0])
