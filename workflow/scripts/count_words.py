"""Choose the vocabulary of a topic model on the train split, and count its words there."""

from textcritic import runlog
from textcritic.latents.bags import count_corpus
from textcritic.plan.entries import restore

with runlog.job(snakemake.log[0], f"count words of {snakemake.wildcards.corpus}"):
    entry = restore(snakemake.params.spec, "critics")
    count_corpus(
        snakemake.input.articles,
        entry.vocabulary,
        snakemake.output.vocabulary,
        snakemake.output.report,
        snakemake.output.counts,
        words=next(iter(snakemake.input.get("words", [])), None),
    )
