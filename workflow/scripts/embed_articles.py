"""A point for each document: the last hidden state of a language model."""

from textcritic import runlog
from textcritic.latents.features import embed_articles
from textcritic.plan.entries import restore

w = snakemake.wildcards
name = f"embed {w.get('generator', w.corpus)} {w.get('setting', '')}".strip()
with runlog.job(snakemake.log[0], name, runlog.gpus_of(snakemake.resources)):
    given = snakemake.input
    entry = restore(snakemake.params.spec, "embedders")
    embed_articles(given.articles, given.model, snakemake.output[0], entry, threads=snakemake.threads)
