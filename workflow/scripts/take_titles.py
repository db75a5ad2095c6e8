"""Take the titles that text comes with."""

from textcritic import runlog
from textcritic.latents.titles.posteriors import take_titles

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"titles of {w.get('generator', w.corpus)}"):
    take_titles(snakemake.input[0], snakemake.output[0])
