"""Choose the intruder of each attacked document, and write the corpus; or read a published one."""

from pathlib import Path

from textcritic import runlog
from textcritic.corpora.intruders.build import Parts, build_intruders
from textcritic.corpora.intruders.official import build_official
from textcritic.plan.checks.corpora import SPLITS
from textcritic.plan.entries import Corpus

files, corpus = snakemake.input, snakemake.wildcards.corpus
with runlog.job(snakemake.log[0], f"build {corpus}"):
    entry, folder = Corpus.restore(snakemake.params.spec), Path(snakemake.output.statistics).parent
    if files.official:
        build_official(corpus, files.official, entry, folder)
    else:
        predictions = list(files.predictions) or [None] * len(SPLITS)
        made_of = zip(SPLITS, files.documents, files.candidates, predictions, strict=True)
        parts = {split: Parts(*paths) for split, *paths in made_of}
        build_intruders(corpus, entry.options.intruders, parts, folder)
