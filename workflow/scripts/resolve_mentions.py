"""Find who is who in articles; carry along samples that did not parse."""

from textcritic import runlog
from textcritic.latents.resolvers.resolve import ResolvedFiles, resolve_articles
from textcritic.plan.entries import restore

w = snakemake.wildcards
with runlog.job(
    snakemake.log[0], f"mentions {w.get('generator', 'of real text')} {w.corpus}", runlog.gpus_of(snakemake.resources)
):
    files = ResolvedFiles(
        articles=snakemake.input.articles,
        mentions=snakemake.output[0],
        rejected=snakemake.input.get("rejected"),
        folder=snakemake.input.get("model"),
    )
    resolve_articles(files, restore(snakemake.params.spec, "resolvers"), snakemake.threads)
