"""Download the files of one pinned commit of the hub."""

from textcritic import runlog
from textcritic.download import download_model
from textcritic.plan.entries import HubModel

with runlog.job(snakemake.log[0], f"download {snakemake.wildcards.model}"):
    download_model(snakemake.wildcards.model, HubModel.restore(snakemake.params.spec), snakemake.output[0])
