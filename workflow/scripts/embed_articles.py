"""A point for each document: the last hidden state of a language model."""

from textcritic import runlog
from textcritic.latents.features import Embedding, embed_articles
from textcritic.plan.entries import restore

w = snakemake.wildcards
name = f"embed {w.get('generator', w.corpus)} {w.get('setting', '')}".strip()
with runlog.job(snakemake.log[0], name, runlog.gpus_of(snakemake.resources)):
    entry = restore(snakemake.params.spec, "embedders")
    options = Embedding(*(entry[key] for key in ("max_tokens", "batch_size", "precision", "float32_matmul_precision")))
    embed_articles(
        snakemake.input.articles, snakemake.input.model, snakemake.output[0], options, threads=snakemake.threads
    )
