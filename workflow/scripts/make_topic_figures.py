"""Make the figures of a study's topics."""

from pathlib import Path

from textcritic import runlog
from textcritic.report import make_topic_figures

with runlog.job(snakemake.log[0], f"topic figures {snakemake.wildcards.study}"):
    make_topic_figures(snakemake.params.study, Path(snakemake.input.topics).parent, snakemake.output[0])
