"""Make a table of a paper from the part of a study that it compares."""

from pathlib import Path

from textcritic import runlog
from textcritic.report import make_paper_table

with runlog.job(snakemake.log[0], f"{snakemake.wildcards.part} of {snakemake.wildcards.study}"):
    # Empty where the study names no published values.
    make_paper_table(snakemake.params.study, Path(snakemake.output[0]).parent, snakemake.input.published or None)
