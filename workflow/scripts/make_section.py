"""Make the section of the report on one experiment."""

from pathlib import Path

from textcritic import runlog
from textcritic.report import make_section

w, made = snakemake.wildcards, snakemake.output
with runlog.job(snakemake.log[0], f"section of {w.experiment}, {w.study}"):
    tables = Path(snakemake.params.tables)
    make_section(dict(snakemake.params.items()), tables, list(snakemake.input.figures), made.html, made.facts)
