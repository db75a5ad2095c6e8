"""Make the figures of a study."""

from pathlib import Path

from textcritic import runlog
from textcritic.report import make_figures

with runlog.job(snakemake.log[0], f"figures {snakemake.wildcards.study}"):
    make_figures(snakemake.params.study, Path(snakemake.input.coherence).parent, snakemake.output[0])
