"""Fit the critic of section transitions."""

from textcritic import runlog
from textcritic.corpora import iter_articles
from textcritic.critics import TransitionCritic
from textcritic.spec import restore

with runlog.job(snakemake.log[0], f"fit {snakemake.wildcards.critic} on {snakemake.wildcards.corpus}"):
    spec = restore(snakemake.params.spec, "critics")
    train, validation = (
        [[section.title for section in article.sections] for article in iter_articles(path)] for path in snakemake.input
    )
    grid = (0.0, 1.0) if spec["mode"] == "as_released" else spec["smoothing"]
    TransitionCritic.fit(train, validation, mode=spec["mode"], grid=grid).save(snakemake.output[0])
