"""MAUVE of two files of features."""

from textcritic import runlog
from textcritic.critics.mauve import compare_features
from textcritic.latents.points import Features
from textcritic.plan.entries import Mauve

with runlog.job(snakemake.log[0], f"mauve {snakemake.wildcards.corpus}"):
    real, other = (Features.load(snakemake.input[name]) for name in ("real", "other"))
    compare_features(real, other, Mauve.restore(snakemake.params.spec)).save(snakemake.output[0])
