"""Download the files of one pinned commit of a data set of the hub."""

from textcritic import runlog
from textcritic.download_dataset import download_dataset
from textcritic.plan.entries import Dataset

with runlog.job(snakemake.log[0], f"download {snakemake.wildcards.dataset}"):
    download_dataset(snakemake.wildcards.dataset, Dataset.restore(snakemake.params.spec), snakemake.output[0])
