"""Build a parallel corpus: sentences with their translations, by split."""

from pathlib import Path

from textcritic import runlog
from textcritic.corpora.parallel.build import build_parallel
from textcritic.plan.entries import restore

with runlog.job(snakemake.log[0], f"build {snakemake.wildcards.corpus}"):
    build_parallel(restore(snakemake.params.spec, "corpora"), Path(snakemake.output.statistics).parent)
