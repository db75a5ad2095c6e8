"""Make the tables of a study."""

from pathlib import Path

from textcritic import runlog
from textcritic.report import make_tables

with runlog.job(snakemake.log[0], f"tables {snakemake.wildcards.study}"):
    # Empty where the study names no published values.
    make_tables(snakemake.params.study, Path(snakemake.output[0]).parent, snakemake.input.published or None)
