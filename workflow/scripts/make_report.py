"""Put the report of a study together from the sections of its experiments."""

from textcritic import runlog
from textcritic.report import make_report

with runlog.job(snakemake.log[0], f"report {snakemake.wildcards.study}"):
    sections = dict(zip(snakemake.params.names, snakemake.input.sections, strict=True))
    make_report(sections, snakemake.input.manifest, snakemake.output[0])
