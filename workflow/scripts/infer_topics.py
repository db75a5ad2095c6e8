"""Infer the topics of documents, and score them; carry along samples that did not parse."""

from textcritic import runlog
from textcritic.critics.ctm import project_articles

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"topics {w.get('generator', 'of real text')} {w.corpus}"):
    project_articles(
        snakemake.input.articles,
        snakemake.input.get("rejected"),
        snakemake.input.vocabulary,
        snakemake.input.critic,
        snakemake.output.topics,
        snakemake.output.scores,
        threads=snakemake.threads,
    )
