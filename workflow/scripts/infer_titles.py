"""Infer the title of each section from its text."""

from textcritic import runlog
from textcritic.latents.titles.infer import infer_titles
from textcritic.plan.entries import TransformerClassifier

w = snakemake.wildcards
with runlog.job(
    snakemake.log[0],
    f"infer titles {w.get('generator', w.corpus)} {w.get('setting', '')}".strip(),
    runlog.gpus_of(snakemake.resources),
):
    entry = TransformerClassifier.restore(snakemake.params.spec)
    infer_titles(
        snakemake.input.model,
        snakemake.input.articles,
        snakemake.output[0],
        entry.max_tokens,
        snakemake.threads,
        entry.training.float32_matmul_precision,
    )
