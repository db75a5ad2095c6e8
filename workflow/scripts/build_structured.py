"""Read or draw texts with their structure, and split them."""

from pathlib import Path

from textcritic import runlog
from textcritic.corpora.structured.corpus import build_structured
from textcritic.plan.entries import Corpus

corpus = snakemake.wildcards.corpus
with runlog.job(snakemake.log[0], f"build {corpus}"):
    build_structured(corpus, Corpus.restore(snakemake.params.spec), Path(snakemake.output.statistics).parent)
