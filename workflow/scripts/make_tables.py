"""Make the standing tables of an experiment, or a numbered one."""

from pathlib import Path

from textcritic import runlog
from textcritic.report import make_tables

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"{w.get('part') or 'tables'} of {w.experiment}, {w.study}"):
    # Empty if the study names no published values.
    published = next(iter(snakemake.input.published), None) if snakemake.input.published else None
    make_tables(dict(snakemake.params.items()), Path(snakemake.output[0]).parent, published)
