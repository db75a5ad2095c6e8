"""Read the first articles of a Wikipedia dump in several ways, and say how they differ."""

from textcritic import runlog
from textcritic.corpora.wikipedia import audit_extraction
from textcritic.plan.checks.corpora import WIKIPEDIA_LINES
from textcritic.plan.entries import restore

with runlog.job(snakemake.log[0], f"audit {snakemake.wildcards.corpus}"):
    spec = restore(snakemake.params.spec, "corpora")
    lines = spec["extractor"] == WIKIPEDIA_LINES
    audit_extraction(list(snakemake.input), spec["options"], lines, snakemake.output[0])
