"""Make the tables of a study."""

from pathlib import Path

from textcritic import runlog
from textcritic.report import make_tables

with runlog.job(snakemake.log[0], f"tables {snakemake.wildcards.study}"):
    make_tables(snakemake.params.study, Path(snakemake.output[0]).parent)
