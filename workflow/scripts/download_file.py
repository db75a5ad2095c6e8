"""Download one file of the web."""

from textcritic import runlog
from textcritic.download import download_file
from textcritic.plan.entries import restore

with runlog.job(snakemake.log[0], f"download {snakemake.wildcards.download}"):
    download_file(restore(snakemake.params.spec, "downloads"), snakemake.output[0])
