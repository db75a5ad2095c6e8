"""Choose the intruder of each attacked document, and write the corpus."""

from pathlib import Path

from textcritic import runlog
from textcritic.corpora.intruders.build import Parts, build_intruders
from textcritic.plan.checks.process import SPLITS
from textcritic.plan.spec import restore

files, corpus = snakemake.input, snakemake.wildcards.corpus
with runlog.job(snakemake.log[0], f"build {corpus}"):
    predictions = list(files.predictions) or [None] * len(SPLITS)
    parts = {
        split: Parts(*paths)
        for split, *paths in zip(SPLITS, files.documents, files.candidates, predictions, strict=True)
    }
    options = restore(snakemake.params.spec, "corpora")["options"]["intruders"]
    build_intruders(corpus, options, parts, Path(snakemake.output.statistics).parent)
