"""Infer the topics of documents, and score them; carry along samples that did not parse."""

from textcritic import runlog
from textcritic.critics.ctm import ProjectedFiles, project_articles

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"topics {w.get('generator', 'of real text')} {w.corpus}"):
    files = ProjectedFiles(
        articles=snakemake.input.articles,
        vocabulary=snakemake.input.vocabulary,
        critic=snakemake.input.critic,
        topics=snakemake.output.topics,
        scores=snakemake.output.scores,
        rejected=snakemake.input.get("rejected"),
        starts=snakemake.input.starts,
        of_starts=snakemake.output.starts,
    )
    project_articles(files, threads=snakemake.threads)
