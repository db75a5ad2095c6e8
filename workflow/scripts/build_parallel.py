"""Build a parallel corpus: sentences with their translations, by split."""

from pathlib import Path

from textcritic import runlog
from textcritic.corpora.parallel.build import build_parallel
from textcritic.plan.entries import Corpus

with runlog.job(snakemake.log[0], f"build {snakemake.wildcards.corpus}"):
    build_parallel(Corpus.restore(snakemake.params.spec), Path(snakemake.output.statistics).parent)
