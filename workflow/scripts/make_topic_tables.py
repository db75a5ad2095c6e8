"""Make the tables of a study's topics."""

from pathlib import Path

from textcritic import runlog
from textcritic.report import make_topic_tables

with runlog.job(snakemake.log[0], f"topic tables {snakemake.wildcards.study}"):
    # Empty where the study names no published values.
    make_topic_tables(snakemake.params.study, Path(snakemake.output[0]).parent, snakemake.input.published or None)
