"""Make the report of a study."""

from textcritic import runlog
from textcritic.report import make_report

with runlog.job(snakemake.log[0], f"report {snakemake.wildcards.study}"):
    make_report(snakemake.params.study, snakemake.output)
