"""Put the lines of a Wikipedia dump into random order, and split them by number."""

from pathlib import Path

from textcritic import runlog
from textcritic.corpora.wikipedia import build_lines
from textcritic.plan.entries import Corpus

with runlog.job(snakemake.log[0], f"build {snakemake.wildcards.corpus}"):
    build_lines(
        snakemake.input.articles,
        snakemake.input.reports,
        Corpus.restore(snakemake.params.spec).splits,
        Path(snakemake.output.statistics).parent,
        snakemake.output.report,
    )
