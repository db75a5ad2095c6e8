"""Download one file of the web."""

from textcritic import runlog
from textcritic.download import download_file
from textcritic.plan.entries import Download

with runlog.job(snakemake.log[0], f"download {snakemake.wildcards.download}"):
    download_file(Download.restore(snakemake.params.spec), snakemake.output[0])
